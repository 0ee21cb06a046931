"""Two verbs: submit an operation, read events."""

import asyncio
import hashlib
import logging
import os
import secrets
from collections.abc import AsyncGenerator, Callable, Collection, Sequence
from contextlib import nullcontext, suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from sidecar.config.approvals import StandingApprovals
from sidecar.config.grants import Permissions
from sidecar.engine.admission import Admission
from sidecar.engine.approvals import answered_event
from sidecar.engine.errors import OperationRefused
from sidecar.engine.operations import (
    AnswerApproval,
    AnswerQuestion,
    Cancel,
    Delete,
    Execute,
    Fork,
    Label,
    Operation,
    Resume,
    RevokeApproval,
    SendMessage,
    redact_operation,
)
from sidecar.engine.port import SharedJournal, Work
from sidecar.engine.stalls import Stalls
from sidecar.engine.state import RecordKind, TaskState, UserMessage
from sidecar.engine.worker import Worker
from sidecar.journal.errors import DuplicateRecord, JournalClosed, QueueFull, UnknownTask, WrongStatus
from sidecar.journal.port import Journal, NewTask, OwnJournal, Record, StoredEvent, TaskFilter
from sidecar.telemetry.correlation import current_trace
from sidecar.telemetry.logs import current_actor
from sidecar.telemetry.redaction import Redactor
from sidecar.wire.events import ApprovalEvent, CancelledEvent, LabelEvent, MessageEvent, QuestionEvent, StatusEvent
from sidecar.wire.tasks import ENDED, Status, StoredRequest, Task
from tools.host import Host

if TYPE_CHECKING:
    from sidecar.engine.remotes import RemoteWorkspaces
    from sidecar.engine.review import Review
    from sidecar.engine.worktrees import Worktrees

log = logging.getLogger(__name__)

#: List task-wide approvals of at most this many unfinished tasks.
MOST_OPEN = 100
_CANCELLABLE = frozenset({Status.QUEUED, Status.RUNNING, Status.WAITING, Status.INTERRUPTED})
_RESUMABLE = frozenset({Status.FAILED, Status.CANCELLED, Status.INTERRUPTED, Status.ESCALATED})
_UNFINISHED = frozenset({Status.QUEUED, Status.RUNNING, Status.WAITING, Status.INTERRUPTED})


