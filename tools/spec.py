"""What a tool is. A tool is one small file in `builtin/`; the executor wraps it with everything else."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, NamedTuple, Protocol, TypeGuard, TypeVar

from pydantic import ConfigDict, JsonValue, ValidationInfo, field_validator
from pydantic.alias_generators import to_camel

from sidecar.wire.base import JsonObject, Wire
from sidecar.wire.events import ErrorBody
from sidecar.wire.tools import Effects, Executor, ToolInfo
from tools.host import FileChange, FileInfo, Host, ProcessKilled
from tools.paths import normalize
from tools.schema import shorten

Paths = str | list[str] | None


class Arguments(Wire):
    """The arguments of a tool. No field of a policy stands here: a model cannot switch anything off."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=False, extra="forbid", frozen=True)

    @field_validator("path", "paths_", "from_", "to", check_fields=False)
    @classmethod
    def _one_name(cls, value: Paths, info: ValidationInfo) -> Paths:
        """However a path was written, a file has one name in all that is read, recorded and shown of it.

        The context of a validation is the workspace; without one, a path stays as it is.
        """
        if info.context is None or value is None:
            return value
        return (
            normalize(value, info.context)
            if isinstance(value, str)
            else [normalize(each, info.context) for each in value]
        )

    def paths(self) -> tuple[str, ...]:
        """What the call touches, itself and everything beneath; the whole workspace unless a tool says less."""
        path = getattr(self, "path", None)
        return (path,) if isinstance(path, str) else (".",)

    def time_limit(self, default: float) -> float:
        """Seconds; a tool whose arguments name a limit answers with that."""
        return default


A_contra = TypeVar("A_contra", bound=Arguments, contravariant=True)


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """Everything that the executor, the models, the bridge and the panel need to know of a tool."""

    name: str
    description: str
    arguments: type[Arguments]
    #: What a model is told instead, of a tool that it is told of in every request; it says what the arguments mean too.
    brief: str = field(default="", kw_only=True)
    executor: Executor = "local"
    timeout: float = 30.0
    retryable: bool = False
    parallel: bool = True
    effects: Effects = "none"
    #: After a crash, may it simply be run again? Reads always; a command only where this says so.
    repeatable: bool = False
    #: Whether it runs programs that the project itself brings or configures: not in an untrusted workspace, unasked.
    runs_project: bool = False
    #: Which cache may hold its results; a result is served again only while everything it was read from is unchanged.
    cache: Literal["files", "tree", "diagnostics"] | None = None

    def info(self) -> ToolInfo:
        return ToolInfo(
            name=self.name,
            description=self.description,
            parameters=self.arguments.model_json_schema(),
            executor=self.executor,
            timeout=self.timeout,
            retryable=self.retryable,
            parallel=self.parallel,
            effects=self.effects,
        )

    def offer(self) -> ToolInfo:
        """The same for a model, which pays for every word."""
        info = self.info()
        parameters = shorten(info.parameters, described=not self.brief)
        return info.model_copy(update={"description": self.brief or self.description, "parameters": parameters})


class ResultSource(NamedTuple):
    """What a result was read from: the file as it was just before, and its bytes where the whole was read."""

    info: FileInfo
    content: bytes | None = None


class ToolResult(NamedTuple):
    """`content` is what the model reads, `details` what the panel draws, `summary` the one line for both.

    `error` marks a call that was carried out and did not succeed, such as a command that failed: its output is
    still worth reading. `sources` is everything that the result depends on; with none, it is never cached.
    """

    content: str
    details: JsonValue = None
    summary: str = ""
    error: ErrorBody | None = None
    sources: tuple[ResultSource, ...] = ()


class PreparedChange(NamedTuple):
    """What a file tool is about to do. The executor records it, then applies it.

    `replaces` says that the old content is overwritten as a whole, so that an edit that the agent has not seen would be
    lost; a tool that finds its place by the text around it leaves it out.
    """

    changes: tuple[FileChange, ...]
    result: ToolResult
    replaces: bool = False


def _unheard(pid: int, command: str) -> None:
    pass


@dataclass(frozen=True, slots=True)
class Call:
    """One call under way, as a tool sees it. `killed` hears of every process that was ended with it."""

    id: str
    workspace: str
    timeout: float
    environment: Mapping[str, str] = field(default_factory=dict)
    killed: ProcessKilled = _unheard
    #: A person has seen exactly this call and said yes to it.
    approved: bool = False


class Output(Protocol):
    """Where a tool's live output goes."""

    def __call__(self, stream: str, text: str) -> None: ...


class Tool(Protocol, Generic[A_contra]):
    """A tool without effects on files: it reads, or it runs something."""

    spec: ToolSpec

    async def run(self, args: A_contra, host: Host, call: Call, output: Output) -> ToolResult: ...


class FileTool(Protocol, Generic[A_contra]):
    """A tool that changes files: it only says what would change; the executor does it."""

    spec: ToolSpec

    async def prepare(self, args: A_contra, host: Host, call: Call) -> PreparedChange: ...


AnyTool = Tool[Any] | FileTool[Any]


def changes_files(tool: AnyTool) -> TypeGuard[FileTool[Any]]:
    # A protocol's own check looks at every member, which is felt where it is asked with every call.
    return hasattr(tool, "prepare")


def describe_arguments(arguments: JsonObject) -> str:
    """A call's arguments on one short line, for people."""
    parts = []
    for name, value in arguments.items():
        text = value if isinstance(value, str) else repr(value)
        parts.append(f"{name}={text[:60]}{'…' if len(text) > 60 else ''}")
    return " ".join(parts)
