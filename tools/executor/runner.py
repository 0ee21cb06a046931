"""The course of one call: recorded before, allowed, settled or run, recorded after. Every tool takes this one way."""

import asyncio
import random
import time
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from sidecar.cache import Caches, Stamp
from sidecar.telemetry.redaction import REDACTED
from tools.backend import Backend, HostBackend, has_host, is_remote
from tools.changes import render_changes, render_full_diff
from tools.errors import (
    ApprovalRequired,
    ChangedElsewhere,
    Denied,
    HostGone,
    InvalidArguments,
    TimedOut,
    ToolError,
)
from tools.executor.access import access_to
from tools.executor.approval import build_prompt, check_links
from tools.executor.command_changes import ChangeTracker
from tools.executor.context import CallContext, failed, redacted
from tools.executor.deadlines import Deadlines
from tools.executor.live import LiveOutput
from tools.executor.recovery import plan_recovery
from tools.host import FileChange, Host, ResolvingHost
from tools.ledger import FileState, IntentRecord, NewBlob, Outcome, digest
from tools.policy.policy import Decision, Policy
from tools.shield import run_to_completion
from tools.spec import Call, PreparedChange, ToolResult, changes_files

T = TypeVar("T")

_ATTEMPTS = 3
_MARK = REDACTED.encode()
_PAUSE = 0.05
#: A tool that keeps its own time limit is given this long to answer before it is cut off.
_MARGIN = 5.0
#: What takes longer than this to find out what it will change is told to be at work on it.
_NOTICED = 1.0