class Engine:
    def __init__(
        self,
        journal: OwnJournal | SharedJournal,
        work: Work,
        host: Callable[[str], Host],
        workspace: Path,
        *,
        slots: int,
        max_queued: int,
        approvals: StandingApprovals | None = None,
        permissions: Callable[[str], Permissions] = lambda workspace: Permissions(),
        redact: Redactor | None = None,
        stalls: Stalls | None = None,
        worktrees: "Callable[[Journal, Review], Worktrees] | None" = None,
        remotes: "RemoteWorkspaces | None" = None,
        node: str | None = None,
        private: Path | None = None,
    ) -> None:
        """`worktrees` is called when one is first needed; `private` is the sidecar's own directory."""
        self._shared = journal if isinstance(journal, SharedJournal) else None
        self._host = host
        self._node = node
        self.remotes = remotes
        self._open_worktrees = worktrees
        self._journal = journal
        self._stalls = stalls
        self._max_queued = max_queued
        self._approvals = approvals
        self._redact = redact or Redactor()
        self.owner = f"{os.getpid()}-{secrets.token_hex(4)}"
        self.admission = Admission(work, workspace, permissions, lambda: self.worktrees, remotes, private)
        self._worker = Worker(
            journal, work, self.owner, slots, stalls, lambda: self.review, lambda: self.worktrees, remotes
        )
        self._looks: set[asyncio.Task[None]] = set()
        self._stopping = False

    @cached_property
    def review(self) -> "Review":
        from sidecar.engine.review import Review

        return Review(self._journal, self._host, self._deliver, self.remotes, self._node)

    @cached_property
    def worktrees(self) -> "Worktrees | None":
        return None if self._open_worktrees is None else self._open_worktrees(self._journal, self.review)

    async def start(self) -> None:
        if await self._journal.tasks_with_undo():
            await self.review.finish()
        if self._shared is None:
            await enqueue_left_open(self._journal, self.owner, self._stalls, self._worker.on_status)
        self._worker.start()

    async def stop(self) -> None:
        self._stopping = True
        self._journal.fail_fast()
        await self._worker.stop()

    def look(self, task_ids: Collection[str] | None) -> None:
        """Another process wrote to these tasks, or to any."""
        if self._worker.busy:
            looking = asyncio.create_task(self._worker.look(task_ids))
            self._looks.add(looking)
            looking.add_done_callback(self._looks.discard)

    def drain(self) -> None:
        """Finish the running tasks and claim no more."""
        self._worker.drain()

    @property
    def free_slots(self) -> int:
        """How many more tasks may run here now."""
        return self._worker.free_slots

    def call_when_free(self, callback: Callable[[], None]) -> None:
        """Call `callback` whenever a slot may be free."""
        self._worker.on_free = callback

    async def run_named(self, task_id: str) -> bool:
        """Claim this task and begin to run it, if it is free. The tasks of a shared journal are dispatched by name."""
        return await self._worker.run_named(task_id)

    @property
    def running(self) -> list[str]:
        return self._worker.task_ids

    def runs(self, task_id: str) -> bool:
        """Whether a worker of this process has the task now."""
        return self._worker.run_of(task_id) is not None

    @property
    def busy(self) -> bool:
        return self._worker.busy

    def call_when_idle(self, callback: Callable[[], None]) -> None:
        """Call `callback` whenever the last running task has ended."""
        self._worker.on_rest = callback

    def call_at_status(self, callback: Callable[[str, StatusEvent], None]) -> None:
        """Call `callback` whenever a run changed its task's status."""
        self._worker.on_status = callback

    def call_at_end(self, callback: Callable[[str, StoredRequest], None]) -> None:
        """Call `callback` with a task's id whenever a run of it has ended."""
        self._worker.on_end = callback

    def events(self, task_id: str, after: int = 0) -> AsyncGenerator[Sequence[StoredEvent], None]:
        """The task's events in the largest batches at hand, until it ends."""
        if run := self._worker.run_of(task_id):
            run.log.flush()
        return self._journal.tail(task_id, after)

    def all_events(self, after: int | None = 0) -> AsyncGenerator[Sequence[StoredEvent], None]:
        """The durable events of all tasks after a cursor, and new ones as they come, until the caller stops."""
        self._worker.flush()
        return self._journal.tail_all(after)

    async def submit(self, operation: Operation) -> str:
        """Return the id of the task once the operation is durable."""
        operation = redact_operation(operation, self._redact)
        match operation:
            case Execute():
                return (await self._execute(operation)).id
            case Fork():
                return await self._fork(operation)
            case Cancel(task_id):
                return await self._cancel(task_id)
            case Resume(task_id):
                return await self._resume(task_id)
            case SendMessage():
                return await self._say(operation)
            case AnswerApproval():
                return await self._answer(operation)
            case AnswerQuestion():
                return await self._answer_question(operation)
            case RevokeApproval(task_id, approval_id):
                return await self._revoke(task_id, approval_id)
            case Label(task_id, request):
                title = None if request.title is None else " ".join(request.title.split())
                label = LabelEvent(title=title, pinned=request.pinned, archived=request.archived, by=current_actor())
                await self._journal.append(task_id, [label])
                return task_id
            case Delete(task_id):
                return await self._delete(task_id)

    async def allowed(self) -> list[tuple[Task, ApprovalEvent]]:
        """What you allowed for whole tasks that have not ended."""
        open_tasks = await self._journal.tasks(TaskFilter(statuses=_UNFINISHED), limit=MOST_OPEN)
        return [
            (task, approval)
            for task in open_tasks
            for approval in TaskState.of(await self._journal.records(task.id)).allowed()
        ]

    async def execute(self, operation: Execute) -> Task:
        """The new task, once it is durable, or the one that the same idempotency key started before."""
        return await self._execute(redact_operation(operation, self._redact))

    async def _execute(self, operation: Execute) -> Task:
        request = operation.request
        workspace = await self.admission.place_of(request)
        task_id = f"t_{secrets.token_hex(10)}"
        stored = StoredRequest(
            task=request.task,
            workspace=workspace,
            conversation_id=request.options.conversation_id or operation.conversation or f"c_{secrets.token_hex(10)}",
            context=request.context,
            options=self.admission.within_limit(request.options, workspace),
            creates_project=operation.creates_project or None,
            parent=operation.parent,
        )
        by = current_actor()
        first = MessageEvent(message_id=f"{task_id}.asked", role="user", agent="", text=request.task, by=by)
        return await self._created(
            NewTask(
                task_id,
                stored,
                [StatusEvent(status=Status.QUEUED, by=by), first],
                operation.idempotency_key,
                operation.records,
            )
        )

    async def _created(self, new: NewTask) -> Task:
        if self._stopping:
            raise JournalClosed  # the next sidecar takes it
        if (trace := current_trace()) is not None:
            traced = new.request.model_copy(update={"traceparent": trace.header()})
            new = new._replace(request=traced)
        creating = self._journal.create(new, max_queued=self._max_queued)
        # The worker can claim it already: claims are written after it.
        self._worker.wake()
        try:
            task, _ = await creating
        except QueueFull as error:
            message = f"{error} Wait until some are done, or cancel one, and send it again."
            raise OperationRefused(429, "queue_full", message, retry_after=5) from error
        return task

    async def _fork(self, operation: Fork) -> str:
        from sidecar.engine.fork import Forks

        key = operation.idempotency_key
        if key is not None and (known := await self._journal.find_by_key(key)) is not None:
            return known
        old = await self._journal.task(operation.task_id)
        await self.admission.check_fork(old, await self._journal.request(old.id), operation.request.task)
        new = await Forks(self._journal, self.review, self.remotes).new_task(old, operation)
        return (await self._created(new)).id

    async def _cancel(self, task_id: str) -> str:
        try:
            cancelling = StatusEvent(status=Status.CANCELLING, by=current_actor())
            await self._journal.append(task_id, [cancelling], when=_CANCELLABLE)
        except WrongStatus as error:
            if error.status is Status.CANCELLING:
                return task_id
            message = f"The task has already ended ({error.status}); there is nothing left to cancel."
            raise OperationRefused(409, "task_ended", message) from error
        run = self._worker.run_of(task_id)
        running = self._worker.cancel(task_id)
        memory = run.state if run else TaskState.of(await self._journal.records(task_id))
        for child in memory.children.values():
            with suppress(OperationRefused, UnknownTask):
                await self._cancel(child.task_id)
        if not running and self._shared is not None and await self._shared.claimed(task_id):
            # The worker that has it stops it; if that died, the next one finishes the cancel.
            return task_id
        if memory.children and not running:
            # Its parts may still have processes: the next claim waits for them.
            self._worker.wake()
        elif not running:
            # No run to stop first.
            ended = CancelledEvent(killed=[], effects=memory.effects()), StatusEvent(status=Status.CANCELLED)
            # A worker may have claimed it since and ended it.
            with suppress(WrongStatus):
                await self._journal.append(task_id, ended, when=frozenset({Status.CANCELLING}))
        return task_id

    async def _delete(self, task_id: str) -> str:
        try:
            await self._journal.delete(task_id)
        except WrongStatus as error:
            message = f"The task is {error.status}; cancel it first, then delete it."
            raise OperationRefused(409, "task_active", message) from error
        return task_id

    async def _resume(self, task_id: str) -> str:
        try:
            queued = StatusEvent(status=Status.QUEUED, reason="resumed", by=current_actor())
            await self._journal.append(task_id, [queued], when=_RESUMABLE)
        except WrongStatus as error:
            if error.status is Status.COMPLETED:
                message = "The task is completed; there is nothing to resume. Send it a message to continue."
                raise OperationRefused(409, "task_completed", message) from error
            message = f"The task is {error.status}; only one that was cancelled, failed or interrupted can be resumed."
            raise OperationRefused(409, "task_active", message) from error
        if self._stalls is not None:
            self._stalls.release(task_id)
        self._worker.wake()
        return task_id

    async def _say(self, operation: SendMessage) -> str:
        task_id, text = operation.task_id, operation.text
        message_id = _message_id(operation.idempotency_key)
        # What a message does depends on the task's status. If that changes meanwhile, look again.
        for _ in range(10):
            task = await self._journal.task(task_id)
            status = task.status
            if status is Status.COMPLETED:
                await self.admission.check_words(text, task.workspace)
            message = UserMessage(
                id=message_id,
                text=text,
                opens=status is Status.COMPLETED,
                attachments=list(operation.attachments) or None,
                by_other=None if operation.by_person else True,
            )
            message_event = MessageEvent(message_id=message.id, role="user", agent="", text=text, by=current_actor())
            record = Record(RecordKind.MESSAGE, message.id, message.to_json())
            again = [StatusEvent(status=Status.QUEUED, reason="continued by a message")] if status in ENDED else []
            when = _UNFINISHED if status not in ENDED else frozenset({status})
            if status is Status.CANCELLING:
                raise OperationRefused(
                    409, "task_cancelling", "The task is being cancelled; send the message once it has ended."
                )
            run = self._worker.run_of(task_id)
            try:
                with run.inbox.expect() if run else nullcontext():
                    await self._journal.append(task_id, [message_event, *again], [record], when=when)
                    if not again:
                        self._deliver(task_id, record)
            except WrongStatus:
                continue
            except DuplicateRecord:
                return task_id
            if again:
                self._worker.wake()
            return task_id
        raise OperationRefused(
            409, "task_changing", "The task's status keeps changing, so the message was not sent; send it again."
        )

    async def _answer(self, operation: AnswerApproval) -> str:
        task_id, approval_id = operation.task_id, operation.approval_id
        memory = TaskState.of(await self._journal.records(task_id))
        requested = memory.approvals.get(approval_id)
        if requested is None:
            raise OperationRefused(404, "unknown_approval", f"The task asks for no approval {approval_id}.")
        state = "allowed" if operation.answer.decision == "allow" else "denied"
        event: ApprovalEvent = requested.model_copy(
            update={"state": state, "scope": operation.answer.scope, "by": current_actor()}
        )
        record = Record(RecordKind.ANSWER, approval_id, operation.answer.to_json())
        await self._append_answer(task_id, event, record)
        lasting = operation.answer.decision == "allow" and operation.answer.scope == "workspace"
        if self._approvals is not None and lasting:
            workspace = (await self._journal.task(task_id)).workspace
            self._approvals.add(workspace, requested.binding or "", requested.action, requested.argv, requested.cwd)
        self._deliver(task_id, record)
        return task_id

    async def _answer_question(self, operation: AnswerQuestion) -> str:
        task_id, question_id, answer = operation
        asked = TaskState.of(await self._journal.records(task_id)).questions.get(question_id)
        if asked is None:
            raise OperationRefused(404, "unknown_question", f"The task asks no question {question_id[:100]}.")
        if asked.choices and answer not in asked.choices:
            message = f"Answer with one of: {', '.join(asked.choices)}."
            raise OperationRefused(422, "answer_not_offered", message)
        event = answered_event(asked, answer, by=current_actor())
        record = Record(RecordKind.QUESTION_ANSWER, question_id, event.to_json())
        await self._append_answer(task_id, event, record)
        self._deliver(task_id, record)
        return task_id

    async def _append_answer(self, task_id: str, event: ApprovalEvent | QuestionEvent, record: Record) -> None:
        try:
            await self._journal.append(task_id, [event], [record], when=_UNFINISHED)
        except DuplicateRecord as error:
            raise OperationRefused(409, f"{event.type}_answered", f"This {event.type} is already answered.") from error
        except WrongStatus as error:
            message = f"The task is {error.status}; it no longer waits for an answer."
            raise OperationRefused(409, "task_ended", message) from error

    async def _revoke(self, task_id: str, approval_id: str) -> str:
        memory = TaskState.of(await self._journal.records(task_id))
        if approval_id not in {approval.approval_id for approval in memory.allowed()}:
            raise OperationRefused(
                404, "unknown_approval", f"Nothing was allowed for the task under the id {approval_id[:100]}."
            )
        allowed = memory.approvals[approval_id].model_copy(update={"state": "allowed", "scope": "once"})
        record = Record(RecordKind.REVOKED, approval_id, "{}")
        with suppress(DuplicateRecord):
            await self._journal.append(task_id, [allowed], [record])
        self._deliver(task_id, record)
        return task_id

    def _deliver(self, task_id: str, record: Record) -> None:
        """Deliver a record that was written from outside to the run, if there is one."""
        if run := self._worker.run_of(task_id):
            run.inbox.deliver(record)


