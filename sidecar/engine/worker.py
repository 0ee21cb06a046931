"""Claims tasks and carries them out, as many at once as there are slots. Sleeps until something wakes it."""

import asyncio
import logging
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Literal

from sidecar.engine.approvals import Slots
from sidecar.engine.errors import NO_HANDLES, Escalated, StepFailed, lacks_handles
from sidecar.engine.port import SharedJournal, Work
from sidecar.engine.run import TaskRun
from sidecar.engine.stalls import Stalls
from sidecar.engine.state import RecordKind, Round
from sidecar.engine.timeline import branched
from sidecar.journal.errors import JournalError, LeaseLost, WrittenElsewhere, WrongStatus
from sidecar.journal.port import Claim, OwnJournal, Record
from sidecar.telemetry.correlation import bind, trace_of
from sidecar.wire.events import CancelledEvent, CompleteEvent, ErrorEvent, EscalationEvent, StatusEvent
from sidecar.wire.tasks import Status, StoredRequest, TaskResult
from sidecar.wire.text import plural
from tools.lease import Lease, holding, lease_clock

if TYPE_CHECKING:
    from sidecar.engine.remotes import RemoteWorkspaces
    from sidecar.engine.review import Review
    from sidecar.engine.worktrees import Worktrees

log = logging.getLogger(__name__)

LEASE_SECONDS = 60.0
#: In a fleet, a worker whose claims are this old is dead; a live one renews them three times as often.
FLEET_LEASE_SECONDS = 15.0
_ACTIVE = frozenset({Status.RUNNING, Status.WAITING})


