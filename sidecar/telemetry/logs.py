"""Logs on standard error, one line each, for people or as JSON. Standard output is only for the ready line."""

import json
import logging
import os
import sys
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from datetime import UTC, datetime

from sidecar.telemetry.correlation import current_fields
from sidecar.telemetry.redaction import Redactor, environment_secrets
from sidecar.wire import events as wire

#: SDKs that would log every request.
_CLIENTS = """
anthropic google_genai groq openai httpx httpx2 httpcore httpcore2 mcp aiohttp slack_sdk slack_bolt telegram
"""
#: Lines about every task and request, for programs: people would overlook other lines among them.
ACTIVITY = "brain.activity"
_MAX_MESSAGES = 1_000
FORMAT_VARIABLE = "BRAIN_LOG_FORMAT"
#: Who asked for what is being done: the name of a token, or nothing for the owner of the sidecar.
_actor: ContextVar[str | None] = ContextVar("actor", default=None)

current_actor = _actor.get
set_actor = _actor.set


def configure(level: str = "INFO", style: str = "") -> None:
    """`style` is `text` or `json`."""
    as_json = (style or os.environ.get(FORMAT_VARIABLE, "")) == "json"
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines() if as_json else _Redacting("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    handler.addFilter(RepeatLimit())
    logging.basicConfig(level=level, handlers=[handler], force=True)
    logging.getLogger("uvicorn.error").addFilter(_is_news)
    for name in ("uvicorn.error", "uvicorn.access", "sse_starlette", "asyncio", *_CLIENTS.split()):
        logging.getLogger(name).setLevel(logging.WARNING)
    logging.getLogger(ACTIVITY).setLevel(logging.INFO if as_json else logging.WARNING)


class RepeatLimit(logging.Filter):
    """Drops what is logged again and again, so that no fault fills the disk; says how much was dropped.

    Lines about activity stay: each says something that happened.
    """

    def __init__(self, most: int = 20, seconds: float = 10.0) -> None:
        super().__init__()
        self._most = most
        self._seconds = seconds
        #: When each message began to repeat, and how often it came since.
        self._seen: dict[tuple[str, str], tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        if record.name == ACTIVITY:
            return True
        key = record.name, str(record.msg)
        began, count = self._seen.get(key, (record.created, 0))
        if record.created - began > self._seconds:
            if count > self._most:
                record.msg = f"{record.msg} ({count - self._most} more of these were left out)"
            began, count = record.created, 0
        if len(self._seen) > _MAX_MESSAGES:
            self._seen.clear()
        self._seen[key] = began, count + 1
        return count < self._most


class _Redacting(logging.Formatter):
    """Redacts exceptions too."""

    def __init__(self, text: str | None = None) -> None:
        super().__init__(text, "%H:%M:%S")
        self.redact = Redactor(lambda: environment_secrets(os.environ))

    def format(self, record: logging.LogRecord) -> str:
        return self.redact(super().format(record))


class JsonLines(_Redacting):
    """One object a line. What `extra={"fields": …}` adds wins over what the context says."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")[:-6] + "Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **current_fields(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        clean = {name: self.redact(value) if isinstance(value, str) else value for name, value in line.items()}
        return json.dumps(clean, ensure_ascii=False, separators=(",", ":"), default=str)


def _is_news(record: logging.LogRecord) -> bool:
    # uvicorn repeats our own message when we close the stream of a slow reader.
    return "without completing response" not in record.getMessage()


_log = logging.getLogger(ACTIVITY)
#: Tool events in these states only announce the call.
_OPEN = ("pending", "running")


def log_events(task_id: str, events: Sequence[wire.Event]) -> None:
    """Log step, agent, tool, duration and tokens of a task's events; never what was said or written."""
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
