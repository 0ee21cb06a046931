"""One run of a task: a worker claimed it and carries it out. Agents and tools reach its log through this."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

from sidecar.engine.approvals import Approvals, Clock, Questions, Slots, Waits
from sidecar.engine.budget import Budget
from sidecar.engine.inbox import Inbox
from sidecar.engine.state import RecordKind, TaskState, UserMessage
from sidecar.engine.steps import StepKey
from sidecar.engine.task_log import TaskLog
from sidecar.engine.turns import Turns
from sidecar.journal.port import Claim, Journal, Record
from sidecar.wire.events import ChangedFile, DiffEvent, Event, KilledProcess, StepEvent
from sidecar.wire.tasks import Attachment, StoredRequest
from tools.ledger import ApprovalPrompt, IntentRecord, NewBlob, Outcome, Question

if TYPE_CHECKING:
    from sidecar.engine.review import Review


class TaskLedger:
    """The executor's ledger of a task: intent records before effects, outcomes after them."""

    def __init__(
        self, log: "TaskLog", approvals: "Approvals", questions: "Questions", given_up: Callable[[], bool]
    ) -> None:
        self._log = log
        self._approvals = approvals
        self._questions = questions
        self._given_up = given_up
        self.killed_processes: list[KilledProcess] = []

    @property
    def given_up(self) -> bool:
        return self._given_up()

    def outcome(self, call_id: str) -> Outcome | None:
        return self._log.state.outcomes.get(call_id)

    def intent(self, call_id: str) -> IntentRecord | None:
        return self._log.state.intents.get(call_id)

    def enqueue(self, event: Event) -> None:
        self._log.enqueue(event)

    def live(self, event: Event) -> None:
        self._log.live(event)

    async def blob(self, digest: str) -> bytes | None:
        return await self._log.blob(digest)

    async def intend(self, call_id: str, intent: IntentRecord, event: Event, blobs: Sequence[NewBlob] = ()) -> None:
        await self._log.put_blobs(blobs)
        if call_id in self._log.state.intents:
            self._log.enqueue(event)
        else:
            await self._log.append(event, records=[Record(RecordKind.INTENT, call_id, intent.to_json())], sync=True)
        await self._log.confirm_claim()

    async def settle(self, call_id: str, outcome: Outcome, event: Event, blobs: Sequence[NewBlob] = ()) -> None:
        await self._log.put_blobs(blobs)
        changed = _changed_files(outcome)
        events = (event, DiffEvent(files=changed)) if changed else (event,)
        records = [Record(RecordKind.OUTCOME, call_id, outcome.to_json())]
        if call_id in self._log.state.intents:
            await self._log.append(*events, records=records, taken=True)
            self._log.state.outcomes[call_id] = outcome
        else:
            # The call had no effect: if its outcome is lost, so is all that was built on it, and it runs again.
            self._log.state.outcomes[call_id] = outcome
            self._log.enqueue(*events, records=records, taken=True)

    def killed(self, call_id: str, pid: int, command: str) -> None:
        self.killed_processes.append(KilledProcess(call_id=call_id, pid=pid, command=command))

    async def ask(self, question: ApprovalPrompt) -> Literal["allow", "deny"]:
        return await self._approvals.ask(question)

    async def choose(self, question: Question) -> str:
        return await self._questions.ask(question)

    def repeats(self, call_id: str) -> int:
        return self._log.state.repeats.get(call_id, 0)

    async def repeat(self, call_id: str) -> None:
        times = self.repeats(call_id) + 1
        await self._log.append(records=[Record(RecordKind.REPEAT, f"{call_id}:{times}", call_id)], sync=True)


def _changed_files(outcome: Outcome) -> list[ChangedFile]:
    details: Any = outcome.details
    # A command that failed, or was killed, may have changed files all the same.
    took_effect = outcome.status == "success" or outcome.files or outcome.irreversible
    files = details.get("files") if took_effect and isinstance(details, dict) else None
    if not isinstance(files, list) or details.get("preview") is True:
        return []
    return [
        ChangedFile(path=file["path"], change=file["change"], added=file["added"], removed=file["removed"])
        for file in files
        if isinstance(file, dict) and file.keys() >= {"path", "change", "added", "removed"}
    ]


class TaskRun:
    def __init__(
        self, claim: Claim, journal: Journal, slots: Slots, review: "Callable[[], Review | None]" = lambda: None
    ) -> None:
        self.task_id = claim.task_id
        self._review = review
        self.request: StoredRequest = claim.request
        #: The workspace that the present one is a worktree of; empty if it is the one that you named.
        self.origin = ""
        #: Why the run is being stopped: you cancelled it, the sidecar is stopping, or another worker has the task.
        self.stopped_by: Literal["cancel", "shutdown", "lost"] | None = None
        #: Whether the run is writing how it ended, which nothing interrupts.
        self.ending = False
        #: The steps that have started and not ended, by their number.
        self.open_steps: dict[int, StepEvent] = {}
        self.clock = Clock()
        self.log = TaskLog(claim, journal)
        self.inbox = Inbox(self.log)
        self.budget = Budget(self.log, claim.records, claim.request.options)
        self.waits = Waits(self.log, slots, self.clock)
        approvals = Approvals(self.log, self.inbox, self.waits)
        self.questions = Questions(self.log, self.inbox, self.waits, can_ask=claim.request.options.can_ask)
        self.ledger = TaskLedger(self.log, approvals, self.questions, lambda: self.stopped_by == "cancel")
        self.turns = Turns(self.log, self.budget, self.inbox, lambda: self.stopped_by == "shutdown")

    @property
    def review(self) -> "Review | None":
        """Rewinds tasks, also this one."""
        return self._review()

    @property
    def state(self) -> TaskState:
        return self.log.state

    @property
    def instruction(self) -> str:
        """What you asked for in the present round, in your own words."""
        opening = self._opening
        return self.request.task if opening is None else opening.text

    @property
    def consent(self) -> str:
        """The instruction if you wrote it yourself, which counts as consent to the commands it orders; else nothing."""
        opening = self._opening
        yours = self.request.options.by_person and (opening is None or not opening.by_other)
        return self.instruction if yours else ""

    @property
    def attachments(self) -> Sequence[Attachment]:
        """What you attached to the message that opened the present round."""
        opening = self._opening
        return self.request.context.attachments if opening is None else opening.attachments or ()

    @property
    def _opening(self) -> UserMessage | None:
        return next((message for message in reversed(self.state.messages) if message.opens), None)

    def move_to(self, worktree: str) -> None:
        """Work in a worktree of the workspace."""
        self.origin = self.origin or self.request.workspace
        self.request = self.request.model_copy(update={"workspace": worktree})

    async def record_step(self, key: StepKey, value: str, *events: Event, read_only: bool = False) -> None:
        """Record the result of a step: `state.steps` has it from now on, also in a later run of the task.

        The result of a `read_only` step isn't waited for: if it is lost, so is all that was built on it.
        """
        kind = RecordKind.VERIFICATION if key.is_verification else RecordKind.STEP
        records = [self.log.record(kind, key, value)]
        if read_only:
            self.log.enqueue(*events, records=records)
        else:
            await self.log.append(*events, records=records)

    def fail_open_steps(self, why: str) -> list[Event]:
        return [step.model_copy(update={"state": "failed", "message": why}) for step in self.open_steps.values()]

    async def open_round(self, done: Record, late: Sequence[UserMessage]) -> None:
        await self.inbox.open_round(done, late)
        self.budget.open_round()
