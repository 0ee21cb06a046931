"""What a task knows, read from its records: a resumed task does and asks nothing a second time."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from sidecar.engine.steps import StepKey
from sidecar.engine.timeline import Rewind, Timeline, plain
from sidecar.journal.port import Record
from sidecar.models.port import Reply, Stop
from sidecar.wire.base import Wire, optional
from sidecar.wire.events import ApprovalEvent, Effect, QuestionEvent
from sidecar.wire.tasks import ApprovalRequest, Attachment, Usage
from tools.ledger import IntentRecord, Outcome


class RecordKind(StrEnum):
    #: Results of steps, by StepKey; the body is what the step returned.
    STEP = "step"
    VERIFICATION = "verification"
    #: A model's reply (TurnRecord), by the turn's StepKey.
    TURN = "turn"
    #: What a step used beside its turns (Usage).
    USAGE = "usage"
    #: An agent was stopped before this turn; it takes the turn if you resume the task.
    STOPPED = "stopped"
    #: What the task had used (Usage) when it reached its budget.
    BUDGET = "budget"
    #: The task needed you; the body is how many messages there were.
    ESCALATION = "escalation"
    #: Tool calls, by call id.
    INTENT = "intent"
    OUTCOME = "outcome"
    #: You had a call run again whose effect was unknown; the body is the call id.
    REPEAT = "repeat"
    MESSAGE = "message"
    APPROVAL = "approval"
    ANSWER = "answer"
    REVOKED = "revoked"
    #: Questions (QuestionEvent) and their answers (QuestionEvent), by question id.
    QUESTION = "question"
    QUESTION_ANSWER = "question_answer"
    ROUND = "round"
    REWIND = "rewind"
    HUNK = "hunk"
    UNDO = "undo"
    UNDONE = "undone"
    #: A task that works on a part of this one (Child), by the StepKey of that part.
    CHILD = "child"
    #: Of a task on a remote: the commit it began with, and of each round the commit it became and whether it is pushed.
    REPOSITORY = "repository"


class RewoundTo(Wire):
    to: int


def read_rewinds(records: Sequence[Record]) -> list[Rewind]:
    return [
        Rewind(RewoundTo.model_validate_json(record.body).to, record.seq)
        for record in records
        if record.kind == RecordKind.REWIND
    ]


class UserMessage(Wire):
    """A message from you. One that `opens` starts a new round of a completed task."""

    id: str
    text: str
    opens: bool = False
    #: The messages it replaces, which came too late for the round before.
    of: list[str] | None = optional()
    #: It reports what you did, and asks for nothing.
    is_news: bool | None = optional()
    attachments: list[Attachment] | None = optional()
    #: Someone else wrote it, or a part of it: its words are no consent.
    by_other: bool | None = optional()


class Round(Wire):
    """One completed round of a conversation."""

    asked: str
    answered: str


class Child(Wire):
    """A task that works on a part of this one, and the ids of your messages that its request contains."""

    task_id: str
    message_ids: list[str] | None = optional(alias="told")


class TurnRecord(Wire):
    """A model's reply, and your messages that it answers."""

    heard: list[str]
    reply: Reply
    #: The branch of the task's timeline on which the model replied; the ids of its calls contain it.
    branch: int = 0
    #: How many tokens the history could have; a resumed task leaves out the same turns.
    room: int | None = optional()
    #: Our own messages to the model, before yours: its part of the work, a failed check, a reminder.
    instructions: list[str] | None = optional(alias="told")
    #: The agent worked in a conversation of its own, which the other agents don't share.
    apart: bool | None = optional()

    @property
    def is_complete(self) -> bool:
        return self.reply.stop in (Stop.END, Stop.TOOL_USE, Stop.LENGTH)


