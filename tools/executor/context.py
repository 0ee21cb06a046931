"""One tool call on its way through the executor: what is known of it, and the events and outcomes made from that."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from pydantic import JsonValue

from sidecar.telemetry.redaction import Redactor
from sidecar.wire.base import JsonObject, ToolStatus
from sidecar.wire.events import ToolEvent
from sidecar.wire.tasks import Approvals
from tools.errors import Declined, ToolError
from tools.executor.access import PathAccess
from tools.executor.session import ChangeWindow, Session
from tools.host import Killed
from tools.ledger import Ledger, Outcome
from tools.spec import (
    AnyTool,
    Arguments,
    Call,
    CallReview,
    PlannedCommand,
    PreparedChange,
    ToolResult,
    ToolSpec,
    describe_arguments,
)
from tools.text import clip, display_arguments


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call as the model sent it, unchecked."""

    id: str
    tool: str
    args: JsonObject
    #: Why it can't run, if the caller already knows.
    problem: str | None = None
    #: The message of the turn that made the call, if a turn did.
    message_id: str | None = None


@dataclass(frozen=True, slots=True)
class BatchContext:
    """On whose behalf a batch runs. Without a `session`, the executor keeps one for each ledger."""

    workspace: str
    approvals: Approvals
    ledger: Ledger
    task_text: str = ""
    #: The tools that this agent may use; `None` for all.
    tools: frozenset[str] | None = None
    session: Session | None = None
    #: An interrupted call is over: it is never resumed under its id.
    single_use: bool = False
    #: Whether a person can be asked; if not, calls that need an approval fail.
    can_ask: bool = True
    #: The task runs unattended: a call that needs an approval is denied at once, with advice for the model.
    unattended: bool = False
    #: The workspaces that this one is our worktree or copy of: commands read them too, because it links to their
    #: packages.
    copy_of: tuple[str, ...] = ()
    #: Which tools that aren't ours the agent may use: all, or those that only read by their author's word.
    external: Literal["all", "reads"] = "all"
    #: The conversation that the task belongs to, if one does.
    conversation: str = ""

    def offers(self, spec: ToolSpec) -> bool:
        if spec.external is not None and not spec.external.serves(self.conversation):
            return False
        if self.tools is None or spec.name in self.tools:
            return True
        return spec.external is not None and (self.external == "all" or spec.effects == "none")


