"""The sidecar itself: status, models, keys, policy, trust, grants, doctor, templates, statistics."""

from typing import Annotated, Literal

from pydantic import AwareDatetime, Field

from sidecar.wire.base import GrantKind, JsonObject, RequestBody, Wire, optional
from sidecar.wire.health import JournalState
from sidecar.wire.tasks import Approvals, Options, ShortText


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


class ShellState(Wire):
    """A desktop shell on the bridge; a disconnected one may come back to its open calls."""

    name: str
    version: str
    workspace: str
    tools: list[str]
    connected: bool


class SandboxState(Wire):
    """The sandbox for commands; with `none` and `off` every command needs approval."""

    tier: str
    message: str


class StatusAnswer(Wire):
    version: str
    pid: int
    workspace: str
    uptime_seconds: float
    tasks: Annotated[dict[str, int], Field(description="Number of tasks by status.")]
    streams: int
    shells: list[ShellState]
    sandbox: SandboxState
    journal: JournalState
    notice: Annotated[
        str | None, Field(description="What you should know, such as that `config.toml` changed or is broken.")
    ] = optional()


class PolicyRequest(RequestBody):
    tool: ShortText
    args: JsonObject = {}
    workspace: ShortText | None = None
    approvals: Annotated[Approvals, Field(description="The mode of the task that would call it.")] = "ask"


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
    changed: Annotated[
        list[str] | None, Field(description="Files that the project's own code runs by, changed since you trusted it.")
    ] = optional()
    diff: Annotated[str | None, Field(description="How they changed, as a unified diff.")] = optional()


class TrustAnswer(Wire):
    workspaces: list[TrustedWorkspace]


class ApprovalInfo(Wire):
    """An approval for a workspace or a task, bound to exactly the call you saw."""

    id: str
    workspace: str
    action: str
    argv: list[str] | None
    cwd: str | None
    at: Annotated[float | None, Field(description="Unix time, for a workspace's approval.")]
    task_id: Annotated[str | None, Field(description="The task, for a task's approval.")] = optional()
    task: Annotated[str | None, Field(description="That task's text.")] = optional()


class ApprovalList(Wire):
    approvals: list[ApprovalInfo]


class RevokeRequest(Wire):
    id: ShortText
    task_id: Annotated[ShortText | None, Field(description="The task, for a task's approval.")] = None


class GrantInfo(Wire):
    """A standing permission of a repository."""

    id: str
    workspace: Annotated[str, Field(description="The repository: a path, or a remote.")]
    kind: GrantKind
    value: Annotated[str | None, Field(description="What exactly; null for all that the kind covers.")]
    until: Annotated[float | None, Field(description="Unix time at which it ends.")] = optional()
    at: Annotated[float, Field(description="Unix time.")]


class GrantList(Wire):
    grants: list[GrantInfo]


class GrantRequest(Wire):
    """`value`: the command line, host, path, package manager, check, or dollars per task."""

    workspace: Annotated[ShortText, Field(description="The repository: an absolute path, or a remote's URL.")]
    kind: GrantKind
    value: Annotated[
        ShortText | float | None, Field(description="Optional for `install` and `checks`, which then cover all.")
    ] = None
    until: Annotated[
        float | AwareDatetime | None, Field(description="When it ends: Unix time, or a date with its zone.")
    ] = None


class RevokeGrantRequest(Wire):
    id: ShortText


class KeyInfo(Wire):
    """Whether a provider has a key, and where; never the key."""

    provider: str
    place: Annotated[str | None, Field(description="Where the key is, in words; null if there is none.")]
    removable: Annotated[bool, Field(description="Whether it is stored and can be removed.")]
    variables: Annotated[list[str], Field(description="Environment variables that can hold it.")]


class KeyList(Wire):
    keys: list[KeyInfo]


class KeyRequest(Wire):
    """A key to store; without `key`, the provider's key is removed."""

    provider: ShortText
    key: Annotated[ShortText | None, Field(description="Never returned by any route.")] = None


class Remedy(Wire):
    """A one-click fix: trust a workspace, add a key, choose a model; or a command to copy."""

    kind: Literal["trust", "key", "model", "command"]
    value: Annotated[str, Field(description="The workspace, the provider, the model, or the command.")]
    base_url: Annotated[str | None, Field(description="The model's server.")] = optional()


class FindingInfo(Wire):
    about: str
    state: Literal["ok", "note", "missing"]
    found: str
    fix: str
    essential: Annotated[bool, Field(description="Nothing works without it.")]
    remedies: list[Remedy]


class Examination(Wire):
    """The findings of `brain doctor` for the running sidecar."""

    findings: list[FindingInfo]


class Template(Wire):
    name: Annotated[str, Field(description="The name for `POST /api/brain/projects`, and in a sentence.")]
    description: str
    files: Annotated[
        list[str], Field(description="Their paths, with `{{name}}` and `{{module}}` in place of the project's.")
    ]
    own: Annotated[bool, Field(description="From `templates/` of your configuration directory.")] = False


class TemplateList(Wire):
    templates: list[Template]


class ProjectOrder(RequestBody):
    """A project to create from a template; the model `offline` does it, unless `options.models` names another."""

    template: ShortText
    name: Annotated[str, Field(min_length=1, max_length=100)]
    path: Annotated[
        ShortText | None,
        Field(description="The directory that gets the project's folder, made if need be; default: the workspace."),
    ] = optional()
    description: Annotated[str | None, Field(max_length=200, description="What the project is for.")] = optional()
    options: Options = Field(default_factory=Options)


class SpentTokens(Wire):
    """What one agent used of one model on one day (UTC)."""

    day: str
    model: str
    agent: str
    requests: int
    input_tokens: int
    output_tokens: int
    cached_tokens: Annotated[int, Field(description="Part of the input.")]
    estimated_cost_usd: Annotated[
        float | None, Field(description="An estimate by the price table; null if the model's price isn't known.")
    ]


class StatsAnswer(Wire):
    spent: list[SpentTokens]
    ended: Annotated[dict[str, int], Field(description="Tasks that ended, by status.")]
