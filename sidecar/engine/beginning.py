"""A new task that begins where another one was: with its conversation as it was at one of its events, and nothing more.

What was said and answered is copied, so that it is neither asked nor done again. What was allowed is not: that was for
the other task. Neither is what happened to files: the new task's changes are its own.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from sidecar.engine.state import RecordKind, Round, TaskState, TurnRecord, UserMessage, read_rewinds
from sidecar.engine.timeline import Timeline, plain
from sidecar.journal.port import Record, StoredEvent
from sidecar.wire.events import MessageEvent
from sidecar.wire.tasks import ForkRequest, Options, Usage
from tools.ledger import Outcome

#: More of what was said is not shown in the new task; the agents know it all the same.
_SHOWN = 200


@dataclass(frozen=True, slots=True)
class Beginning:
    """What a task knows at one of its events, as another task takes it over."""

    records: list[Record]
    messages: list[MessageEvent]
    #: Whether an agent has said anything yet; before that a task is only its request.
    begun: bool
    #: Whether what was asked for has been answered, so that there is nothing to go on with.
    answered: bool


def beginning(task_id: str, new_id: str, seq: int, records: Sequence[Record], said: Sequence[StoredEvent]) -> Beginning:
    timeline = Timeline.of([rewind for rewind in read_rewinds(records) if rewind.at <= seq])
    held = [record for record in records if record.seq <= seq and timeline.holds(record.seq)]
    memory = TaskState.of(held)
    copied = [copy for record in held if (copy := _copied(record, task_id, new_id)) is not None]
    shown = [event for event in said if event.seq is not None and event.seq <= seq and timeline.holds(event.seq)]
    messages = [_message(event, task_id, new_id) for event in shown if event.type == "message"]
    return Beginning(
        list({(record.kind, record.key): record for record in copied}.values()),
        messages[:1] + messages[1:][-_SHOWN:],
        begun=bool(memory.turns),
        answered=len(memory.rounds) >= memory.current_round,
    )


def chosen(options: Options, request: ForkRequest) -> Options:
    """The other task's options, but for what is named. The conversation is a new one."""
    named = {name: getattr(request.options, name) for name in request.options.model_fields_set}
    given = request.options.models
    roles = {role: getattr(given, role) for role in given.model_fields_set}
    models = options.models.model_copy(update=roles)
    return options.model_copy(update={"conversation_id": None, **named, "models": models})


def earlier(rounds: Sequence[Round]) -> list[Record]:
    """What was said in the conversation before the other task, for one that is not part of it."""
    return [Record(RecordKind.ROUND, f"earlier.{number}", each.to_json()) for number, each in enumerate(rounds)]


def _copied(record: Record, task_id: str, new_id: str) -> Record | None:
    match record.kind:
        case RecordKind.TURN:
            # What it cost was paid by the other task.
            turn = TurnRecord.model_validate_json(record.body)
            return Record(RecordKind.TURN, plain(record.key), _unpaid(turn).to_json())
        case RecordKind.STEP | RecordKind.VERIFICATION | RecordKind.STOPPED | RecordKind.ESCALATION:
            return Record(record.kind, plain(record.key), record.body)
        case RecordKind.OUTCOME if record.key.startswith(f"{task_id}."):
            outcome = Outcome.model_validate_json(record.body).model_copy(update={"files": [], "irreversible": []})
            return Record(RecordKind.OUTCOME, plain(new_id + record.key[len(task_id) :]), outcome.to_json())
        case RecordKind.MESSAGE:
            return Record(RecordKind.MESSAGE, record.key, UserMessage.model_validate_json(record.body).to_json())
        case RecordKind.ROUND:
            return Record(RecordKind.ROUND, plain(record.key), record.body)
    return None


def _unpaid(turn: TurnRecord) -> TurnRecord:
    return turn.model_copy(update={"branch": 0, "reply": turn.reply.model_copy(update={"usage": Usage()})})


def _message(event: StoredEvent, task_id: str, new_id: str) -> MessageEvent:
    told = json.loads(event.data)
    return MessageEvent(
        message_id=told["messageId"].replace(task_id, new_id), role=told["role"], agent=told["agent"], text=told["text"]
    )
