"""Runs one call, the same way for every tool: choose a backend, check policy, ask, record, run, record."""

import asyncio
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import count

from sidecar.cache import Caches
from sidecar.telemetry.correlation import bind
from tools.backend import Backend, has_host, is_remote, reviews
from tools.changes import render_changes, render_full_diff
from tools.errors import (
    ApprovalRequired,
    Declined,
    Denied,
    HostGone,
    NeverSent,
    SecretFile,
    ToolError,
    Unattended,
    Unconfirmed,
)
from tools.executor.approval import bind_call, build_prompt, check_links, find_leads
from tools.executor.binding import ApprovalBinding, ApprovedTexts, bind_change, render_difference
from tools.executor.command_changes import ChangeTracker
from tools.executor.context import CallContext, redact_arguments
from tools.executor.file_changes import apply_changes, change_files
from tools.executor.hooks import Hooks
from tools.executor.invocation import Invoker
from tools.executor.recovery import LOOK, RUN_AGAIN, ask_about_unknown, plan_recovery
from tools.executor.script_files import BoundFile
from tools.git import read_head
from tools.host import Host, ResolvingHost, resolves_links
from tools.ledger import GitHead, IntentRecord, NewBlob, Outcome
from tools.policy.policy import Decision, Policy, decide_secret
from tools.policy.shell import simple
from tools.protected import secret_part
from tools.secret_files import AssignedSecrets
from tools.shield import run_to_completion
from tools.spec import PreparedChange, ToolResult, changes_files, plans_commands

#: Report progress for calls whose preview takes longer than this.
_PREVIEW_SECONDS = 1.0
#: How often a call is asked about that keeps changing.
_MAX_QUESTIONS = 10
#: The ids of a task's calls begin with the task's own.
_TASK = "t_"
#: How long a call waits for a workspace that is gone, and how often it looks.
WORKSPACE_SECONDS = 10.0
_LOOK_SECONDS = 0.1
#: How many workspaces to remember as being there; each isolated task has its own.
_PLACES = 100


