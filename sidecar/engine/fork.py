"""Forking: a new task that starts at a checkpoint of another one, with another instruction or another model.

The files go back first, in the old task's own history; then the new task is written with all that it knows, at once.
If the process dies in between, a retry finds the files as they should be and goes on. The new task copies what was
said and answered, so nothing is asked or done again. It doesn't copy approvals, which were for the other task, or
changes of files: those of the new task are its own.
"""

import json
import secrets
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from sidecar.engine.errors import OperationRefused
from sidecar.engine.operations import Fork
from sidecar.engine.places import is_remote
from sidecar.engine.review import ForkedFiles, Review
from sidecar.engine.state import RecordKind, Round, TaskState, TurnRecord, UserMessage, read_rewinds
from sidecar.engine.steps import CallKey
from sidecar.engine.timeline import Timeline, plain
from sidecar.engine.undo import STILL
from sidecar.journal.port import Journal, NewTask, Record, StoredEvent, TaskFilter
from sidecar.wire.events import Event, MessageEvent, StatusEvent
from sidecar.wire.tasks import ForkedFrom, ForkRequest, Options, Status, StoredRequest, Task, Usage
from sidecar.wire.text import listed
from tools.ledger import Outcome

if TYPE_CHECKING:
    from sidecar.engine.review import RemoteFiles

_PAGE = 2_000
_NAMED = 20

#: Show at most this many messages in the new task; its agents know them all.
_SHOWN = 200


class Beginning(NamedTuple):
    """What a new task takes over from another one at one of its events."""

    records: list[Record]
    messages: list[MessageEvent]
    #: Whether an agent has replied yet; before that the task is only its request.
    begun: bool
    #: Whether the round was complete, so that there is nothing to go on with.
    answered: bool


def beginning(
    task_id: str, new_id: str, seq: int, records: Sequence[Record], events: Sequence[StoredEvent]
) -> Beginning:
    timeline = Timeline.of([rewind for rewind in read_rewinds(records) if rewind.at <= seq])
    held = [record for record in records if record.seq <= seq and timeline.holds(record.seq)]
    memory = TaskState.of(held)
    copied = [copy for record in held if (copy := _copied(record, task_id, new_id)) is not None]
    shown = [event for event in events if event.seq is not None and event.seq <= seq and timeline.holds(event.seq)]
    said = [_message(event, task_id, new_id) for event in shown if event.type == "message"]
    messages = [message for message in said if message.text]
    return Beginning(
        list({(record.kind, record.key): record for record in copied}.values()),
        messages[:1] + messages[1:][-_SHOWN:],
        begun=bool(memory.turns),
        answered=len(memory.rounds) >= memory.current_round,
    )


def chosen(options: Options, request: ForkRequest) -> Options:
    """The other task's options, except those that the request names; in a new conversation."""
    named = {name: getattr(request.options, name) for name in request.options.model_fields_set}
    given = request.options.models
    roles = {role: getattr(given, role) for role in given.model_fields_set}
    models = options.models.model_copy(update=roles)
    return options.model_copy(update={"conversation_id": None, **named, "models": models})


def earlier(rounds: Sequence[Round]) -> list[Record]:
    """Earlier rounds of the other task's conversation, for a task outside it."""
    return [Record(RecordKind.ROUND, f"earlier.{number}", each.to_json()) for number, each in enumerate(rounds)]


def _copied(record: Record, task_id: str, new_id: str) -> Record | None:
    match record.kind:
        case RecordKind.TURN:
            # The other task has paid for it.
            turn = TurnRecord.model_validate_json(record.body)
            return Record(RecordKind.TURN, plain(record.key), _unpaid(turn).to_json())
        case RecordKind.STEP | RecordKind.VERIFICATION | RecordKind.STOPPED | RecordKind.ESCALATION:
            return Record(record.kind, plain(record.key), record.body)
        case RecordKind.OUTCOME if (call := CallKey.parse(record.key)) and call.task_id == task_id:
            outcome = Outcome.model_validate_json(record.body).model_copy(update={"files": [], "irreversible": []})
            return Record(RecordKind.OUTCOME, str(call.copied_to(new_id)), outcome.to_json())
        case RecordKind.MESSAGE:
            return Record(RecordKind.MESSAGE, record.key, UserMessage.model_validate_json(record.body).to_json())
        case RecordKind.ROUND:
            return Record(RecordKind.ROUND, plain(record.key), record.body)
    return None


def _unpaid(turn: TurnRecord) -> TurnRecord:
    return turn.model_copy(update={"branch": 0, "reply": turn.reply.model_copy(update={"usage": Usage()})})


