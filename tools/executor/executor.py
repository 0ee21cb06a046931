"""Runs batches of tool calls: a batch goes in, its outcomes come out in the same order."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from weakref import WeakKeyDictionary

from sidecar.cache import Caches
from sidecar.telemetry.redaction import Redactor
from tools.backend import Backend, has_host, is_remote
from tools.errors import InvalidArguments, ToolError, ToolNotOffered
from tools.executor.access import PathAccess, access_to, conflict
from tools.executor.binding import ApprovedTexts
from tools.executor.context import BatchContext, CallContext, ToolCall, call_event
from tools.executor.hooks import Hooks
from tools.executor.registry import Registry
from tools.executor.runner import CallRunner
from tools.executor.session import ChangeWindow, Session
from tools.executor.validation import adapt, validate
from tools.host import Host, Killed
from tools.ledger import IntentRecord, Ledger, NewBlob, Outcome
from tools.policy.policy import Policy
from tools.spec import Arguments, ToolSpec

MAX_CONCURRENCY = 10
#: Tools that a refusal names.
_SIMILAR = 5


class Executor:
    def __init__(
        self,
        registry: Registry,
        backends: Sequence[Backend],
        policy: Policy,
        caches: Caches | None = None,
        redact: Redactor | None = None,
        texts: ApprovedTexts | None = None,
        hooks: Hooks | None = None,
    ) -> None:
        self._registry = registry
        self._backends = backends
        self._caches = caches
        #: Removes secrets from a text before anyone stores or sees it.
        self.redact = redact or Redactor()
        self._runner = CallRunner(backends, policy, caches, texts)
        self._runner.hooks = hooks
        self.tracker = self._runner.tracker
        self._batches: set[asyncio.Task[object]] = set()
        self._sessions: WeakKeyDictionary[Ledger, Session] = WeakKeyDictionary()

    async def batch(
        self,
        calls: Sequence[ToolCall],
        context: BatchContext,
        *,
        parallel: bool = True,
        max_concurrency: int = MAX_CONCURRENCY,
    ) -> list[Outcome]:
        """Never raises for a tool's failure. A cancel ends every call of the batch before it propagates."""
        batch = asyncio.current_task()
        assert batch is not None
        self._batches.add(batch)
        try:
            prepared = [await self._prepare(call, context) for call in calls]
            if len(calls) == 1:
                return [await self._carry_out(calls[0], prepared[0], context)]
            limit = max(1, min(max_concurrency, MAX_CONCURRENCY)) if parallel else 1
            valid = [each for each in prepared if isinstance(each, CallContext)]
            if limit > 1 and any(each.access.writes for each in valid):
                for each in valid:
                    await self._runner.locate(each)
            return await self._carry_out_all(calls, prepared, context, limit)
        finally:
            self._batches.discard(batch)

    def host(self, workspace: str) -> Host | None:
        """The first available host, to look at a workspace without a tool call."""
        return next((backend.host(workspace) for backend in self._backends if has_host(backend)), None)

    async def end(self, ledger: Ledger) -> list[Killed]:
        """End a task's background commands and forget its session."""
        ended = await self.stop_commands(ledger)
        self._sessions.pop(ledger, None)
        return ended

    async def stop_commands(self, ledger: Ledger) -> list[Killed]:
        """End a task's background commands; the task may continue."""
        session = self._sessions.get(ledger)
        if session is None:
            return []
        ended: list[Killed] = []
        for command_id, workspace in list(session.commands.items()):
            for backend in self._backends:
                if has_host(backend):
                    with suppress(ToolError):
                        ended.extend((await backend.host(workspace).stop(command_id)).killed)
                elif is_remote(backend):
                    ended.extend(await backend.stop(command_id, workspace))
            if command_id in session.windows:
                await self._record_stopped(command_id, session.windows.pop(command_id), ledger)
            del session.commands[command_id]
        return ended

    async def abandon(self, calls: Mapping[str, IntentRecord], workspace: str, ledger: Ledger) -> None:
        """End calls that an earlier process left open, without resuming them."""
        for call_id, record in calls.items():
            for backend in self._backends:
                if has_host(backend):
                    for each in await backend.host(workspace).sweep(call_id):
                        ledger.killed(call_id, each.pid, each.command)
            outcome = Outcome(
                status="cancelled",
                content="Cancelled. It may have taken effect, wholly or in part.",
                summary="cancelled; may have taken effect",
                duration_ms=0.0,
                executor=record.backend,
            )
            window = await self.tracker.reopen(self.host(workspace), workspace, ledger, record.scan)
            changes = await self.tracker.end(window)
            if record.scan is not None:
                outcome = changes.add_to(outcome)
            await self._settle(ToolCall(call_id, record.tool, record.args), record.tool, outcome, ledger, changes.blobs)
            await self.tracker.forget(window)

    async def close(self) -> None:
        open_batches = self._batches - {asyncio.current_task()}
        for batch in open_batches:
            batch.cancel()
        if open_batches:
            await asyncio.wait(open_batches)
        for backend in self._backends:
            if has_host(backend):
                await backend.close()
        if self._caches is not None:
            self._caches.close()

    async def _prepare(self, call: ToolCall, context: BatchContext) -> CallContext | ToolError:
        try:
            tool = await self._registry.prepare(call.tool, context.workspace, context.conversation)
            if not context.offers(tool.spec):
                raise self._not_offered(tool.spec, context)
            if call.problem:
                raise InvalidArguments(call.problem)
            if (adapted := adapt(tool, call.args)) is not call.args:
                call = replace(call, args=adapted)
            args = validate(tool, call.args, context.workspace)
        except ToolError as error:
            return error
        chosen = self._registry.parallel.get(tool.spec.name)
        access = _access_of(tool.spec, args, context.workspace, chosen)
        return CallContext(call, context, tool, args, access, self._session(context), self.redact)

    def _not_offered(self, spec: ToolSpec, context: BatchContext) -> ToolNotOffered:
        """Names only what helps: tools that do the same kind of thing, or how to get the right to."""
        refusal = f"This agent may not use {spec.name}."
        if spec.external is not None and not spec.external.serves(context.conversation):
            return ToolNotOffered(f"{refusal} An editor lent it to another conversation. Go on without it.")
        offered = context.tools or frozenset()
        if spec.effects != "none" and "set_mode" in offered:
            return ToolNotOffered(f"{refusal} You only read here; set_mode asks the user for the right to edit.")
        similar = [name for name in sorted(offered) if name in self._registry and self._is_like(name, spec)]
        if similar:
            return ToolNotOffered(f"{refusal} It may use {', '.join(similar[:_SIMILAR])}.")
        return ToolNotOffered(f"{refusal} Go on without it, and say what it should do.")

    def _is_like(self, name: str, spec: ToolSpec) -> bool:
        if name.partition("_")[0] != spec.name.partition("_")[0]:
            return False
        return any(other.effects == spec.effects for other in self._registry.offers({name}))

    def _session(self, context: BatchContext) -> Session:
        if context.session is not None:
            return context.session
        session = self._sessions.get(context.ledger)
        if session is None:
            session = self._sessions[context.ledger] = Session()
        return session

    async def _carry_out_all(
        self, calls: Sequence[ToolCall], prepared: list[CallContext | ToolError], context: BatchContext, limit: int
    ) -> list[Outcome]:
        slots = asyncio.Semaphore(limit)
        tasks: list[asyncio.Task[Outcome]] = []
        try:
            async with asyncio.TaskGroup() as group:
                for index, call in enumerate(calls):
                    if limit == 1:
                        earlier, same_read = [index - 1] if index else [], None
                    else:
                        earlier, same_read = _order(calls, prepared, index)
                    waits = [tasks[each] for each in earlier]
                    same = tasks[same_read] if same_read is not None else None
                    work = self._carry_out_after(call, prepared[index], context, waits, same, slots)
                    tasks.append(group.create_task(work))
        except BaseExceptionGroup as errors:
            # Only the ledger raises, and nothing may continue without it.
            raise errors.exceptions[0] from None
        return [task.result() for task in tasks]

    async def _carry_out_after(
        self,
        call: ToolCall,
        prepared: CallContext | ToolError,
        context: BatchContext,
        waits: list[asyncio.Task[Outcome]],
        same: asyncio.Task[Outcome] | None,
        slots: asyncio.Semaphore,
    ) -> Outcome:
        """Run a call after those it conflicts with; an identical read in flight answers it too."""
        if waits:
            await asyncio.wait(waits)
        if same is not None and context.ledger.outcome(call.id) is None:
            await asyncio.wait((same,))
            outcome = same.result()
            name = prepared.spec.name if isinstance(prepared, CallContext) else call.tool
            await self._settle(call, name, outcome, context.ledger)
            return outcome
        async with slots:
            if isinstance(prepared, CallContext) and prepared.spec.external is not None:
                prepared = await self._prepare(call, context)  # its server may have changed meanwhile
            return await self._carry_out(call, prepared, context)

    async def _carry_out(self, call: ToolCall, prepared: CallContext | ToolError, context: BatchContext) -> Outcome:
        recorded = context.ledger.outcome(call.id)
        if recorded is not None:
            self._session(context).recall(recorded.details)
            return recorded
        if isinstance(prepared, CallContext):
            return await self._runner.run(prepared)
        outcome = Outcome(
            status="error",
            content=prepared.for_model,
            summary=prepared.message[:200],
            error=prepared.body,
            duration_ms=0.0,
        )
        await self._settle(call, call.tool[:200], outcome, context.ledger)
        return outcome

    async def _record_stopped(self, command_id: str, window: ChangeWindow, ledger: Ledger) -> None:
        """Record the changes of a background command whose end wasn't asked for before the task's."""
        changes = await self.tracker.end(window)
        if not (changes.files or changes.irreversible):
            return
        outcome = Outcome(status="success", content="", summary="changes by the background command", duration_ms=0.0)
        call = ToolCall(f"{command_id}:ended", "run_command", {})
        await self._settle(call, call.tool, changes.add_to(outcome), ledger, changes.blobs)
        await self.tracker.forget(window)

    async def _settle(
        self, call: ToolCall, tool: str, outcome: Outcome, ledger: Ledger, blobs: Sequence[NewBlob] = ()
    ) -> None:
        event = call_event(call, tool, outcome, self.redact)
        await ledger.settle(call.id, outcome, event, blobs)


