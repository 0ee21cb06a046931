"""One call on its way through the executor, and what is said of it in events and outcomes."""

import time
from dataclasses import dataclass, field

from pydantic import JsonValue

from sidecar.telemetry.redaction import Redactor
from sidecar.wire.base import JsonObject
from sidecar.wire.events import ToolEvent, ToolStatus
from sidecar.wire.tasks import Approvals
from tools.errors import ToolError
from tools.executor.access import PathAccess
from tools.executor.command_changes import ChangeWindow
from tools.executor.session import Session
from tools.host import Killed
from tools.ledger import Ledger, Outcome
from tools.spec import AnyTool, Arguments, ToolResult, ToolSpec, describe_arguments
from tools.text import clip, display_arguments


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call as it comes from a model: nothing of it is checked yet."""

    id: str
    tool: str
    args: JsonObject
    #: Why it cannot be carried out, if that was seen before it came here.
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class BatchContext:
    """Whose calls these are. What the agent has read is remembered with its ledger, unless a session is given."""

    workspace: str
    approvals: Approvals
    ledger: Ledger
    task_text: str = ""
    tools: frozenset[str] | None = None
    session: Session | None = None
    #: What is cut off is not taken up again under its own name: whoever still wants it makes another call.
    anew: bool = False
    #: Whether a person may be asked; else what would be asked about is not done.
    asks: bool = True


@dataclass(slots=True)
class CallContext:
    """One call on its way. What is known of it so far is what its events say."""

    call: ToolCall
    context: BatchContext
    tool: AnyTool
    args: Arguments
    access: PathAccess
    session: Session
    began: float = 0.0
    backend: str = "local"
    begun: bool = False
    #: That it is about to be done is on the disk, or on its way there; only what came of it is missing.
    intended: bool = False
    #: A person has seen exactly this call and said yes to it.
    approved: bool = False
    redact: Redactor = field(default_factory=Redactor)
    killed: list[Killed] = field(default_factory=list)
    #: Open while it runs, if what it does to files can only be seen by looking.
    window: ChangeWindow | None = None
    spec: ToolSpec = field(init=False)
    ledger: Ledger = field(init=False)
    #: The arguments as they may be seen: the same in each of its events.
    _shown: JsonObject | None = None

    def __post_init__(self) -> None:
        self.spec = self.tool.spec
        self.ledger = self.context.ledger

    def kill(self, pid: int, command: str) -> None:
        self.killed.append(Killed(pid, command))
        self.ledger.killed(self.call.id, pid, command)

    def event(self, status: ToolStatus, outcome: Outcome | None = None) -> ToolEvent:
        if self._shown is None:
            self._shown = redacted(self.call.args, self.redact) if isinstance(self.call.args, dict) else {}
        summary = outcome.summary if outcome else self.redact(describe_arguments(self.call.args)[:200])
        return _event(self.call.id, self.spec.name, status, self._shown, summary, outcome, self.backend)

    def outcome(self, status: ToolStatus, result: ToolResult, *, cached: bool = False) -> Outcome:
        details = result.details
        if self.killed:
            killed: list[JsonValue] = [{"pid": each.pid, "command": each.command} for each in self.killed]
            details = {**(details if isinstance(details, dict) else {}), "killed": killed}
        content = clip(self.redact(result.content))
        error = result.error
        if error is not None:
            error = error.model_copy(update={"message": self.redact(error.message)})
        return Outcome(
            status=status,
            content=content if content.isascii() else content.encode("utf-8", "replace").decode(),
            details=self.redact.json(details),
            summary=self.redact((result.summary or self.spec.name)[:500]),
            error=error,
            duration_ms=round((time.monotonic() - self.began) * 1000, 3),
            cached=cached,
            executor=self.backend,
        )


def failed(passage: CallContext, error: ToolError) -> Outcome:
    return passage.outcome("error", ToolResult(error.for_model, summary=_first_line(error.message), error=error.body))


def call_event(
    call: ToolCall,
    tool: str,
    status: ToolStatus,
    summary: str,
    outcome: Outcome | None,
    backend: str,
    redact: Redactor | None = None,
) -> ToolEvent:
    args = redacted(call.args, redact) if isinstance(call.args, dict) else {}
    return _event(call.id, tool, status, args, summary, outcome, backend)


def _event(
    call_id: str,
    tool: str,
    status: ToolStatus,
    args: JsonObject,
    summary: str,
    outcome: Outcome | None,
    backend: str,
) -> ToolEvent:
    details = outcome.details if outcome else None
    if isinstance(details, dict) and "attachments" in details:
        # The model gets a picture from the outcome; an event only names it.
        details = {name: value for name, value in details.items() if name != "attachments"}
    return ToolEvent(
        call_id=call_id,
        tool=tool,
        status=status,
        args=args,
        summary=summary if summary.isascii() else summary.encode("utf-8", "replace").decode(),
        duration_ms=outcome.duration_ms if outcome else 0.0,
        cached=outcome.cached if outcome else False,
        executor=outcome.executor if outcome else backend,
        error=outcome.error if outcome else None,
        details=details,
    )


def redacted(args: JsonObject, redact: Redactor | None) -> JsonObject:
    """Arguments as they may be seen and kept."""
    plain = display_arguments(args)
    return plain if redact is None else {name: redact.json(value) for name, value in plain.items()}


def _first_line(text: str) -> str:
    return text.partition("\n")[0][:200]
