"""What a tool is. A tool is one small file in `builtin/`; the executor wraps it with everything else."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from pydantic import ConfigDict, JsonValue
from pydantic.alias_generators import to_camel

from sidecar.wire.base import JsonObject, Wire
from sidecar.wire.tools import Effects, Executor, ToolInfo
from tools.host import FileChange, Host


class Arguments(Wire):
    """The arguments of a tool. No field of a policy stands here: a model cannot switch anything off."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=False, extra="forbid", frozen=True)


A_contra = TypeVar("A_contra", bound=Arguments, contravariant=True)


@dataclass(frozen=True, slots=True)
class ToolSpec:
    name: str
    description: str
    arguments: type[Arguments]
    executor: Executor = "local"
    timeout: float = 30.0
    retryable: bool = False
    parallel: bool = True
    effects: Effects = "none"
    #: After a crash, may it simply be run again? Reads always; a command only where this says so.
    repeatable: bool = False

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


@dataclass(frozen=True, slots=True)
class ToolResult:
    """`content` is what the model reads, `details` what the panel draws, `summary` the one line for both."""

    content: str
    details: JsonValue = None
    summary: str = ""


@dataclass(frozen=True, slots=True)
class PreparedChange:
    """What a file tool is about to do. The executor records it, then applies it."""

    changes: tuple[FileChange, ...]
    result: ToolResult


@dataclass(frozen=True, slots=True)
class Call:
    """One call under way, as a tool sees it."""

    id: str
    workspace: str
    timeout: float
    environment: Mapping[str, str] = field(default_factory=dict)


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


def described(arguments: JsonObject) -> str:
    """A call's arguments on one short line, for people."""
    parts = []
    for name, value in arguments.items():
        text = value if isinstance(value, str) else repr(value)
        parts.append(f"{name}={text[:60]}{'…' if len(text) > 60 else ''}")
    return " ".join(parts)