class CallRunner:
    def __init__(
        self, backends: Sequence[Backend], policy: Policy, caches: Caches | None, texts: ApprovedTexts | None = None
    ) -> None:
        self._backends = backends
        self._remotes = list(filter(is_remote, backends))
        self._policy = policy
        self._invoker = Invoker(caches)
        self._texts = texts or ApprovedTexts()
        self.tracker = ChangeTracker()
        self.hooks: Hooks | None = None
        self._assigned = AssignedSecrets()
        #: Workspaces that did not come back.
        self._gone: set[str] = set()
        #: When each workspace was last there.
        self._there: dict[str, float] = {}

    async def run(self, context: CallContext) -> Outcome:
        """Never raises for a tool's failure: errors are outcomes."""
        context.started = time.monotonic()
        try:
            with bind(tool=context.spec.name, call=context.call.id):
                outcome = await self._carry_out(context)
        except ToolError as error:
            outcome = context.failed(error)
        except asyncio.CancelledError:
            if context.ledger.outcome(context.call.id) is None:
                await run_to_completion(self._cancel(context))
            raise
        if self.hooks is not None and outcome.status == "success" and context.spec.effects == "files":
            paths = list(context.args.paths())
            await self.hooks.after_edit(context.spec.name, paths, context.workspace, context.call.id)
        if context.ledger.outcome(context.call.id) is None:
            if context.window is not None or context.session.windows:
                return await run_to_completion(self.tracker.settle(context, outcome))
            await context.settle(outcome)
        return outcome

    async def _carry_out(self, context: CallContext) -> Outcome:
        _check_background_command(context)
        for remote in self._remotes:
            await remote.refresh(context.spec.name, context.workspace, tuple(context.args.paths()))
        backend = self._choose_backend(context)
        if has_host(backend):
            await self._await_workspace(context)
        decision = await self._decide(context, backend)
        if (record := _open_record(context)) is not None:
            return await self._recover(context, backend, record, decision)
        if decision.verdict == "ask":
            await self._approve(context, backend, decision)
        if self.hooks is not None:
            args = context.call.args
            await self.hooks.before_tool(context.spec.name, args, context.workspace, context.call.id)
        try:
            return await self._perform(context, backend, decision)
        except ToolError as error:
            if error.code != SecretFile.code or context.approved:
                raise
            # Only reading it showed where the path leads, or what the file holds.
            context.secret = True
            decision = _refused(decide_secret(error.message, context.batch.approvals))
        await self._approve(context, backend, decision)
        return await self._perform(context, backend, decision)

    async def _perform(self, context: CallContext, backend: Backend, decision: Decision) -> Outcome:
        if is_remote(backend) and not backend.offers(context.spec.name, context.workspace):
            # It went away while you were asked.
            backend = self._choose_backend(context)
        if changes_files(context.tool) and has_host(backend):
            host = backend.host(context.workspace)
            # What you saw is what is written: if the file is another one by now, writing fails.
            return await change_files(context, host, context.prepared or await self._preview(context, host))
        if (cached := self._invoker.cached(context, backend)) is not None:
            context.enqueue("running")
            _learn(context, cached)
            return context.outcome("success", cached, cached=True)
        await self._record(context)
        if context.bound is not None and (await self._bind(context, backend, decision)).digest != context.bound:
            # Changed since the answer was checked, while the workspace was scanned.
            await self._approve(context, backend, decision)
        context.begun = True
        try:
            result = await self._invoker.run(context, backend)
        except HostGone as gone:
            if isinstance(gone, NeverSent) and changes_files(context.tool):
                raise  # the intent record doesn't hold its files, so they couldn't be restored
            repeatable = context.spec.effects == "none" or context.spec.repeatable or isinstance(gone, NeverSent)
            if not repeatable:
                return await self._resolve_unknown(context, gone.message)
            backend = self._choose_backend(context, without=backend)
            return await self._perform(context, backend, decision)
        except Unconfirmed as lost:
            content = f"{lost.message} It may have taken effect, wholly, in part or not at all, and was not repeated."
            return context.outcome("unknown", ToolResult(content, summary="may or may not have taken effect"))
        if result.error is None:
            _learn(context, result)
            self._invoker.store(context, backend, result)
        return context.ended(result)

    async def _await_workspace(self, context: CallContext) -> None:
        """Wait a while for a workspace that is gone: it may be moved, or mounted again. Once for each time it goes."""
        workspace = context.workspace
        if context.started - self._there.get(workspace, -_LOOK_SECONDS) < _LOOK_SECONDS:
            return
        if os.path.lexists(workspace):
            self._gone.discard(workspace)
            if len(self._there) >= _PLACES:
                self._there.clear()
            self._there[workspace] = context.started
            return
        end = time.monotonic() + WORKSPACE_SECONDS
        while workspace not in self._gone and not os.path.lexists(workspace):
            if time.monotonic() > end:
                self._gone.add(workspace)
            await asyncio.sleep(_LOOK_SECONDS)

    async def locate(self, context: CallContext) -> None:
        """Add the real paths behind links, so that two names of one file conflict with each other."""
        with suppress(ToolError):
            backend = self._choose_backend(context)
            if context.spec.effects != "command" and has_host(backend):
                host = backend.host(context.workspace)
                if resolves_links(host):
                    real = [await host.resolve(path) for path in context.args.paths()]
                    context.access = context.access.with_paths(real, host.workspace)

    def _choose_backend(self, context: CallContext, without: Backend | None = None) -> Backend:
        spec = context.spec
        for backend in self._backends:
            if backend is without:
                continue
            fits = spec.executor in ("hybrid", backend.name)
            if fits and backend.offers(spec.name, context.workspace):
                if is_remote(backend) and not backend.covers(spec.name, context.workspace, tuple(context.args.paths())):
                    continue
                context.backend = backend.name
                return backend
        raise HostGone(
            f"{spec.name} needs a connected desktop shell that offers it, and there is none.", transient=False
        )

    def _hosts(self, context: CallContext) -> Iterator[Host]:
        return (backend.host(context.workspace) for backend in self._backends if has_host(backend))

    async def _decide(self, context: CallContext, backend: Backend) -> Decision:
        batch = context.batch
        runs = context.spec.effects == "command" or context.spec.runs_project
        if runs and not self._policy.is_prepared(context.workspace):
            await asyncio.to_thread(self._policy.prepare, context.workspace)
        decision = self._policy.decide(context.spec, context.args, batch.workspace, batch.approvals, batch.task_text)
        if reviews(backend):
            _refused(decision)
            context.review = review = await backend.review(context.tool, context.workspace)
            return Decision("ask", review.why) if review.must_ask else decision
        if context.spec.effects == "files":
            for host in self._hosts(context):
                # Also for a call that a shell carries out: links are resolved on this machine.
                if resolves_links(host):
                    decision = await self._check_links(context, host, decision)
        if context.spec.effects != "command":
            context.secret = any(map(secret_part, (*context.args.paths(), *context.leads.values())))
        decision = _refused(decision)
        context.contained = decision.contained
        if runs:
            origin = batch.copy_of[-1] if batch.copy_of else context.workspace
            registry = await self._policy.registry(context.args, origin)
            context.hosts, context.environment = registry.hosts, registry.environment
            home = os.path.realpath(os.path.expanduser("~"))  # noqa: PTH111
            # Never your whole home directory, which hides your keys only as a workspace.
            copied = (place for place in batch.copy_of if not f"{home}/".startswith(f"{place.rstrip('/')}/"))
            context.readable = (*self._policy.permissions(origin).reads, *copied)
        return decision

    async def _check_links(self, context: CallContext, host: ResolvingHost, decision: Decision) -> Decision:
        try:
            leads = await find_leads(context.args.paths(), host)
        except ToolError:
            if decision.verdict == "allow":
                raise
            return decision
        context.leads |= leads
        return await check_links(leads, host, decision) if decision.verdict == "allow" else decision

    async def _approve(self, context: CallContext, backend: Backend, decision: Decision) -> None:
        """Ask, and ask again if what would run or be written changed before the answer came."""
        why, bound, diff = decision.why, await self._bind(context, backend, decision), None
        if context.commands == ():
            return  # it found nothing to run, so it only reads
        if context.review is not None and context.review.why:
            why, diff = context.review.why, context.review.diff
        if not self._policy.approved(context.workspace, bound.digest):
            if not context.batch.can_ask:
                raise _unasked(why)
            if context.batch.unattended:
                grant = self._policy.suggest_grant(context.spec, context.args)
                raise Unattended(why, grant, compound=_is_compound(context))
            before = self._texts.recall(bound.act)
            for _ in range(_MAX_QUESTIONS):
                if bound.change is not None:
                    why, diff = decision.why, bound.change.diff
                elif before is not None:
                    why, diff = _explain_difference(decision.why, before, bound, context.workspace)
                await self._ask(context, why, diff, bound)
                answered, bound = bound, await self._bind(context, backend, decision)
                if bound.digest == answered.digest:
                    break
                before = answered.parts
                if context.review is not None:
                    changed = f"{decision.why}; what its server runs changed while you were asked"
                    why, diff, before = context.review.why or changed, context.review.diff, None
            else:
                raise Denied("Not allowed: what it would run kept changing while you were asked.")
            self._texts.remember(bound.act, bound.parts)
        context.approved, context.bound = True, bound.digest

    async def _ask(self, context: CallContext, why: str, diff: str | None, bound: ApprovalBinding) -> None:
        omitted = 0
        if context.prepared is not None:
            diff, omitted = render_full_diff(context.prepared.changes)
            diff = diff or context.prepared.result.content
        context.enqueue("pending")
        prompt = build_prompt(context, "approve", why, diff, bound.digest, omitted)
        if diff is not None and context.prepared is None and context.review is None:
            prompt = prompt._replace(since="asked" if bound.change is None else "trusted")
        answer = await context.ledger.ask(prompt)
        context.started = time.monotonic()  # the wait for an answer isn't part of the call's duration
        if answer is None:
            raise _unasked(why)
        if answer == "deny":
            raise Declined

    async def _bind(self, context: CallContext, backend: Backend, decision: Decision) -> ApprovalBinding:
        if reviews(backend):
            context.review = await backend.review(context.tool, context.workspace, binding=True)
        elif plans_commands(context.tool) and (host := next(self._hosts(context), None)) is not None:
            context.commands = None
            planned = context.tool.plan(context.args, host, context.tool_call())
            context.commands = tuple(await self._invoker.bounded(context, planned))
        if decision.change is not None:
            return bind_change(context.workspace, await asyncio.to_thread(self._policy.change, context.workspace))
        if changes_files(context.tool) and has_host(backend):
            try:
                context.prepared = await self._prepare(context, backend.host(context.workspace))
                return bind_call(context, context.prepared.changes)
            except ToolError:
                # Why it doesn't fit may quote the file, so the answer comes first.
                if not context.secret:
                    raise
                context.prepared = None
        return await asyncio.to_thread(bind_call, context, None)

    async def _prepare(self, context: CallContext, host: Host) -> PreparedChange:
        """Policy has decided about every path that the call names, so the tool may read it."""
        assert changes_files(context.tool)
        named = tuple(context.args.paths())
        await self._save_buffers(context.workspace, named)
        host = host.with_secrets() if resolves_links(host) else host
        work = context.tool.prepare(context.args, host, context.tool_call())
        prepared = await self._invoker.bounded(context, work)
        # A rename, for one, names its files only now.
        found = tuple(change.path for change in prepared.changes if change.path not in named)
        if found and await self._save_buffers(context.workspace, found):
            work = context.tool.prepare(context.args, host, context.tool_call())
            prepared = await self._invoker.bounded(context, work)
        return prepared

    async def _save_buffers(self, workspace: str, paths: Sequence[str]) -> bool:
        """Whether an editor had unsaved changes in these files, which are on disk now."""
        return any([await remote.save(workspace, paths) for remote in filter(is_remote, self._backends)])

    async def _preview(self, context: CallContext, host: Host) -> PreparedChange:
        timer = asyncio.get_running_loop().call_later(_PREVIEW_SECONDS, context.enqueue, "running")
        try:
            return await self._prepare(context, host)
        finally:
            timer.cancel()

    async def _record(self, context: CallContext) -> None:
        """Before a command: scan the workspace and put the intent record on disk."""
        if context.spec.effects == "none":
            context.enqueue("running")
            return
        host = next(self._hosts(context), None)
        if host is not None:
            await self._assigned.learn(host, context.redact)
        scan: str | None = None
        blobs: Sequence[NewBlob] = ()
        if context.spec.external is None or context.spec.external.changes_workspace:
            scan, blobs = await self.tracker.begin(context, host)
        args = redact_arguments(context.call.args, context.redact)
        head = GitHead(commit=await read_head(host) if host is not None else None, at=int(time.time()))
        shell = next((each for each in self._remotes if each.name == context.backend), None)
        session = None if shell is None else shell.session(context.spec.name, context.workspace)
        record = IntentRecord(
            tool=context.spec.name, args=args, backend=context.backend, session=session, scan=scan, head=head
        )
        context.intended = True
        await context.ledger.intend(context.call.id, record, context.event("running"), blobs)

    async def _recover(
        self, context: CallContext, backend: Backend, record: IntentRecord, decision: Decision
    ) -> Outcome:
        """An earlier process recorded this call and died before its outcome."""
        context.begun = True
        # The backend that had the call knows what came of it, even if another would be chosen today.
        backend = next((each for each in self._backends if each.name == record.backend), backend)
        context.backend = backend.name
        if has_host(backend):
            host = backend.host(context.workspace)
            if record.files:
                return await self._recover_files(context, host, record)
            for each in await host.sweep(context.call.id):
                context.kill(each.pid, each.command)
        context.window = await self.tracker.reopen(
            next(self._hosts(context), None), context.workspace, context.ledger, record.scan
        )
        known = backend.name == record.backend and backend.remembers(context.call.id)
        if not known and is_remote(backend):
            context.enqueue("pending")
            known = await backend.returned(context.call.id, context.spec.name, context.workspace, record.session)
        if known:
            return await self._rerun(context, backend)
        if context.spec.repeatable:
            backend = self._choose_backend(context)
            if decision.verdict == "ask":
                # The earlier answer counts, unless what would run has changed since.
                await self._approve(context, backend, decision)
            return await self._rerun(context, backend)
        return await self._resolve_unknown(context, "The sidecar stopped while this ran.")

    async def _recover_files(self, context: CallContext, host: Host, record: IntentRecord) -> Outcome:
        host = host.with_secrets() if resolves_links(host) else host
        done, changes = await self._invoker.bounded(context, plan_recovery(record.files, host, context.ledger))
        for change in done:
            # Changes nothing, but removes temporary files that the killed process left beside this one.
            with suppress(ToolError):
                await host.apply(change._replace(before=change.after))
        if not changes:
            result = render_changes(done, "Already done before a restart; nothing was written again.")
            return context.outcome("success", result)
        result = render_changes([*done, *changes], "Finished after a restart.")
        return await run_to_completion(apply_changes(context, host, changes, result))

    async def _rerun(self, context: CallContext, backend: Backend) -> Outcome:
        context.backend = backend.name
        if context.window is not None and context.window.blind:
            self.tracker.drop(context.window)
            await self.tracker.begin(context, next(self._hosts(context), None))
        return context.ended(await self._invoker.run(context, backend))

    async def _resolve_unknown(self, context: CallContext, what: str) -> Outcome:
        """It is unknown whether it took effect. Only you may have it repeated."""
        context.enqueue("pending")
        call_id, seen = context.call.id, ""
        for look in count():
            question = ask_about_unknown(context, what, look, seen)
            answer = await context.ledger.choose(question)
            if answer == RUN_AGAIN:
                await context.ledger.repeat(call_id)
                context.approved = True
                return await self._rerun(context, self._choose_backend(context))
            if answer != LOOK:
                break
            seen = await self._describe_changes(context)
        content = (
            f"{what} It may have taken effect, wholly, in part or not at all, and was not repeated. Check the current "
            "state before you decide whether to do it again."
        )
        return context.outcome("unknown", ToolResult(content, summary="may or may not have taken effect"))

    async def _describe_changes(self, context: CallContext) -> str:
        """What changed since the call began; the window stays open for its end."""
        if context.window is None:
            return ""
        changes = await self.tracker.end(context.window)
        record = context.ledger.intent(context.call.id)
        host = next(self._hosts(context), None)
        context.window = await self.tracker.reopen(
            host, context.workspace, context.ledger, record.scan if record is not None else None
        )
        return changes.describe() or "No file of the workspace has changed since it began."

    async def _cancel(self, context: CallContext) -> None:
        content = "Cancelled. It may have taken effect in part." if context.begun else "Cancelled before it began."
        outcome = context.outcome("cancelled", ToolResult(content, summary="cancelled"))
        resumes = context.spec.repeatable and not (context.batch.single_use or context.ledger.given_up)
        if (context.begun or context.intended) and context.spec.effects != "none" and not resumes:
            await self.tracker.settle(context, outcome)
            return
        if context.window is not None:
            self.tracker.drop(context.window)
        # Without an outcome, a resume runs it, or asks for it, again.
        context.ledger.enqueue(context.event("cancelled", outcome))