def _message(event: StoredEvent, task_id: str, new_id: str) -> MessageEvent:
    data = json.loads(event.data)
    return MessageEvent(
        message_id=data["messageId"].replace(task_id, new_id), role=data["role"], agent=data["agent"], text=data["text"]
    )


class Forks:
    def __init__(self, journal: Journal, review: Review, remotes: "RemoteFiles | None" = None) -> None:
        self._journal = journal
        self._review = review
        self._remotes = remotes

    async def new_task(self, old: Task, operation: Fork) -> NewTask:
        """The new task, not yet created. Its first event names the files that could not be restored."""
        wanted = operation.request
        seq = old.last_seq if wanted.seq is None else wanted.seq
        if seq > old.last_seq:
            raise OperationRefused(
                422, "unknown_event", f"The task has no event {seq}; its last one is {old.last_seq}."
            )
        if old.status not in STILL:
            raise OperationRefused(409, "task_active", f"The task is {old.status}. Cancel it first, then fork it.")
        task_id = f"t_{secrets.token_hex(10)}"
        at = await self._review.with_changes(old.id, seq)
        records, events = await self._journal.records(old.id), await self._stored_events(old.id)
        start = beginning(old.id, task_id, at, records, events)
        if start.answered and wanted.task is None:
            message = (
                "The task was complete at that event. Say what the new task should do, or choose an earlier event."
            )
            raise OperationRefused(422, "nothing_left", message)
        reason = f"forked from {old.id} at event {seq}"
        files = ForkedFiles()
        if is_remote(old) and self._remotes is not None:
            # The new task has a branch of its own, so the files of the old one stay.
            files = await self._remotes.fork(old, records, task_id, old.last_seq if wanted.keep_files else at)
        elif not wanted.keep_files:
            why = "For a new task that starts there: "
            done = await self._review.rewind(old.id, at, conversation=False, why=why)
            files = ForkedFiles(left_out=[file.path for file in (*done.conflicts, *done.not_restored)])
        left = files.left_out
        reason += f"; files left as they are: {listed(left, _NAMED)}" if left else ""
        new = await self._forked(old, task_id, seq, operation, start, reason)
        return new._replace(events=[*new.events, *files.events], records=[*new.records, *files.records])

    async def _forked(
        self, old: Task, task_id: str, seq: int, operation: Fork, start: Beginning, reason: str
    ) -> NewTask:
        wanted, request = operation.request, await self._journal.request(old.id)
        options = chosen(request.options, wanted)
        # In the middle of a round the text is one more message; otherwise it is the new task.
        own = wanted.task is not None and (start.answered or not start.begun)
        stored = request.model_copy(
            update={
                "task": wanted.task if own else request.task,
                "conversation_id": options.conversation_id or f"c_{secrets.token_hex(10)}",
                "options": options,
                "forked_from": ForkedFrom(task_id=old.id, seq=seq),
            }
        )
        opening = start.messages[0].text if start.begun and start.messages else stored.task
        first = MessageEvent(message_id=f"{task_id}.asked", role="user", agent="", text=opening)
        events: list[Event] = [StatusEvent(status=Status.QUEUED, reason=reason), first]
        records = await self._before(old, request)
        if start.begun:
            events += start.messages[1:]
            records += start.records
        if start.begun and wanted.task is not None:
            message = UserMessage(id=f"m_{secrets.token_hex(8)}", text=wanted.task, opens=start.answered)
            events.append(MessageEvent(message_id=message.id, role="user", agent="", text=message.text))
            records.append(Record(RecordKind.MESSAGE, message.id, message.to_json()))
        return NewTask(task_id, stored, events, operation.idempotency_key, records)

    async def _before(self, old: Task, request: StoredRequest) -> list[Record]:
        """The rounds of the old task's conversation before it."""
        if request.options.conversation_id is None:
            return []
        tasks = await self._journal.tasks(TaskFilter(conversation=request.conversation_id), before=old.id)
        older = reversed(tasks)
        return earlier(
            [
                Round(asked=task.task, answered=task.result.summary)
                for task in older
                if task.status is Status.COMPLETED and task.result is not None
            ]
        )

    async def _stored_events(self, task_id: str) -> list[StoredEvent]:
        found: list[StoredEvent] = []
        after, last = 0, 1
        while after < last:
            page = await self._journal.events(task_id, after, _PAGE)
            found += [event for event in page.events if event.type == "message"]
            after, last = (page.events[-1].seq or page.last_seq) if page.events else page.last_seq, page.last_seq
        return found