@dataclass(slots=True)
class TaskState:
    #: Results of steps, verifications included.
    steps: dict[StepKey, str] = field(default_factory=dict)
    turns: dict[StepKey, TurnRecord] = field(default_factory=dict)
    verifications: dict[StepKey, str] = field(default_factory=dict)
    stopped: set[StepKey] = field(default_factory=set)
    #: What the task had used at each budget stop.
    budget_stops: dict[StepKey, Usage] = field(default_factory=dict)
    #: How many messages there were at each escalation.
    escalations: dict[StepKey, int] = field(default_factory=dict)
    intents: dict[str, IntentRecord] = field(default_factory=dict)
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    repeats: Counter[str] = field(default_factory=Counter)
    messages: list[UserMessage] = field(default_factory=list)
    approvals: dict[str, ApprovalEvent] = field(default_factory=dict)
    answers: dict[str, ApprovalRequest] = field(default_factory=dict)
    questions: dict[str, QuestionEvent] = field(default_factory=dict)
    question_answers: dict[str, str] = field(default_factory=dict)
    rounds: list[Round] = field(default_factory=list)
    hunks: dict[str, str] = field(default_factory=dict)
    children: dict[StepKey, Child] = field(default_factory=dict)
    timeline: Timeline = field(default_factory=Timeline)

    @classmethod
    def of(cls, records: Sequence[Record]) -> "TaskState":
        """What the task knows now; rewound records don't count."""
        timeline = Timeline.of(read_rewinds(records))
        state = cls(timeline=timeline)
        # A call whose outcome was rewound has ended, even if its intent record counts.
        over = {
            record.key for record in records if record.kind == RecordKind.OUTCOME and not timeline.holds(record.seq)
        }
        for record in records:
            if timeline.holds(record.seq) and not (record.kind == RecordKind.INTENT and record.key in over):
                state.take(record)
        return state

    @property
    def branch(self) -> int:
        return self.timeline.branch

    def take(self, record: Record) -> None:
        match record.kind:
            case RecordKind.STEP:
                self.steps[StepKey.parse(record.key)] = record.body
            case RecordKind.VERIFICATION:
                key = StepKey.parse(record.key)
                self.steps[key] = self.verifications[key] = record.body
            case RecordKind.TURN:
                key = StepKey.parse(record.key)
                if key not in self.turns:
                    self.turns[key] = TurnRecord.model_validate_json(record.body)
            case RecordKind.STOPPED:
                self.stopped.add(StepKey.parse(record.key))
            case RecordKind.BUDGET:
                self.budget_stops[StepKey.parse(record.key)] = Usage.model_validate_json(record.body)
            case RecordKind.ESCALATION:
                self.escalations[StepKey.parse(record.key)] = int(record.body)
            case RecordKind.INTENT:
                self.intents[record.key] = IntentRecord.model_validate_json(record.body)
            case RecordKind.OUTCOME:
                self.outcomes[record.key] = Outcome.model_validate_json(record.body)
            case RecordKind.REPEAT:
                self.repeats[record.body] += 1
            case RecordKind.MESSAGE:
                self.messages.append(UserMessage.model_validate_json(record.body))
            case RecordKind.APPROVAL:
                self.approvals[record.key] = ApprovalEvent.model_validate_json(record.body)
            case RecordKind.ANSWER:
                self.answers[record.key] = ApprovalRequest.model_validate_json(record.body)
            case RecordKind.QUESTION:
                self.questions[record.key] = QuestionEvent.model_validate_json(record.body)
            case RecordKind.QUESTION_ANSWER:
                self.question_answers[record.key] = QuestionEvent.model_validate_json(record.body).answer or ""
            case RecordKind.REVOKED if record.key in self.answers:
                self.answers[record.key] = self.answers[record.key].model_copy(update={"scope": "once"})
            case RecordKind.ROUND:
                self.rounds.append(Round.model_validate_json(record.body))
            case RecordKind.CHILD:
                self.children[StepKey.parse(record.key)] = Child.model_validate_json(record.body)
            case RecordKind.HUNK:
                self.hunks[plain(record.key)] = record.body

    def allowed(self) -> list[ApprovalEvent]:
        """What you allowed for the whole task."""
        return [
            self.approvals[key]
            for key, answer in self.answers.items()
            if answer.scope == "task" and answer.decision == "allow" and key in self.approvals
        ]

    @property
    def current_round(self) -> int:
        return 1 + sum(message.opens for message in self.messages)

    def effects(self) -> list[Effect]:
        """Calls that took effect, or may have."""
        return [
            Effect(call_id=call_id, tool=intent.tool, summary=_effect(self.outcomes.get(call_id)))
            for call_id, intent in self.intents.items()
            if call_id not in self.outcomes or self.outcomes[call_id].status != "error"
        ]

    def files_modified(self) -> list[str]:
        planned = {
            file.path
            for call_id, intent in self.intents.items()
            if (outcome := self.outcomes.get(call_id)) is not None and outcome.status == "success"
            for file in intent.files
        }
        seen = {file.path for outcome in self.outcomes.values() for file in outcome.files}
        return sorted(planned | seen)


def _effect(outcome: Outcome | None) -> str:
    if outcome is None or outcome.status == "unknown":
        return "may or may not have taken effect"
    return "stopped midway; may have taken effect in part" if outcome.status == "cancelled" else outcome.summary
