"""The events of a task, ordered by `seq`."""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from sidecar.wire.base import ErrorBody, ToolStatus, UncheckedJson, UncheckedJsonObject, Wire, optional
from sidecar.wire.intents import Intent
from sidecar.wire.tasks import Status, TaskResult, Usage


def _mark_required(schema: dict[str, Any]) -> None:
    schema["required"] = ["type", "taskId", "at", *(name for name in schema.get("required", []) if name != "type")]


Actor = Annotated[str | None, Field(description="Whose token asked for it; absent for your own.")]


class Event(Wire):
    """The fields every event has; the journal fills them in. Live events are never stored and have no `seq`."""

    model_config = ConfigDict(json_schema_extra=_mark_required)

    type: str
    seq: int | None = optional()
    task_id: str = optional("")
    at: str = optional("")


class StatusEvent(Event):
    """The task's new status."""

    type: Literal["status"] = "status"
    status: Status
    reason: str | None = optional()
    rewound_to: Annotated[
        int | None, Field(description="The event the task was rewound to; events in between no longer count.")
    ] = optional()
    by: Actor = optional()


class WorktreeEvent(Event):
    """The worktree that an isolated task works in was made, merged into the workspace, or discarded."""

    type: Literal["worktree"] = "worktree"
    state: Literal["created", "merged", "discarded"]
    path: str
    files: Annotated[list[str] | None, Field(description="What the merge changed.")] = optional()
    left_out: Annotated[list[str] | None, Field(description="Your uncommitted changes that are not in it.")] = (
        optional()
    )
    combined: Annotated[
        bool | None, Field(description="Your workspace had changed meanwhile: no check has seen this combination.")
    ] = optional()
    by: Actor = optional()


class BranchEvent(Event):
    """A worker cloned the task's remote, or what the task changed is a branch there, or could not be pushed."""

    type: Literal["branch"] = "branch"
    state: Literal["cloned", "pushed", "kept"]
    remote: str
    branch: Annotated[str, Field(description="The branch that it began with, or the one that has the result.")]
    commit: str
    why: Annotated[str | None, Field(description="Why it was not pushed.")] = optional()
    left_out: Annotated[
        list[str] | None, Field(description="Files that the task made elsewhere and that could not be brought along.")
    ] = optional()


class RouteEvent(Event):
    """The intent and pipeline the router chose, and why."""

    type: Literal["route"] = "route"
    intent: Intent
    confidence: float
    pipeline: list[str]
    why: str


class StepEvent(Event):
    """An agent started, completed or failed its step. A step stopped by a cancel fails and starts again on resume."""

    type: Literal["step"] = "step"
    step: int
    total: int
    message: str
    agent: str
    state: Literal["started", "completed", "failed"]


class ModelEvent(Event):
    """The model that plays a role from here on; `reason` also says when earlier results no longer fit its context."""

    type: Literal["model"] = "model"
    role: str
    provider: str
    model: str
    fallback_from: str | None = optional()
    reason: str | None = optional()


#: A reader that joins in the middle of something live first gets all of it so far.
Whole = Annotated[
    bool | None, Field(description="`text` is everything so far, even if empty, and replaces earlier parts.")
]


class DeltaEvent(Event):
    """A part of a message, live."""

    type: Literal["delta"] = "delta"
    message_id: str
    role: Literal["user", "assistant"]
    agent: str
    text: str
    kind: Literal["text", "thinking"]
    whole: Whole = optional()


class MessageEvent(Event):
    """A complete message. After a retry the new message has the same `messageId` and replaces the old one."""

    type: Literal["message"] = "message"
    message_id: str
    role: Literal["user", "assistant"]
    agent: str
    text: Annotated[str, Field(description="Empty for a turn that only thought before its calls.")]
    thinking: str | None = optional()
    thinking_ms: Annotated[float | None, Field(description="How long it thought.")] = optional()
    by: Actor = optional()


class ToolEvent(Event):
    """A tool call and its outcome."""

    type: Literal["tool"] = "tool"
    call_id: str
    message_id: Annotated[str | None, Field(description="The message of the turn that made the call.")] = optional()
    tool: str
    status: ToolStatus
    args: UncheckedJsonObject
    summary: str
    duration_ms: float
    cached: bool
    executor: str
    error: ErrorBody | None = optional()
    details: UncheckedJson = optional()


class ToolOutputEvent(Event):
    """Output of a running command, live."""

    type: Literal["tool_output"] = "tool_output"
    call_id: str
    stream: Literal["stdout", "stderr"]
    text: str
    whole: Whole = optional()


class ApprovalEvent(Event):
    """A call that needs your approval, and later your answer."""

    type: Literal["approval"] = "approval"
    approval_id: str
    call_id: str
    tool: str | None = optional()
    action: str
    argv: list[str] | None = optional()
    cwd: str | None = optional()
    diff: str | None = optional()
    omitted_lines: Annotated[int | None, Field(description="How many lines of the diff are left out.")] = optional()
    since: Annotated[
        Literal["trusted", "asked"] | None,
        Field(description="The diff shows what changed since then; without it, what the call would write."),
    ] = optional()
    environment: Annotated[
        list[str] | None, Field(description="Names of the environment variables the command gets.")
    ] = optional()
    binding: Annotated[str | None, Field(description="Hash of exactly what was asked.")] = optional()
    why: str
    state: Literal["requested", "allowed", "denied"]
    scope: Annotated[Literal["once", "task", "workspace"] | None, Field(description="How long the answer holds.")] = (
        optional()
    )
    by: Actor = optional()