def _check_background_command(context: CallContext) -> None:
    """A task reads and stops only its own background commands; a person who runs tools without a task, all of them."""
    # `getattr` with a default takes ten times as long for a field that a model doesn't have.
    wanted, own = vars(context.args).get("command_id"), context.session.commands
    if wanted is not None and context.call.id.startswith(_TASK) and wanted not in own:
        raise ToolError(
            f"No background command of this task has the id {wanted!r}. Known: {', '.join(own) or 'none'}.",
            advice="Start one with run_command.",
            code="unknown_command",
        )


def _open_record(context: CallContext) -> IntentRecord | None:
    return context.ledger.intent(context.call.id) if context.spec.effects != "none" else None


def _refused(decision: Decision) -> Decision:
    """Raises `Denied` if policy denies the call."""
    if decision.verdict == "deny":
        advice = "Don't try it another way; go on without it, or tell the user."
        raise Denied(f"Not allowed: {decision.why}.", advice=advice)
    return decision


def _explain_difference(
    why: str, before: Mapping[str, BoundFile], bound: ApprovalBinding, workspace: str
) -> tuple[str, str | None]:
    """Name what changed since you allowed the same call, and show it."""
    names, diff = render_difference(before, bound.parts, workspace)
    if not names:
        return why, None
    shown = ", ".join(names[:5]) + ("…" if len(names) > 5 else "")
    return f"{why}; {shown} changed since you last allowed or were asked about this", diff or None


def _is_compound(context: CallContext) -> bool:
    """Whether the call is a command that no table could allow, because it is more than one."""
    command = getattr(context.args, "command", None)
    return isinstance(command, str) and isinstance(simple(command), str)


def _unasked(why: str) -> ApprovalRequired:
    return ApprovalRequired(f"This needs approval ({why}), and this call can't ask for it.")


def _learn(context: CallContext, result: ToolResult) -> None:
    read = ((info.path, content) for info, content in result.sources)
    context.session.learn(read, result.details, context.workspace)
