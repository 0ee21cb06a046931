"""A task's row, folded from its events. The same events always give the same row."""

import re
from typing import Any

from pydantic import Field

from sidecar.wire import events as wire
from sidecar.wire.base import Wire
from sidecar.wire.intents import Intent
from sidecar.wire.tasks import ENDED, Progress, Status, StoredRequest, Task, TaskError, TaskResult, Usage

#: Marks at the beginning of a line that aren't part of the sentence: headings, lists, quotations.
_MARKS = re.compile(r"^[\s#>*+-]+(?=\S)")
_SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s")
_TITLE = 80
_RESTARTS = frozenset({Status.QUEUED, Status.RUNNING})


class TaskProjection(Wire):
    status: Status = Status.QUEUED
    intent: Intent | None = None
    pipeline: list[str] = []
    progress: Progress = Field(default_factory=lambda: Progress(step=0, total=0, message=""))
    started_at: str | None = None
    ended_at: str | None = None
    result: TaskResult | None = None
    error: TaskError | None = None
    verified: bool | None = None
    usage: Usage = Field(default_factory=Usage)
    title: str = ""
    pinned: bool = False
    archived: bool = False
    worktree: str | None = None
    result_branch: str | None = None


def fold(state: TaskProjection, event: wire.Event, at: str) -> TaskProjection:
    match event:
        case wire.StatusEvent(status=status):
            changes: dict[str, Any] = {"status": status, "ended_at": at if status in ENDED else None}
            if status is Status.RUNNING and state.started_at is None:
                changes["started_at"] = at
            if status in _RESTARTS:
                changes |= {"error": None, "result": None}
            return state.model_copy(update=changes)
        case wire.RouteEvent():
            return state.model_copy(update={"intent": event.intent, "pipeline": event.pipeline})
        case wire.StepEvent():
            return state.model_copy(
                update={"progress": Progress(step=event.step, total=event.total, message=event.message)}
            )
        case wire.UsageEvent():
            usage = Usage(
                input_tokens=event.input_tokens,
                output_tokens=event.output_tokens,
                cached_tokens=event.cached_tokens,
                cost_usd=event.cost_usd,
            )
            return state.model_copy(update={"usage": usage})
        case wire.VerificationEvent():
            return state.model_copy(update={"verified": event.passed})
        case wire.DiffEvent():
            # An edit invalidates an earlier verification.
            return state.model_copy(update={"verified": None})
        case wire.WorktreeEvent():
            verified = None if event.combined else state.verified
            path = event.path if event.state == "created" else None
            return state.model_copy(update={"worktree": path, "verified": verified})
        case wire.BranchEvent(state="pushed"):
            return state.model_copy(update={"result_branch": event.branch})
        case wire.CompleteEvent():
            return state.model_copy(update={"result": event.result})
        case wire.ErrorEvent():
            error = TaskError(code=event.code, message=event.message, recoverable=event.recoverable)
            return state.model_copy(update={"error": error})
        case wire.LabelEvent():
            label = {"title": event.title, "pinned": event.pinned, "archived": event.archived}
            return state.model_copy(update={name: value for name, value in label.items() if value is not None})
        case _:
            return state


def task_of(task_id: str, created_at: str, request: StoredRequest, state: TaskProjection, last_seq: int) -> Task:
    return Task(
        id=task_id,
        status=state.status,
        task=request.task,
        intent=state.intent,
        pipeline=state.pipeline,
        workspace=request.workspace,
        priority=request.options.priority,
        conversation_id=request.conversation_id,
        progress=state.progress,
        created_at=created_at,
        started_at=state.started_at,
        ended_at=state.ended_at,
        result=state.result,
        error=state.error,
        verified=state.verified,
        usage=state.usage,
        last_seq=last_seq,
        forked_from=request.forked_from,
        title=state.title or first_sentence(request.task),
        pinned=state.pinned,
        archived=state.archived,
        worktree=state.worktree,
        result_branch=state.result_branch,
        traceparent=request.traceparent,
        parent=request.parent,
    )


def first_sentence(text: str) -> str:
    """The first sentence of a task on one line, cut between words if it is long."""
    lines = (_MARKS.sub("", line).strip() for line in text[:2_000].splitlines())
    line = next((line for line in lines if any(char.isalnum() for char in line)), text[:_TITLE].strip())
    sentence = " ".join(_SENTENCE_END.split(line, maxsplit=1)[0].split()).rstrip(".")
    if len(sentence) <= _TITLE:
        return sentence
    return sentence[:_TITLE].rsplit(" ", 1)[0].rstrip(",;:") + "…"
