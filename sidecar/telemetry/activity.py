"""Lines of a JSON log for a task's events: step, agent, tool, duration, tokens; never what was said or written."""

import logging
from collections.abc import Mapping, Sequence

from sidecar.telemetry.logs import ACTIVITY
from sidecar.wire import events as wire

_log = logging.getLogger(ACTIVITY)
#: Tool events in these states only announce the call.
_OPEN = ("pending", "running")


def log_events(task_id: str, events: Sequence[wire.Event]) -> None:
    if not _log.isEnabledFor(logging.INFO):
        return
    for event in events:
        found = _describe(event)
        if found is not None:
            message, fields = found
            _log.info(message, extra={"fields": {"task": task_id, **fields}})


def _describe(event: wire.Event) -> tuple[str, Mapping[str, object]] | None:
    match event:
        case wire.StatusEvent(status=status):
            return f"task {status}", {"status": str(status)}
        case wire.StepEvent():
            return f"step {event.state}", {"step": event.step, "agent": event.agent}
        case wire.ToolEvent() if event.status not in _OPEN:
            fields = {"tool": event.tool, "call": event.call_id, "status": event.status, "executor": event.executor}
            error = {"error": event.error.code} if event.error is not None else {}
            return "tool call", {**fields, "durationMs": round(event.duration_ms, 3), "cached": event.cached, **error}
        case wire.UsageEvent(spent=spent) if spent is not None:
            tokens = {"input": spent.input_tokens, "output": spent.output_tokens, "cached": spent.cached_tokens}
            named = {"agent": event.agent, "model": event.model, "tokens": tokens, "costUsd": spent.cost_usd}
            return "model request", named
        case wire.ApprovalEvent():
            return f"approval {event.state}", {"approval": event.approval_id, "tool": event.tool}
        case wire.QuestionEvent():
            return f"question {event.state}", {"question": event.question_id}
        case wire.VerificationEvent():
            return "verification", {"passed": event.passed, "attempt": event.attempt}
        case wire.ErrorEvent():
            return "task error", {"error": event.code}
        case _:
            return None