#: Claimed but not started; or being cancelled, which the next claim finishes.
_AS_THEY_ARE = frozenset({Status.QUEUED, Status.CANCELLING})


_FROZE = (
    "The sidecar hung twice while this task ran, and was killed, so the task isn't resumed by itself. Its work "
    "is kept; resume it to try again."
)


async def enqueue_left_open(
    journal: Journal,
    owner: str,
    stalls: Stalls | None = None,
    on_status: Callable[[str, StatusEvent], None] = lambda task_id, event: None,
) -> int:
    """Queue again what an earlier sidecar left open, except tasks that froze it twice."""
    queued = 0
    for task in await journal.left_open(owner):
        if task.status is not Status.CANCELLING and stalls is not None and stalls.holds(task.id):
            if task.status is not Status.INTERRUPTED:
                await journal.append(task.id, [StatusEvent(status=Status.INTERRUPTED, reason=_FROZE)])
            continue
        queued += 1
        if task.status in _AS_THEY_ARE:
            await journal.release(task.id)
            continue
        died = StatusEvent(status=Status.INTERRUPTED, reason="The sidecar stopped while the task was running.")
        again = StatusEvent(status=Status.QUEUED, reason="resumed after the sidecar stopped")
        await journal.append(task.id, [again] if task.status is Status.INTERRUPTED else [died, again])
        on_status(task.id, died)
    if queued:
        log.info("Queued %d tasks again that an earlier sidecar left open", queued)
    return queued


def _message_id(idempotency_key: str | None) -> str:
    """The same key gives the same message, which a task's journal takes once."""
    if idempotency_key is None:
        return f"m_{secrets.token_hex(8)}"
    return f"m_{hashlib.sha256(idempotency_key.encode()).hexdigest()[:16]}"
