"""The one door to every tool: a batch of calls goes in, their outcomes come out, in the same order."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from weakref import WeakKeyDictionary

from sidecar.cache import Caches
from sidecar.telemetry.redaction import Redactor
from tools.backend import Backend, has_host, is_remote
from tools.errors import InvalidArguments, ToolError, ToolNotOffered
from tools.executor.access import access_of, conflict
from tools.executor.command_changes import ChangeWindow
from tools.executor.context import BatchContext, CallContext, ToolCall, call_event
from tools.executor.registry import Registry
from tools.executor.runner import CallRunner
from tools.executor.session import Session
from tools.executor.validation import validate
from tools.host import Host, Killed
from tools.ledger import IntentRecord, Ledger, Outcome
from tools.policy.policy import Policy

__all__ = ["BatchContext", "Executor", "ToolCall"]

AT_ONCE = 10


class Executor:
    def __init__(
        self,
        registry: Registry,
        backends: Sequence[Backend],
        policy: Policy,
        caches: Caches | None = None,
        redact: Redactor | None = None,
    ) -> None:
        self._registry = registry
        self._backends = backends
        self._caches = caches
        #: Takes secrets out of a text before anybody keeps or sees it.
        self.redact = redact or Redactor()
        self._course = CallRunner(backends, policy, caches)
        self._batches: set[asyncio.Task[object]] = set()
        self._sessions: WeakKeyDictionary[Ledger, Session] = WeakKeyDictionary()

    async def batch(
        self,
        calls: Sequence[ToolCall],
        context: BatchContext,
        *,
        parallel: bool = True,
        max_concurrency: int = AT_ONCE,
    ) -> list[Outcome]:
        """Never raises for a tool's failure; a cancel ends every call of the batch before it goes on."""
        batch = asyncio.current_task()
        assert batch is not None
        self._batches.add(batch)
        try:
            prepared = [self._prepared(call, context) for call in calls]
            if len(calls) == 1:
                return [await self._carried_out(calls[0], prepared[0], context)]
            limit = max(1, min(max_concurrency, AT_ONCE)) if parallel else 1
            passages = [each for each in prepared if isinstance(each, CallContext)]
            if limit > 1 and any(each.access.writes for each in passages):
                for each in passages:
                    await self._course.locate(each)
            return await self._together(calls, prepared, context, limit)
        finally:
            self._batches.discard(batch)

    def host(self, workspace: str) -> Host | None:
        """The first host at hand, for whoever wants to look at a workspace without making a call."""
        return next((backend.host(workspace) for backend in self._backends if has_host(backend)), None)

    async def end(self, ledger: Ledger) -> list[Killed]:
        """At a task's end: its background commands end with it."""
        ended = await self.stop_commands(ledger)
        self._sessions.pop(ledger, None)
        return ended

    async def stop_commands(self, ledger: Ledger) -> list[Killed]:
        """Ends what a task still has running in the background; the task itself may go on."""
        ended: list[Killed] = []
        session = self._sessions.get(ledger)
        for command_id, workspace in list(session.commands.items()) if session else ():
            for backend in self._backends:
                if has_host(backend):
                    with suppress(ToolError):
                        ended.extend((await backend.host(workspace).stop(command_id)).killed)
                elif is_remote(backend):
                    ended.extend(await backend.stop(command_id, workspace))
            if session and command_id in session.windows:
                await self._ended(command_id, session.windows.pop(command_id), ledger)
            if session:
                del session.commands[command_id]
        return ended

    async def _ended(self, command_id: str, window: ChangeWindow, ledger: Ledger) -> None:
        """What a command in the background did to files, if nobody has asked for its end before the task's own."""
        trace = await self._course.traces.end(window)
        if not (trace.files or trace.unkept):
            return
        outcome = trace.on(
            Outcome(status="success", content="", summary="what the command in the background changed", duration_ms=0.0)
        )
        call = ToolCall(f"{command_id}:ended", "run_command", {})
        event = call_event(call, call.tool, outcome.status, outcome.summary, outcome, outcome.executor, self.redact)
        await ledger.settle(call.id, outcome, event, trace.contents)

    async def abandon(self, calls: Mapping[str, IntentRecord], workspace: str, ledger: Ledger) -> None:
        """What an earlier process left open is ended, and gets a result, but is not gone on with."""
        for call_id, intent in calls.items():
            for backend in self._backends:
                if has_host(backend):
                    for each in await backend.host(workspace).sweep(call_id):
                        ledger.killed(call_id, each.pid, each.command)
            outcome = Outcome(
                status="cancelled",
                content="Cancelled. It may have taken effect, wholly or in part.",
                summary="cancelled; may have taken effect",
                duration_ms=0.0,
                executor=intent.backend,
            )
            call = ToolCall(call_id, intent.tool, intent.args)
            traces = self._course.traces
            trace = await traces.end(await traces.reopen(self.host(workspace), workspace, ledger, intent.scan))
            if intent.scan is not None:
                outcome = trace.on(outcome)
            event = call_event(call, intent.tool, "cancelled", outcome.summary, outcome, intent.backend, self.redact)
            await ledger.settle(call_id, outcome, event, trace.contents)

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

    def _prepared(self, call: ToolCall, context: BatchContext) -> CallContext | ToolError:
        try:
            tool = self._registry.get(call.tool)
            if context.tools is not None and tool.spec.name not in context.tools:
                offered = ", ".join(sorted(context.tools)) or "none"
                raise ToolNotOffered(f"{tool.spec.name} is not offered to this agent. It may use: {offered}.")
            if call.problem:
                raise InvalidArguments(call.problem)
            args = validate(tool, call.args, context.workspace)
        except ToolError as error:
            return error
        session = self._session(context)
        return CallContext(
            call, context, tool, args, access_of(tool.spec, args, context.workspace), session, redact=self.redact
        )

    def _session(self, context: BatchContext) -> Session:
        if context.session is not None:
            return context.session
        return self._sessions.setdefault(context.ledger, Session())

    async def _together(
        self, calls: Sequence[ToolCall], prepared: list[CallContext | ToolError], context: BatchContext, limit: int
    ) -> list[Outcome]:
        places = asyncio.Semaphore(limit)
        tasks: list[asyncio.Task[Outcome]] = []
        try:
            async with asyncio.TaskGroup() as group:
                for index, call in enumerate(calls):
                    if limit == 1:
                        earlier, twin = [index - 1] if index else [], None
                    else:
                        earlier, twin = _order(calls, prepared, index)
                    waits = [tasks[each] for each in earlier]
                    same = tasks[twin] if twin is not None else None
                    work = self._in_turn(call, prepared[index], context, waits, same, places)
                    tasks.append(group.create_task(work))
        except BaseExceptionGroup as errors:
            # Only the ledger raises: without it nothing may go on.
            raise errors.exceptions[0] from None
        return [task.result() for task in tasks]

    async def _in_turn(
        self,
        call: ToolCall,
        prepared: CallContext | ToolError,
        context: BatchContext,
        waits: list[asyncio.Task[Outcome]],
        same: asyncio.Task[Outcome] | None,
        places: asyncio.Semaphore,
    ) -> Outcome:
        if waits:
            await asyncio.wait(waits)
        if same is not None and context.ledger.outcome(call.id) is None:
            await asyncio.wait((same,))
            outcome = same.result()
            name = prepared.spec.name if isinstance(prepared, CallContext) else call.tool
            event = call_event(call, name, outcome.status, outcome.summary, outcome, outcome.executor, self.redact)
            await context.ledger.settle(call.id, outcome, event)
            return outcome
        async with places:
            return await self._carried_out(call, prepared, context)

    async def _carried_out(self, call: ToolCall, prepared: CallContext | ToolError, context: BatchContext) -> Outcome:
        ledger = context.ledger
        recorded = ledger.outcome(call.id)
        if recorded is not None:
            self._session(context).recall(recorded.details)
            return recorded
        if isinstance(prepared, CallContext):
            return await self._course.run(prepared)
        outcome = Outcome(
            status="error",
            content=prepared.for_model,
            summary=prepared.message[:200],
            error=prepared.body,
            duration_ms=0.0,
        )
        await ledger.settle(
            call.id,
            outcome,
            call_event(call, call.tool[:200], "error", outcome.summary, outcome, "local", self.redact),
        )
        return outcome


def _order(
    calls: Sequence[ToolCall], prepared: Sequence[CallContext | ToolError], index: int
) -> tuple[list[int], int | None]:
    """Which earlier calls a call must wait for, and which one, still in flight, it is the same read as."""
    mine = prepared[index]
    waits = [earlier for earlier in range(index) if calls[earlier].id == calls[index].id]
    if isinstance(mine, ToolError):
        return waits, None
    twin = None
    for earlier in range(index):
        other = prepared[earlier]
        if isinstance(other, ToolError):
            continue
        if conflict(mine.access, other.access):
            waits.append(earlier)
            twin = None
        elif mine.spec.effects == "none" and mine.spec is other.spec and calls[index].args == calls[earlier].args:
            twin = earlier
    return waits, None if waits and twin in waits else twin
