"""The executor's ledger of a task: intent records before effects, outcomes after them."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

from sidecar.engine.state import RecordKind
from sidecar.journal.port import Record
from sidecar.wire.events import ChangedFile, DiffEvent, Event, KilledProcess
from tools.ledger import ApprovalPrompt, IntentRecord, NewBlob, Outcome, Question

if TYPE_CHECKING:
    from sidecar.engine.approvals import Approvals
    from sidecar.engine.questions import Questions
    from sidecar.engine.task_log import TaskLog


class TaskLedger:
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
        self._log.put_blobs(blobs)
        if call_id in self._log.state.intents:
            self._log.enqueue(event)
        else:
            await self._log.append(event, records=[Record(RecordKind.INTENT, call_id, intent.to_json())], sync=True)
        await self._log.confirm_claim()

    async def settle(self, call_id: str, outcome: Outcome, event: Event, blobs: Sequence[NewBlob] = ()) -> None:
        self._log.put_blobs(blobs)
        changed = _changed_files(outcome)
        events = (event, DiffEvent(files=changed)) if changed else (event,)
        records = [Record(RecordKind.OUTCOME, call_id, outcome.to_json())]
        if call_id in self._log.state.intents:
            await self._log.append(*events, records=records)
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