class Worker:
    def __init__(
        self,
        journal: OwnJournal | SharedJournal,
        work: Work,
        owner: str,
        slots: int,
        stalls: Stalls | None = None,
        review: "Callable[[], Review | None]" = lambda: None,
        worktrees: "Callable[[], Worktrees | None]" = lambda: None,
        remotes: "RemoteWorkspaces | None" = None,
    ) -> None:
        self._shared = journal if isinstance(journal, SharedJournal) else None
        self._own = None if isinstance(journal, SharedJournal) else journal
        self._remotes = remotes
        self._lease = LEASE_SECONDS if self._shared is None else FLEET_LEASE_SECONDS
        self._clock = time.monotonic if self._shared is None else self._shared.clock
        self._stalls = stalls
        self._review = review
        self._worktrees = worktrees
        self._journal = journal
        self._work = work
        self._owner = owner
        self._wake = asyncio.Event()
        self._slots = Slots(slots, self._freed)
        self._running: dict[str, tuple[TaskRun, asyncio.Task[None]]] = {}
        self._claiming: asyncio.Task[None] | None = None
        self._draining = False
        #: Whether a queued task may be about to run.
        self._looking = False
        #: Whether tasks may be left in the queue that no slot was free for.
        self._left = False
        #: Called when the last running task has ended, or a look for one found none.
        self.on_rest: Callable[[], None] = lambda: None
        #: Called when a slot may be free.
        self.on_free: Callable[[], None] = lambda: None
        self.on_end: Callable[[str, StoredRequest], None] = lambda task_id, request: None
        #: Called when a run changed its task's status, once that is durable.
        self.on_status: Callable[[str, StatusEvent], None] = lambda task_id, event: None

    def start(self) -> None:
        """Claim what is queued; of a shared journal only what is dispatched here."""
        if self._own is None:
            self.on_rest()
            return
        self._wake.set()
        self._claiming = asyncio.create_task(self._claim_forever(self._own), name="claims")

    @property
    def free_slots(self) -> int:
        return 0 if self._draining else max(self._slots.free, 0)

    async def run_named(self, task_id: str) -> bool:
        """Claim this task and begin to run it, if it is free; whether it was."""
        assert self._shared is not None
        claim = await self._shared.claim_named(task_id, self._owner, self._clock(), self._lease)
        if claim is not None:
            self._begin(claim)
        return claim is not None

    def _freed(self) -> None:
        if self._left:
            self._wake.set()
        self.on_free()

    def wake(self) -> None:
        """A task was queued."""
        self._wake.set()

    def run_of(self, task_id: str) -> TaskRun | None:
        found = self._running.get(task_id)
        return found[0] if found else None

    def flush(self) -> None:
        """Write what the tasks at work have enqueued."""
        for run, _ in self._running.values():
            run.log.flush()

    def drain(self) -> None:
        """Finish the running tasks and claim no more."""
        self._draining = True

    @property
    def task_ids(self) -> list[str]:
        return list(self._running)

    @property
    def busy(self) -> bool:
        return bool(self._running) or (self._claiming is not None and (self._wake.is_set() or self._looking))

    def cancel(self, task_id: str) -> bool:
        """Whether the task runs here; if so it ends as cancelled, once all its processes are dead."""
        return self._stop(task_id, "cancel")

    async def stop(self) -> None:
        """Interrupt all running tasks; the next start resumes them. Nothing may call `run_named` any more."""
        if self._claiming is not None:
            self._claiming.cancel()
            await asyncio.gather(self._claiming, return_exceptions=True)
        tasks = [task for _, task in self._running.values()]
        for task_id in list(self._running):
            self._stop(task_id, "shutdown")
        await asyncio.gather(*tasks, return_exceptions=True)

    def _stop(self, task_id: str, why: Literal["cancel", "shutdown", "lost"]) -> bool:
        found = self._running.get(task_id)
        if found is None:
            return False
        run, task = found
        if run.stopped_by is None:
            run.stopped_by = why
            # Not at once: a run that was claimed just now would never start, and nothing would end it.
            asyncio.get_running_loop().call_soon(_interrupt, run, task)
        return True

    async def _claim_forever(self, journal: OwnJournal) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            self._looking = True
            try:
                await self._claim_all(journal)
            finally:
                self._looking = False
            if not self._running:
                self.on_rest()

    async def _claim_all(self, journal: OwnJournal) -> None:
        self._left = True
        while self._left and self._slots.available and not self._draining:
            try:
                claim = await journal.claim(self._owner, self._clock(), self._lease)
            except JournalError as error:
                log.error("Could not claim a task: %s", error)
                return
            # A task that is queued while this looks wakes it again.
            self._left = claim is not None and claim.more
            if claim is not None:
                self._begin(claim)

    def _begin(self, claim: Claim) -> None:
        self._slots.enter()
        run = TaskRun(claim, self._journal, self._slots, self._review)
        run.log.on_status = self.on_status
        task = asyncio.create_task(self._run(run, claim), name=claim.task_id)
        self._running[claim.task_id] = (run, task)
        if self._stalls is not None:
            self._stalls.begin(claim.task_id)
        task.add_done_callback(partial(self._ended, run))

    def _ended(self, run: TaskRun, task: asyncio.Task[None]) -> None:
        # A task that was resumed as it ended may already run again.
        if self.run_of(run.task_id) is run:
            del self._running[run.task_id]
        if self._stalls is not None:
            self._stalls.end(run.task_id)
        self._slots.leave()
        self.on_end(run.task_id, run.request)
        if not self._running:
            self.on_rest()

    # -- one run ----------------------------------------------------------------------------------------------------

    async def _run(self, run: TaskRun, claim: Claim) -> None:
        # A journal of its own has no other process that claims tasks while this one lives.
        lease = None if self._shared is None else Lease(self._lease)
        if lease is not None:
            run.log.confirm_claim = partial(self._confirm, run, lease)
        with bind(trace_of(claim.task_id, claim.request.traceparent), task=claim.task_id), holding(lease):
            await self._run_until_ended(run, claim, lease)

    async def _run_until_ended(self, run: TaskRun, claim: Claim, lease: Lease | None) -> None:
        renewing = asyncio.create_task(self._renew_forever(run, lease))
        try:
            await self._run_claimed(run, claim)
        except LeaseLost:
            log.warning("Another worker claimed task %s and continues it.", run.task_id)
        except JournalError as error:
            log.error("Task %s stopped: %s", run.task_id, error)
        finally:
            renewing.cancel()
            if self._remotes is not None and run.request.context.repository is not None:
                await self._remotes.leave(run)

    async def _run_claimed(self, run: TaskRun, claim: Claim) -> None:
        try:
            if claim.damaged:
                raise StepFailed(
                    "journal_damaged",
                    f"The disk damaged {plural(claim.damaged, 'record')} of this task, so it cannot go on without the "
                    "risk of doing something twice. What it did is kept; start it again as a new task.",
                    recoverable=False,
                )
            remote = self._remotes if run.request.context.repository is not None else None
            isolated = self._worktrees() if run.request.options.isolation == "worktree" and remote is None else None
            if claim.status is Status.CANCELLING:
                if isolated is not None:
                    await isolated.locate(run)
                await self._cancelled(run)
                return
            # Not awaited: a cancel from now on finds the run here and stops it.
            running = run.log.compare_and_set(
                StatusEvent(status=Status.RUNNING), when=frozenset({Status.QUEUED, *_ACTIVE})
            )
            if claim.records:
                # It may have nothing left to do; awaiting lets messages that came with the claim arrive.
                await running
            if isolated is not None:
                await isolated.enter(run)
            if remote is not None:
                await remote.enter(run, claim.records)
            await self._complete(run, await self._carry_out(run))
        except LeaseLost:
            await self._work.tidy(run)
            raise
        except WrongStatus:
            # You cancelled it between two writes.
            await self._cancelled(run)
        except asyncio.CancelledError:
            await self._stopped(run)
        except TimeoutError:
            limit = run.request.options.max_duration
            message = f"The task did not finish within {limit:g} seconds. What it did is kept; resume it to go on."
            await self._fail(run, "max_duration", message, recoverable=True)
        except Escalated as needed:
            await self._escalate(run, needed)
        except StepFailed as error:
            await self._fail(run, error.code, error.message, recoverable=error.recoverable)
        except JournalError:
            raise
        except Exception as error:
            if lacks_handles(error):
                log.error("Task %s failed: %s.", run.task_id, NO_HANDLES)
                message = f"{NO_HANDLES}. What was done is kept; close other connections, then resume the task."
                await self._fail(run, "no_file_handles", message, recoverable=True)
                return
            log.exception("Task %s failed", run.task_id)
            message = (
                f"Something went wrong inside Rainy Brain ({type(error).__name__}: {error}). What was done is kept."
            )
            await self._fail(run, "internal_error", message, recoverable=True)

    async def _carry_out(self, run: TaskRun) -> TaskResult:
        """The result. Messages that arrive before the task is complete still belong to it."""
        while True:
            async with run.clock.limit(run.request.options.max_duration):
                result = await self._work.carry_out(run)
            await self._work.tidy(run)
            await run.inbox.settle()
            await self._catch_up(run)
            if not (missed := self._work.missed(run)):
                if self._remotes is not None:
                    await self._remotes.deliver(run, result)
                return result
            await run.open_round(_round(run, result), missed)

    async def _complete(self, run: TaskRun, result: TaskResult) -> None:
        while True:
            try:
                await run.log.compare_and_set(
                    run.budget.event(),
                    CompleteEvent(result=result),
                    StatusEvent(status=Status.COMPLETED),
                    records=[_round(run, result)],
                    when=_ACTIVE,
                    alone=True,
                )
                return
            except WrittenElsewhere:
                await self._catch_up(run)
                if missed := self._work.missed(run):
                    await run.open_round(_round(run, result), missed)
                    result = await self._carry_out(run)

    async def _fail(self, run: TaskRun, code: str, message: str, *, recoverable: bool) -> None:
        run.ending = True
        await self._work.tidy(run)
        error = ErrorEvent(code=code, message=message, recoverable=recoverable)
        with suppress(WrongStatus):
            await run.log.compare_and_set(
                *run.fail_open_steps(message),
                run.budget.event(),
                error,
                StatusEvent(status=Status.FAILED, reason=message),
                when=frozenset({Status.QUEUED, *_ACTIVE}),
            )
            return
        await self._cancelled(run)

    async def _escalate(self, run: TaskRun, needed: Escalated) -> None:
        """Keep all changes. The record gives a resumed task new attempts."""
        run.ending = True
        await self._work.tidy(run)
        # The number of messages: a resumed task sees whether you sent one since.
        record = Record(
            RecordKind.ESCALATION, str(needed.key.on_branch(run.state.branch)), str(len(run.state.messages))
        )
        with suppress(WrongStatus):
            await run.log.compare_and_set(
                run.budget.event(),
                ErrorEvent(code="not_verified", message=needed.reason, recoverable=True),
                EscalationEvent(reason=needed.reason, attempts=needed.attempts, suggestions=needed.suggestions),
                StatusEvent(status=Status.ESCALATED, reason=needed.reason),
                records=[record],
                when=_ACTIVE,
            )
            return
        await self._cancelled(run)

    async def _stopped(self, run: TaskRun) -> None:
        if run.stopped_by == "shutdown":
            await self._work.tidy(run)
            reason = "The sidecar stopped; the task resumes at the next start."
            events = [StatusEvent(status=Status.INTERRUPTED, reason=reason)]
            if self._shared is not None:
                again = StatusEvent(status=Status.QUEUED, reason="another worker continues")
                events = [StatusEvent(status=Status.INTERRUPTED, reason="The worker stopped."), again]
            with suppress(WrongStatus):
                await run.log.compare_and_set(*events, when=_ACTIVE)
        elif run.stopped_by == "lost":
            await self._work.tidy(run)
            raise LeaseLost(run.task_id)
        else:
            await self._cancelled(run)

    async def _cancelled(self, run: TaskRun) -> None:
        run.ending = True
        await self._work.abandon(run)
        await self._work.tidy(run)
        with suppress(WrongStatus):
            await run.log.compare_and_set(
                *run.fail_open_steps("Stopped because you cancelled the task."),
                CancelledEvent(killed=run.ledger.killed_processes, effects=run.state.effects()),
                StatusEvent(status=Status.CANCELLED),
                when=frozenset({Status.CANCELLING}),
            )

    # -- other processes ---------------------------------------------------------------------------------------------

    async def look(self, task_ids: Collection[str] | None = None) -> None:
        """Another process wrote to these tasks, or to any: deliver it to their runs, or cancel them."""
        for run, _ in list(self._running.values()):
            if task_ids is None or run.task_id in task_ids:
                with suppress(JournalError):
                    await self._catch_up(run)

    async def _catch_up(self, run: TaskRun) -> None:
        if self._shared is None:
            return
        records, status = await self._shared.refresh(run.task_id)
        run.inbox.catch_up(records)
        if status is Status.CANCELLING:
            self.cancel(run.task_id)

    async def _confirm(self, run: TaskRun, lease: Lease) -> None:
        if lease.left < self._lease / 3:
            await self._renew(run, lease)

    async def _renew(self, run: TaskRun, lease: Lease | None) -> None:
        since = lease_clock()
        await run.log.renew(self._clock(), self._lease)
        if lease is not None:
            lease.extend(since)

    async def _renew_forever(self, run: TaskRun, lease: Lease | None) -> None:
        while True:
            await asyncio.sleep(self._lease / 3)
            try:
                await self._renew(run, lease)
            except LeaseLost:
                self._stop(run.task_id, "lost")
                return


def _interrupt(run: TaskRun, task: asyncio.Task[None]) -> None:
    if not run.ending:
        task.cancel()


def _round(run: TaskRun, result: TaskResult) -> Record:
    done = Round(asked=run.instruction, answered=result.summary)
    return Record(RecordKind.ROUND, branched(str(run.state.current_round), run.state.branch), done.to_json())