@dataclass(slots=True)
class CallContext:
    call: ToolCall
    batch: BatchContext
    tool: AnyTool
    args: Arguments
    access: PathAccess
    session: Session
    redact: Redactor = field(default_factory=Redactor)
    started: float = 0.0
    backend: str = "local"
    #: It may have taken effect.
    begun: bool = False
    #: Its intent record is on disk, or on its way there.
    intended: bool = False
    #: A person saw exactly this call and allowed it.
    approved: bool = False
    #: Even then it gets no more rights than in a trusted workspace.
    contained: bool = False
    #: Where the paths that it names led when the policy looked.
    leads: dict[str, str] = field(default_factory=dict)
    #: It reads or changes a file that may hold secrets.
    secret: bool = False
    #: Hosts that it may reach and paths outside the workspace that it may read, by grants.
    hosts: tuple[str, ...] = ()
    readable: tuple[str, ...] = ()
    #: Variables that an install needs to find its registry.
    environment: Mapping[str, str] = field(default_factory=dict)
    #: What the approval is bound to, and the change of files that you saw.
    bound: str | None = None
    prepared: PreparedChange | None = None
    #: The commands that the tool would run, which an approval shows.
    commands: tuple[PlannedCommand, ...] | None = None
    #: The server behind a tool that isn't ours.
    review: CallReview | None = None
    killed: list[Killed] = field(default_factory=list)
    #: Open while a command runs whose changes are found by scanning.
    window: ChangeWindow | None = None
    spec: ToolSpec = field(init=False)
    ledger: Ledger = field(init=False)
    workspace: str = field(init=False)
    _display_args: JsonObject | None = None

    def __post_init__(self) -> None:
        self.spec = self.tool.spec
        self.ledger = self.batch.ledger
        self.workspace = self.batch.workspace

    @property
    def time_limit(self) -> float:
        return self.args.time_limit(self.spec.timeout)

    def clean(self, text: str) -> str:
        """The text without secrets."""
        return self.redact.secret_file(text) if self.secret else self.redact(text)

    def tool_call(self) -> Call:
        """The call as the tool sees it."""
        return Call(
            self.call.id,
            self.workspace,
            self.time_limit,
            self.environment,
            killed=self.kill,
            approved=self.approved and not self.contained,
            hosts=self.hosts,
            readable=self.readable,
            commands=self.commands,
            reviewed=self.review,
            choose=self.ledger.choose if self.review is not None else None,
        )

    def kill(self, pid: int, command: str) -> None:
        self.killed.append(Killed(pid, command))
        self.ledger.killed(self.call.id, pid, command)

    def event(self, status: ToolStatus, outcome: Outcome | None = None) -> ToolEvent:
        if self._display_args is None:
            self._display_args = redact_arguments(self.call.args, self.redact, self.clean)
        summary = outcome.summary if outcome else describe_arguments(self._display_args)[:200]
        return _event(self.call, self.spec.name, status, self._display_args, summary, outcome, self.backend)

    def enqueue(self, status: ToolStatus) -> None:
        self.ledger.enqueue(self.event(status))

    async def settle(self, outcome: Outcome) -> None:
        await self.ledger.settle(self.call.id, outcome, self.event(outcome.status, outcome))

    def outcome(self, status: ToolStatus, result: ToolResult, *, cached: bool = False) -> Outcome:
        """A result, clipped and redacted."""
        details = result.details
        if self.killed:
            killed: list[JsonValue] = [{"pid": each.pid, "command": each.command} for each in self.killed]
            details = {**(details if isinstance(details, dict) else {}), "killed": killed}
        error = result.error
        if error is not None:
            error = error.model_copy(update={"message": self.clean(error.message)})
        content, summary = self.clean(result.content), (result.summary or self.spec.name)[:500]
        if content != result.content or summary not in content:
            summary = self.clean(summary)
        return Outcome(
            status=status,
            content=_valid(clip(content)),
            details=self.redact.json(details, self.clean if self.secret else None),
            summary=summary,
            error=error,
            duration_ms=round((time.monotonic() - self.started) * 1000, 3),
            cached=cached,
            executor=self.backend,
        )

    def ended(self, result: ToolResult) -> Outcome:
        return self.outcome("error" if result.error else "success", result)

    def failed(self, error: ToolError) -> Outcome:
        summary = error.message.partition("\n")[0][:200]
        details: JsonValue = {"declined": True} if isinstance(error, Declined) else error.details
        return self.outcome("error", ToolResult(error.for_model, details, summary, error.body))


def call_event(call: ToolCall, tool: str, outcome: Outcome, redact: Redactor | None = None) -> ToolEvent:
    """The event of a call without a context: invalid, answered by an identical read, or left by an earlier process."""
    args = redact_arguments(call.args, redact)
    return _event(call, tool, outcome.status, args, outcome.summary, outcome, outcome.executor)


def _event(
    call: ToolCall,
    tool: str,
    status: ToolStatus,
    args: JsonObject,
    summary: str,
    outcome: Outcome | None,
    backend: str,
) -> ToolEvent:
    details = outcome.details if outcome else None
    if isinstance(details, dict) and "attachments" in details:
        # The model gets an image from the outcome; events only name it.
        details = {name: value for name, value in details.items() if name != "attachments"}
    return ToolEvent(
        call_id=call.id,
        message_id=call.message_id,
        tool=tool,
        status=status,
        args=args,
        summary=_valid(summary),
        duration_ms=outcome.duration_ms if outcome else 0.0,
        cached=outcome.cached if outcome else False,
        executor=outcome.executor if outcome else backend,
        error=outcome.error if outcome else None,
        details=details,
    )


def redact_arguments(
    args: JsonObject, redact: Redactor | None, clean: Callable[[str], str] | None = None
) -> JsonObject:
    """Arguments for events and records: shortened, without secrets."""
    short = display_arguments(args) if isinstance(args, dict) else {}  # a model may send anything
    return short if redact is None else {name: redact.json(value, clean) for name, value in short.items()}


def _valid(text: str) -> str:
    """The text without lone surrogates, which JSON can't hold."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