def _order(
    calls: Sequence[ToolCall], prepared: Sequence[CallContext | ToolError], index: int
) -> tuple[list[int], int | None]:
    """The earlier calls that a call must wait for, and an identical read that can answer it."""
    mine = prepared[index]
    waits = [earlier for earlier in range(index) if calls[earlier].id == calls[index].id]
    if isinstance(mine, ToolError):
        return waits, None
    same_read = None
    for earlier in range(index):
        other = prepared[earlier]
        if isinstance(other, ToolError):
            continue
        if conflict(mine.access, other.access):
            waits.append(earlier)
            same_read = None
        elif mine.spec.effects == "none" and mine.spec is other.spec and calls[index].args == calls[earlier].args:
            same_read = earlier
    return waits, None if waits and same_read in waits else same_read


def _access_of(spec: ToolSpec, args: Arguments, workspace: str, chosen: bool | None = None) -> PathAccess:
    """`chosen`: your own choice whether it may run beside other calls."""
    external = spec.external is not None and spec.parallel and chosen is None
    if external or (chosen and spec.effects != "files"):
        return PathAccess(writes=False, scopes=())  # your configuration says that it conflicts with nothing
    if spec.effects == "command" or not spec.parallel or chosen is False:
        return PathAccess(writes=True, scopes=((),))  # a command may touch anything
    return access_to(args.paths(), workspace, writes=spec.effects == "files")
