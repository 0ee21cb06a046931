"""What a task tells those who watch it. The order of a task's events is the order of their `seq`."""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, JsonValue

from sidecar.wire.base import JsonObject, Wire, optional
from sidecar.wire.intents import Intent
from sidecar.wire.tasks import Status, TaskResult


def _always_filled_in(schema: dict[str, Any]) -> None:
    schema["required"] = ["type", "taskId", "at", *(name for name in schema.get("required", []) if name != "type")]


class Event(Wire):
    """The fields that the journal fills in; a live event, which is never stored, has no `seq`."""

    model_config = ConfigDict(json_schema_extra=_always_filled_in)

    type: str
    seq: int | None = optional()
    task_id: str = optional("")
    at: str = optional("")


class StatusEvent(Event):
    type: Literal["status"] = "status"
    status: Status
    reason: str | None = optional()
    rewound_to: Annotated[
        int | None, Field(description="The task was taken back to this event; what came between no longer counts.")
    ] = optional()


class RouteEvent(Event):
    type: Literal["route"] = "route"
    intent: Intent
    confidence: float
    pipeline: list[str]
    why: str


class StepEvent(Event):
    type: Literal["step"] = "step"
    step: int
    total: int
    message: str
    agent: str
    state: Literal["started", "completed", "failed"]


class ModelEvent(Event):
    type: Literal["model"] = "model"
    role: str
    provider: str
    model: str
    fallback_from: str | None = optional()
    reason: str | None = optional()


#: Whoever comes in the middle of something live is told at once what was said of it before.
Whole = Annotated[
    bool | None, Field(description="Everything so far, also if that is nothing: it replaces what one has.")
]


class DeltaEvent(Event):
    type: Literal["delta"] = "delta"
    message_id: str
    role: Literal["user", "assistant"]
    agent: str
    text: str
    kind: Literal["text", "thinking"]
    whole: Whole = optional()


class MessageEvent(Event):
    type: Literal["message"] = "message"
    message_id: str
    role: Literal["user", "assistant"]
    agent: str
    text: str


ToolStatus = Literal["pending", "running", "success", "error", "cancelled", "unknown"]


class ErrorBody(Wire):
    code: str
    message: str
    advice: Annotated[str | None, Field(description="What a model may do about it; `message` is for people, too.")] = (
        optional()
    )


class ToolEvent(Event):
    type: Literal["tool"] = "tool"
    call_id: str
    tool: str
    status: ToolStatus
    args: JsonObject
    summary: str
    duration_ms: float
    cached: bool
    executor: str
    error: ErrorBody | None = optional()
    details: JsonValue = optional()


class ToolOutputEvent(Event):
    type: Literal["tool_output"] = "tool_output"
    call_id: str
    stream: Literal["stdout", "stderr"]
    text: str
    whole: Whole = optional()


class ApprovalEvent(Event):
    type: Literal["approval"] = "approval"
    approval_id: str
    call_id: str
    action: str
    argv: list[str] | None = optional()
    cwd: str | None = optional()
    diff: str | None = optional()
    environment: Annotated[
        list[str] | None, Field(description="The names of the environment's values that a command gets.")
    ] = optional()
    binding: Annotated[str | None, Field(description="Stands for exactly what was asked.")] = optional()
    why: str
    state: Literal["requested", "allowed", "denied"]
    scope: Annotated[
        Literal["once", "task", "workspace"] | None, Field(description="For how long the answer holds.")
    ] = optional()


class PlanItem(Wire):
    id: str
    title: str
    state: Literal["pending", "running", "done", "failed"]


class PlanEvent(Event):
    type: Literal["plan"] = "plan"
    items: list[PlanItem]


class VerdictIssue(Wire):
    path: str | None = optional()
    line: int | None = optional()
    severity: Literal["error", "warning", "hint"]
    text: str


class VerdictEvent(Event):
    type: Literal["verdict"] = "verdict"
    approved: bool
    issues: list[VerdictIssue]


class HandoffContext(Wire):
    files_modified: list[str]
    current_state: str
    remaining_tasks: list[str]


class HandoffEvent(Event):
    type: Literal["handoff"] = "handoff"
    from_: Annotated[str, Field(alias="from")]
    to: str
    context: HandoffContext
    reason: str


class ChangedFile(Wire):
    path: str
    change: Literal["created", "modified", "deleted", "renamed"]
    added: int
    removed: int


class DiffEvent(Event):
    type: Literal["diff"] = "diff"
    files: list[ChangedFile]


class Check(Wire):
    name: str
    command: str
    exit_code: int | None
    passed: bool
    duration_ms: float
    evidence: str


class VerificationEvent(Event):
    type: Literal["verification"] = "verification"
    passed: bool
    attempt: int
    checks: list[Check]
    notes: Annotated[
        list[str] | None, Field(description="What else is known: failures from before, flaky tests, what was not run.")
    ] = optional()


class RetryEvent(Event):
    type: Literal["retry"] = "retry"
    attempt: int
    of: int
    hints: list[str]
    error: str


class EscalationEvent(Event):
    type: Literal["escalation"] = "escalation"
    reason: str
    attempts: int
    suggestions: list[str]


class UsageEvent(Event):
    type: Literal["usage"] = "usage"
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    cost_usd: float


class CompleteEvent(Event):
    type: Literal["complete"] = "complete"
    result: TaskResult


class ErrorEvent(Event):
    type: Literal["error"] = "error"
    code: str
    message: str
    recoverable: bool


class KilledProcess(Wire):
    call_id: str
    pid: int
    command: str


class Effect(Wire):
    call_id: str
    tool: str
    summary: str


class CancelledEvent(Event):
    type: Literal["cancelled"] = "cancelled"
    killed: list[KilledProcess]
    effects: list[Effect]


EventKind = (
    StatusEvent
    | RouteEvent
    | StepEvent
    | ModelEvent
    | DeltaEvent
    | MessageEvent
    | ToolEvent
    | ToolOutputEvent
    | ApprovalEvent
    | PlanEvent
    | VerdictEvent
    | HandoffEvent
    | DiffEvent
    | VerificationEvent
    | RetryEvent
    | EscalationEvent
    | UsageEvent
    | CompleteEvent
    | ErrorEvent
    | CancelledEvent
)
AnyEvent = Annotated[EventKind, Field(discriminator="type")]


class EventPage(Wire):
    events: list[AnyEvent]
    last_seq: Annotated[int, Field(description="The newest event there is, on this page or a later one.")]
    more: bool


LIVE_TYPES = frozenset({"delta", "tool_output"})
