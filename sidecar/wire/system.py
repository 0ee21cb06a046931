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
    """What the person has allowed for a whole workspace, or for a whole task, exactly as it was asked."""

    id: str
    workspace: str
    action: str
    argv: list[str] | None
    cwd: str | None
    at: Annotated[float | None, Field(description="Seconds since 1970, if it was allowed for a workspace.")]
    task_id: Annotated[str | None, Field(description="The task, if it was allowed for one.")] = optional()
    task: Annotated[str | None, Field(description="What that task was asked to do.")] = optional()


class GrantList(Wire):
    approvals: list[GrantInfo]


class RevokeRequest(Wire):
    id: ShortText
    task_id: Annotated[ShortText | None, Field(description="The task, if it was allowed for one.")] = None


class KeyInfo(Wire):
    """Whether there is a key for a provider, and where; never the key."""

    provider: str
    place: Annotated[str | None, Field(description="Where it is, in words; null if there is none.")]
    removable: Annotated[bool, Field(description="Whether it was put away, and can be taken out again.")]
    variables: Annotated[list[str], Field(description="Where else it is looked for.")]


class KeyList(Wire):
    keys: list[KeyInfo]


class KeyRequest(Wire):
    """A key to put away, or, without one, the provider whose key is taken out."""

    provider: ShortText
    key: Annotated[ShortText | None, Field(description="It is never told again.")] = None


class Remedy(Wire):
    """What mends it with one click: trust a workspace, add a provider's key, choose a model; or a command to copy."""

    kind: Literal["trust", "key", "model", "command"]
    value: Annotated[str, Field(description="The workspace, the provider, the model, or the command.")]
    base_url: Annotated[str | None, Field(description="Where the model is served.")] = optional()


class FindingInfo(Wire):
    about: str
    state: Literal["ok", "note", "missing"]
    found: str
    fix: str
    essential: Annotated[bool, Field(description="Whether nothing works without it.")]
    remedies: list[Remedy]


class Examination(Wire):
    """What `brain doctor` finds, of the sidecar that answers."""

    findings: list[FindingInfo]


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
