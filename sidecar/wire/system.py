"""What there is, who may come in, and how a refusal is said."""

from typing import Annotated, Literal

from pydantic import Field

from sidecar.wire.base import JsonObject, Wire, optional
from sidecar.wire.tasks import ShortText


class Ready(Wire):
    """The one line on standard output when the sidecar can be called."""

    event: Literal["ready"] = "ready"
    url: str
    pid: int
    token_file: str
    version: str


class Health(Wire):
    status: Literal["ok"] = "ok"
    version: str


class SessionCode(Wire):
    code: str
    expires_in: float


class SessionRequest(Wire):
    code: ShortText


class SessionToken(Wire):
    token: str
    renewal: Annotated[
        str | None, Field(description="Sent as `code`, it gives the new token after the sidecar was started again.")
    ] = optional()


class Ticket(Wire):
    """Lets one WebSocket in, where no header can be sent."""

    ticket: str
    expires_in: float


class AgentInfo(Wire):
    name: str
    description: str
    role: str
    tools: list[str]
    max_iterations: int


class AgentList(Wire):
    agents: list[AgentInfo]


class ModelInfo(Wire):
    name: Annotated[str, Field(description="`provider/name`.")]
    provider: str
    available: bool
    why: str


class RoleInfo(Wire):
    role: str
    chain: list[str]


class ModelList(Wire):
    models: list[ModelInfo]
    roles: list[RoleInfo]


class JournalState(Wire):
    state: Literal["ok", "stalled"]
    message: str
    path: str
    size_bytes: int
    set_aside: list[str]


class ShellState(Wire):
    """A desktop shell on the bridge; one that is away may come back to its open calls."""

    name: str
    version: str
    workspace: str
    tools: list[str]
    connected: bool


class SandboxState(Wire):
    """What commands run inside of; `none` and `off` mean that every command asks."""

    tier: str
    message: str


class StatusAnswer(Wire):
    version: str
    pid: int
    workspace: str
    uptime_seconds: float
    tasks: Annotated[dict[str, int], Field(description="How many tasks there are in each status.")]
    streams: int
    shells: list[ShellState]
    sandbox: SandboxState
    journal: JournalState


class PolicyRequest(Wire):
    tool: ShortText
    args: JsonObject = {}
    workspace: ShortText | None = None


class PolicyAnswer(Wire):
    decision: Literal["allow", "ask", "deny"]
    why: str


class TrustRequest(Wire):
    workspace: ShortText
    trusted: bool


class TrustedWorkspace(Wire):
    workspace: str
    trusted: bool
    why: str


class TrustAnswer(Wire):
    workspaces: list[TrustedWorkspace]


class GrantInfo(Wire):
    """What the person has allowed for a whole workspace, exactly as it was asked."""

    id: str
    workspace: str
    action: str
    argv: list[str] | None
    cwd: str | None
    at: Annotated[float, Field(description="Seconds since 1970.")]


class GrantList(Wire):
    approvals: list[GrantInfo]


class RevokeRequest(Wire):
    id: ShortText


class FieldProblem(Wire):
    field: str
    message: str


class Problem(Wire):
    """RFC 9457, with a `code` that does not change."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    code: str
    errors: list[FieldProblem] | None = optional()