class QuestionEvent(Event):
    """A question to you, and later its answer; `by` says who answered if it wasn't you."""

    type: Literal["question"] = "question"
    question_id: str
    text: str
    choices: Annotated[list[str] | None, Field(description="The possible answers; without them, any text.")] = (
        optional()
    )
    state: Literal["asked", "answered"]
    answer: str | None = optional()
    by: Annotated[
        str | None,
        Field(description="`policy`: the task may not wait for you, so it took the safe choice. Else whose token."),
    ] = optional()


class PlanItem(Wire):
    id: str
    title: str
    state: Literal["pending", "running", "done", "failed"]
    agent: Annotated[str | None, Field(description="Who works on it, in a crew.")] = optional()
    task_id: Annotated[str | None, Field(description="The task that works on it, in a crew.")] = optional()
    status: Annotated[Status | None, Field(description="The status of that task.")] = optional()


class PlanEvent(Event):
    """The planner's steps and their state. Every change sends the whole list."""

    type: Literal["plan"] = "plan"
    items: list[PlanItem]


class VerdictIssue(Wire):
    path: str | None = optional()
    line: int | None = optional()
    severity: Literal["error", "warning", "hint"]
    text: str


class VerdictEvent(Event):
    """The reviewer's decision."""

    type: Literal["verdict"] = "verdict"
    approved: bool
    issues: list[VerdictIssue]


class HandoffContext(Wire):
    files_modified: list[str]
    current_state: str
    remaining_tasks: list[str]


class HandoffEvent(Event):
    """One agent hands over to the next."""

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
    """Files that a tool call or command changed. Without files, only the checks before no longer hold."""

    type: Literal["diff"] = "diff"
    files: list[ChangedFile]
    by: Actor = optional()


class Check(Wire):
    name: str
    command: str
    exit_code: int | None
    passed: bool
    duration_ms: float
    evidence: str


class VerificationEvent(Event):
    """The checks that ran after the last edit."""

    type: Literal["verification"] = "verification"
    passed: bool
    attempt: int
    checks: list[Check]
    notes: Annotated[
        list[str] | None, Field(description="Earlier failures, flaky tests, and checks that didn't run.")
    ] = optional()


class RetryEvent(Event):
    """A step, or a change that failed its checks, is tried again."""

    type: Literal["retry"] = "retry"
    attempt: int
    of: int
    hints: list[str]
    error: str


class EscalationEvent(Event):
    """The task needs you."""

    type: Literal["escalation"] = "escalation"
    reason: str
    attempts: int
    suggestions: list[str]


class UsageEvent(Event):
    """Tokens and cost so far."""

    type: Literal["usage"] = "usage"
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    cost_usd: float
    context_tokens: Annotated[int | None, Field(description="The conversation's length at the last request.")] = (
        optional()
    )
    context_limit: Annotated[int | None, Field(description="The model's context window, if it is known.")] = optional()
    spent: Annotated[Usage | None, Field(description="What the last request used of it.")] = optional()
    model: Annotated[str | None, Field(description="`provider/name` of that request.")] = optional()
    agent: Annotated[str | None, Field(description="The agent that made it.")] = optional()


class CompleteEvent(Event):
    """The result of the task."""

    type: Literal["complete"] = "complete"
    result: TaskResult


class LabelEvent(Event):
    """You renamed, pinned or archived the task, or a model named it."""

    type: Literal["label"] = "label"
    title: str | None = optional()
    pinned: bool | None = optional()
    archived: bool | None = optional()
    by: Actor = optional()


class ErrorEvent(Event):
    """Why the task failed; `recoverable` says whether a resume may help."""

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
    """What a cancel killed, and what had already happened."""

    type: Literal["cancelled"] = "cancelled"
    killed: list[KilledProcess]
    effects: list[Effect]


EventKind = (
    StatusEvent
    | WorktreeEvent
    | BranchEvent
    | RouteEvent
    | StepEvent
    | ModelEvent
    | DeltaEvent
    | MessageEvent
    | ToolEvent
    | ToolOutputEvent
    | ApprovalEvent
    | QuestionEvent
    | PlanEvent
    | VerdictEvent
    | HandoffEvent
    | DiffEvent
    | VerificationEvent
    | RetryEvent
    | EscalationEvent
    | UsageEvent
    | CompleteEvent
    | LabelEvent
    | ErrorEvent
    | CancelledEvent
)
AnyEvent = Annotated[EventKind, Field(discriminator="type")]


class EventPage(Wire):
    events: list[AnyEvent]
    last_seq: Annotated[int, Field(description="The newest event of the task, on this page or a later one.")]
    more: bool


LIVE_TYPES = frozenset({"delta", "tool_output"})