class CallRunner:
    def __init__(self, backends: Sequence[Backend], policy: Policy, caches: Caches | None) -> None:
        self._backends = backends
        self._policy = policy
        self._caches = caches
        self.traces = ChangeTracker()
        self._deadlines = Deadlines()

    async def locate(self, passage: CallContext) -> None:
        """Two names of one file, through a link, are one file when it comes to who waits for whom."""
        with suppress(ToolError):
            backend = self._backend(passage)
            if passage.spec.effects != "command" and has_host(backend):
                host = _host(passage, backend)
                if isinstance(host, ResolvingHost):
                    paths = passage.args.paths()
                    real = [await host.resolve(path) for path in paths]
                    passage.access = access_to((*paths, *real), host.workspace, writes=passage.access.writes)

    async def run(self, passage: CallContext) -> Outcome:
        ledger, call = passage.ledger, passage.call
        passage.began = time.monotonic()
        try:
            outcome = await self._outcome(passage)
        except ToolError as error:
            outcome = failed(passage, error)
        except asyncio.CancelledError:
            if ledger.outcome(call.id) is None:
                await run_to_completion(self._cancelled(passage))
            raise
        if ledger.outcome(call.id) is None:
            if passage.window is not None or passage.session.windows:
                return await run_to_completion(self._traced(passage, outcome))
            await ledger.settle(call.id, outcome, passage.event(outcome.status, outcome))
        return outcome

    async def _traced(self, passage: CallContext, outcome: Outcome) -> Outcome:
        """Recorded with what it did to files. A command in the background has done it only when it has ended."""
        details = outcome.details if isinstance(outcome.details, dict) else {}
        window, windows = passage.window, passage.session.windows
        if window is not None and isinstance(started := details.get("commandId"), str):
            windows[started], window = window, None
        elif window is None and not details.get("running") and outcome.status != "error":
            window = windows.pop(getattr(passage.args, "command_id", ""), None)
        contents: Sequence[NewBlob] = ()
        if window is not None:
            trace = await self.traces.end(window)
            outcome, contents = trace.on(outcome), trace.contents
        await passage.ledger.settle(passage.call.id, outcome, passage.event(outcome.status, outcome), contents)
        return outcome

    async def _watched(self, passage: CallContext) -> tuple[str | None, Sequence[NewBlob]]:
        """Looks at the workspace before the call; what it saw is kept with the intent, if that is little enough."""
        host = next((_host(passage, backend) for backend in self._backends if has_host(backend)), None)
        window = passage.window = await self.traces.begin(host, passage.context.workspace, passage.ledger)
        kept, session = await self.traces.kept(window), passage.session
        if not kept:
            return None, ()
        scan, earlier, session.scan = digest(kept[0]), session.scan, digest(kept[0])
        contents = {digest(content): content for content in kept[1:]}
        fresh = [NewBlob(content) for name, content in contents.items() if name not in session.kept]
        session.kept = set(contents)
        return scan, (NewBlob(kept[0], earlier), *fresh)

    async def _outcome(self, passage: CallContext) -> Outcome:
        backend = self._backend(passage)
        passage.backend = backend.name
        context, call = passage.context, passage.call
        decision = self._policy.decide(
            passage.spec, passage.args, context.workspace, context.approvals, context.task_text
        )
        if decision.verdict == "allow" and passage.spec.effects == "files":
            for place in filter(has_host, self._backends):
                # Also for a call that a shell carries out: where a path leads is seen from here.
                decision = await check_links(passage, _host(passage, place), decision)
        if decision.verdict == "deny":
            advice = "Do not try it in another way; go on without, or tell the person."
            raise Denied(f"Not allowed: {decision.why}.", advice=advice)
        passage.approved = decision.network and decision.verdict == "allow"
        intent = passage.ledger.intent(call.id) if passage.spec.effects != "none" else None
        if intent is not None:
            return await self._settled(passage, backend, intent)
        if decision.verdict == "ask":
            await self._asked(passage, backend, decision)
        return await self._performed(passage, backend)

    def _backend(self, passage: CallContext) -> Backend:
        spec = passage.spec
        for backend in self._backends:
            fits = spec.executor == "hybrid" or (spec.executor == "local") == (backend.name == "local")
            if fits and backend.offers(spec.name, passage.context.workspace):
                return backend
        raise HostGone(f"{spec.name} needs a desktop shell, and none that offers it is connected.", transient=False)

    async def _asked(self, passage: CallContext, backend: Backend, decision: Decision) -> None:
        diff = None
        if changes_files(passage.tool) and has_host(backend):
            prepared = await self._safely(
                passage, passage.tool.prepare(passage.args, _host(passage, backend), _call(passage))
            )
            diff = render_full_diff(prepared.changes) or prepared.result.content
        asked = build_prompt(passage, "approve", decision.why, diff)
        if self._policy.granted(passage.context.workspace, asked.binding):
            passage.approved = True
            return
        if not passage.context.asks:
            raise ApprovalRequired(f"{decision.why[:1].upper()}{decision.why[1:]}; nobody was there to be asked.")
        passage.ledger.enqueue(passage.event("pending"))
        verdict = await passage.ledger.ask(asked)
        passage.began = time.monotonic()  # what a person takes to answer is no part of what the call takes
        if verdict == "deny":
            raise Denied("The person said no.", advice="Do not try it in another way; ask what they want instead.")
        passage.approved = True

    async def _performed(self, passage: CallContext, backend: Backend) -> Outcome:
        if changes_files(passage.tool) and has_host(backend):
            host = _host(passage, backend)
            noticed = asyncio.get_running_loop().call_later(
                _NOTICED, lambda: passage.ledger.enqueue(passage.event("running"))
            )
            try:
                prepared = await self._safely(passage, passage.tool.prepare(passage.args, host, _call(passage)))
            finally:
                noticed.cancel()
            return await self._changed(passage, host, _seen(passage, prepared))
        key = (passage.context.workspace, passage.spec.name, passage.args.model_dump_json())
        if (result := self._held(passage, backend, key)) is not None:
            passage.ledger.enqueue(passage.event("running"))
            passage.session.learn(result, passage.context.workspace)
            return passage.outcome("success", result, cached=True)
        if passage.spec.effects == "none":
            passage.ledger.enqueue(passage.event("running"))
        else:
            scan, kept = await self._watched(passage)
            intent = IntentRecord(
                tool=passage.spec.name,
                args=redacted(passage.call.args, passage.redact),
                backend=backend.name,
                scan=scan,
            )
            passage.intended = True
            await passage.ledger.intend(passage.call.id, intent, passage.event("running"), kept)
        passage.begun = True
        try:
            result = await self._on_site(passage, backend)
        except HostGone as gone:
            if passage.spec.effects == "none" or passage.spec.repeatable:
                raise
            return await self._uncertain(passage, gone.message)
        if result.error is None:
            passage.session.learn(result, passage.context.workspace)
            self._hold(passage, backend, key, result)
        return passage.outcome("error" if result.error else "success", result)

    async def _changed(self, passage: CallContext, host: Host, prepared: PreparedChange) -> Outcome:
        """Record what will change, change it, record that it did: once begun, a cancel waits for the end."""
        for change in prepared.changes:
            if _MARK in (change.after or b"") and _MARK not in (change.before or b""):
                raise InvalidArguments(
                    f"The new content of {change.path} holds {REDACTED}…], a secret you were not shown.",
                    advice="Edit around it with edit_file, so that the secret stays as it is.",
                )
        files = [
            FileState(
                path=change.path,
                before=None if change.before is None else digest(change.before),
                after=None if change.after is None else digest(change.after),
                mode=change.mode,
            )
            for change in prepared.changes
        ]
        intent = IntentRecord(
            tool=passage.spec.name,
            args=redacted(passage.call.args, passage.redact),
            backend=passage.backend,
            files=files,
        )
        contents: list[NewBlob] = []
        for change, state in zip(prepared.changes, files, strict=True):
            contents += [NewBlob(change.before)] if change.before is not None else []
            contents += [NewBlob(change.after, state.before)] if change.after is not None else []
        if prepared.changes:
            await passage.ledger.intend(passage.call.id, intent, passage.event("running"), contents)
            passage.begun = True
        return await run_to_completion(self._applied(passage, host, prepared.changes, prepared.result))

    async def _settled(self, passage: CallContext, backend: Backend, intent: IntentRecord) -> Outcome:
        """An earlier process was about to do this, and did not live to say what came of it."""
        passage.begun = True
        # Who was about to do it can tell what came of it, whoever would be asked today.
        backend = next((each for each in self._backends if each.name == intent.backend), backend)
        passage.backend = backend.name
        if has_host(backend) and intent.files:
            host = _host(passage, backend)
            done, changes = await self._safely(passage, plan_recovery(intent.files, host, passage.ledger))
            for change in done:
                # Nothing changes, but what the killed process left beside the file is removed.
                with suppress(ToolError):
                    await host.apply(change._replace(before=change.after))
            if not changes:
                result = render_changes(done, "Already done before a restart; nothing was written again.")
                return passage.outcome("success", result)
            result = render_changes([*done, *changes], "Finished after a restart.")
            return await run_to_completion(self._applied(passage, host, changes, result))
        if has_host(backend):
            for each in await _host(passage, backend).sweep(passage.call.id):
                passage.kill(each.pid, each.command)
        looked = next((_host(passage, each) for each in self._backends if has_host(each)), None)
        passage.window = await self.traces.reopen(looked, passage.context.workspace, passage.ledger, intent.scan)
        known = backend.name == intent.backend and backend.remembers(passage.call.id)
        if not known and is_remote(backend):
            passage.ledger.enqueue(passage.event("pending"))
            known = await backend.returned(passage.call.id, passage.spec.name, passage.context.workspace)
        if known:
            return await self._again(passage, backend)
        if passage.spec.repeatable:
            return await self._again(passage, self._backend(passage))
        return await self._uncertain(passage, "The process died while this ran.")

    async def _again(self, passage: CallContext, backend: Backend) -> Outcome:
        passage.backend = backend.name
        if passage.window is not None and passage.window.blind:
            self.traces.drop(passage.window)
            await self._watched(passage)
        result = await self._on_site(passage, backend)
        return passage.outcome("error" if result.error else "success", result)

    async def _uncertain(self, passage: CallContext, what: str) -> Outcome:
        """It may have taken effect, and whoever could tell is gone. A person may have it repeated; nobody else does."""
        if passage.context.approvals == "ask":
            passage.ledger.enqueue(passage.event("pending"))
            why = f"{what} It may have taken effect, wholly or in part. Run it again?"
            with suppress(ApprovalRequired):
                if await passage.ledger.ask(build_prompt(passage, "repeat", why, None)) == "allow":
                    passage.approved = True
                    return await self._again(passage, self._backend(passage))
        content = (
            f"{what} It may have taken effect, wholly, in part or not at all, and was not repeated. Look at what is "
            "there before you decide whether to do it again."
        )
        return passage.outcome("unknown", ToolResult(content, summary="may or may not have taken effect"))

    async def _applied(
        self, passage: CallContext, host: Host, changes: Sequence[FileChange], result: ToolResult
    ) -> Outcome:
        done: list[FileChange] = []
        try:
            for change in changes:
                await host.apply(change)
                done.append(change)
        except ToolError as error:
            # All or nothing: what was written for this call is taken back, unless somebody else has touched it since.
            for change in reversed(done):
                try:
                    await host.apply(change._replace(before=change.after, after=change.before))
                except ToolError:
                    error.message += f" {change.path} was changed already and could not be taken back."
            outcome = failed(passage, error)
        else:
            for change in changes:
                passage.session.saw(change.path, change.after)
            outcome = passage.outcome("error" if result.error else "success", result)
        await passage.ledger.settle(passage.call.id, outcome, passage.event(outcome.status, outcome))
        return outcome

    async def _cancelled(self, passage: CallContext) -> None:
        content = "Cancelled. It may have taken effect in part." if passage.begun else "Cancelled before it began."
        outcome = passage.outcome("cancelled", ToolResult(content, summary="cancelled"))
        again = passage.spec.repeatable and not (passage.context.anew or passage.ledger.given_up)
        if (passage.begun or passage.intended) and passage.spec.effects != "none" and not again:
            await self._traced(passage, outcome)
            return
        if passage.window is not None:
            self.traces.drop(passage.window)
        passage.ledger.enqueue(
            passage.event("cancelled", outcome)
        )  # no outcome: a resume runs it, or asks for it, again

    async def _on_site(self, passage: CallContext, backend: Backend) -> ToolResult:
        attempt = 1
        while True:
            output = LiveOutput(passage.ledger, passage.call.id, passage.redact)
            try:
                return await self._safely(passage, backend.run(passage.tool, passage.call.args, _call(passage), output))
            except ToolError as error:
                if not (passage.spec.retryable and error.transient) or attempt == _ATTEMPTS:
                    raise
            finally:
                output.close()
            await asyncio.sleep(_PAUSE * 4 ** (attempt - 1) * random.uniform(0.5, 1.0))  # noqa: S311 not a secret
            attempt += 1

    async def _safely(self, passage: CallContext, work: Coroutine[Any, Any, T]) -> T:
        """Bounded in time; whatever goes wrong inside a tool is an error that the model sees."""
        limit = passage.args.time_limit(passage.spec.timeout)
        try:
            return await self._deadlines.within(limit + _MARGIN, work)
        except TimeoutError as error:
            message = (
                f"{passage.spec.name} took longer than {limit:g} s and was ended. Ask for less, or give it more time."
            )
            raise TimedOut(message) from error
        except (ToolError, asyncio.CancelledError):
            raise
        except Exception as error:
            message = f"{passage.spec.name} failed in an unexpected way: {error!r}."
            raise ToolError(message, advice="Try something else.", code="internal_error") from error

    def _held(self, passage: CallContext, backend: Backend, key: tuple[str, str, str]) -> ToolResult | None:
        if self._caches is None or passage.spec.cache is None or backend.name != "local":
            return None
        held = self._caches.get(passage.spec.cache, key)
        return held if isinstance(held, ToolResult) else None

    def _hold(self, passage: CallContext, backend: Backend, key: tuple[str, str, str], result: ToolResult) -> None:
        if self._caches is None or passage.spec.cache is None or backend.name != "local" or not result.sources:
            return
        root = passage.context.workspace
        size = len(result.content) + sum(len(source.content or b"") for source in result.sources)
        stamps = []
        for source in result.sources:
            info = source.info
            path = info.path if info.path.startswith("/") else f"{root}/{info.path}"
            stamps.append((path, Stamp(info.size, info.mtime_ns, info.inode, info.ctime_ns)))
        self._caches.put(passage.spec.cache, key, result, size, stamps)


def _seen(passage: CallContext, prepared: PreparedChange) -> PreparedChange:
    """An edit that the agent has not seen is not overwritten; where it is kept, the agent is told of it."""
    session = passage.session
    unseen = [note for change in prepared.changes if (note := session.unseen(change.path, change.before))]
    if not unseen:
        return prepared
    for change in prepared.changes:
        session.saw(change.path, change.before)  # told now, so that a second try may go on
    told_changes = "\n".join(unseen)
    if prepared.replaces:
        advice = "Take this into account, then repeat your change."
        raise ChangedElsewhere(f"{told_changes}\nNothing was written.", advice=advice)
    result = prepared.result._replace(content=f"{prepared.result.content}\nNote: {told_changes}")
    return prepared._replace(result=result)


def _host(passage: CallContext, backend: HostBackend) -> Host:
    return backend.host(passage.context.workspace)


def _call(passage: CallContext) -> Call:
    limit = passage.args.time_limit(passage.spec.timeout)
    return Call(passage.call.id, passage.context.workspace, limit, killed=passage.kill, approved=passage.approved)
