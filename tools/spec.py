"""What a tool is. A tool is one small file in `builtin/`; the executor does everything around it."""

import shlex
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, Protocol, TypeGuard, TypeVar

from pydantic import ConfigDict, JsonValue, ValidationInfo, field_validator
from pydantic.alias_generators import to_camel

from sidecar.wire.base import ErrorBody, JsonObject, Wire
from sidecar.wire.tools import Effects, Executor, ToolInfo
from tools.errors import Denied
from tools.host import FileChange, FileInfo, Host, ProcessKilled
from tools.paths import normalize

if TYPE_CHECKING:
    from tools.ledger import Question

_VALIDATION = """
title additionalProperties minimum exclusiveMinimum exclusiveMaximum minLength maxLength minItems pattern $defs
"""
_DROPPED = frozenset(_VALIDATION.split())
#: Limits that no reasonable call reaches go without saying.
_RARELY_REACHED = 200
#: Defaults that go without saying.
_USUAL: tuple[object, ...] = (None, "", ".", False, 0, [], {})

Paths = str | list[str] | None


class Arguments(Wire):
    """The arguments of a tool. They hold no policy, so a model can't switch a check off."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=False, extra="forbid", frozen=True)

    @field_validator("path", "paths_", "from_", "to", check_fields=False)
    @classmethod
    def _normalize_paths(cls, value: Paths, info: ValidationInfo) -> Paths:
        """One name per file, however the model wrote it. Without a workspace as context, paths stay as they are."""
        if info.context is None or value is None:
            return value
        return (
            normalize(value, info.context)
            if isinstance(value, str)
            else [normalize(each, info.context) for each in value]
        )

    def paths(self) -> tuple[str, ...]:
        """The paths that the call touches, with everything below; the whole workspace unless a tool says otherwise."""
        path = getattr(self, "path", None)
        return (path,) if isinstance(path, str) else (".",)

    def forbidden(self) -> str:
        """Why no person could allow the call; empty if one could."""
        return ""

    def host(self) -> str:
        """The host that the call reaches; a grant may allow it."""
        return ""

    def time_limit(self, default: float) -> float:
        """Seconds; a tool whose arguments hold a limit overrides this."""
        return default


class PathlessArguments(Arguments):
    """Of a tool that touches no file."""

    def paths(self) -> tuple[str, ...]:
        return ()


A_contra = TypeVar("A_contra", bound=Arguments, contravariant=True)


@dataclass(frozen=True, slots=True)
class External:
    """Who brings a tool that isn't ours, and how far your configuration lets it act by itself."""

    #: For people: `the MCP server github`.
    source: str
    #: You let it run without approval, or say that it only reads. What its author says doesn't count.
    allowed: bool = False
    only_reads: bool = False
    #: You configured it, and it runs in a sandbox without network.
    contained: bool = False
    #: It is part of your own editor, or you wrote it: under `auto` it runs like a command.
    yours: bool = False
    #: Whether it can change files of the workspace at all.
    changes_workspace: bool = True
    #: An editor lent it to these conversations; empty for a tool of all.
    conversations: frozenset[str] = frozenset()

    def serves(self, conversation: str) -> bool:
        return not self.conversations or conversation in self.conversations


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """What the executor, the models, the bridge and the panel need to know about a tool."""

    name: str
    description: str
    arguments: type[Arguments]
    #: A shorter description for models, for tools that are in every request; it explains the arguments too.
    brief: str = field(default="", kw_only=True)
    executor: Executor = "local"
    timeout: float = 30.0
    retryable: bool = False
    parallel: bool = True
    effects: Effects = "none"
    #: Whether it may simply run again after a crash. Reads always may.
    repeatable: bool = False
    #: Whether it runs programs from the project; in an untrusted workspace it then needs approval.
    runs_project: bool = False
    #: Why it needs approval although it changes nothing; empty if it needs none.
    asks: str = ""
    #: The cache for its results; a cached result is used only while all files it was read from are unchanged.
    cache: Literal["files", "tree", "diagnostics"] | None = None
    #: The JSON schema of a tool that isn't ours; `arguments` then checks nothing.
    parameters: JsonObject | None = None
    external: External | None = None

    @property
    def schema(self) -> JsonObject:
        return self.parameters if self.parameters is not None else self.arguments.model_json_schema()

    def info(self) -> ToolInfo:
        return ToolInfo(
            name=self.name,
            description=self.description,
            parameters=self.schema,
            executor=self.executor,
            timeout=self.timeout,
            retryable=self.retryable,
            parallel=self.parallel,
            effects=self.effects,
        )

    def offer(self) -> ToolInfo:
        """The same for a model, shortened: every word is paid for with each request."""
        info = self.info()
        parameters = shorten(info.parameters, described=not self.brief)
        return info.model_copy(update={"description": self.brief or self.description, "parameters": parameters})


class ResultSource(NamedTuple):
    """A file that a result was read from, with its content if all of it was read."""

    info: FileInfo
    content: bytes | None = None


class ToolResult(NamedTuple):
    """`content` is for the model, `details` for the panel and other code, `summary` is one line for both.

    `error` marks a call that ran but failed, such as a command with an exit code: its output is still worth reading.
    `sources` are the files that the result depends on; without any, it is never cached.
    """

    content: str
    details: JsonValue = None
    summary: str = ""
    error: ErrorBody | None = None
    sources: tuple[ResultSource, ...] = ()


class PreparedChange(NamedTuple):
    """What a file tool will do. The executor records it, then applies it.

    `replaces` marks whole files being overwritten, which would lose edits that the agent hasn't seen. Tools that
    locate their edit by the text around it leave it out.
    """

    changes: tuple[FileChange, ...]
    result: ToolResult
    replaces: bool = False


class PlannedCommand(NamedTuple):
    """A command that a tool runs for a call; `cwd` is a folder of the workspace."""

    argv: tuple[str, ...]
    cwd: str = "."


def _ignore_kill(pid: int, command: str) -> None:
    pass


class CallReview(NamedTuple):
    """The tool behind a call on a server that isn't ours, found out before policy decides.

    An approval is bound to `subject`, whatever the arguments. `why` it can't just run; `must_ask` holds even if policy
    would allow the call. `basis` is what the backend looked at.
    """

    basis: object
    why: str = ""
    diff: str | None = None
    must_ask: bool = False
    subject: str = ""


class Call(NamedTuple):
    """A call as the tool sees it. `killed` is called for each process that was killed with it."""

    id: str
    workspace: str
    timeout: float
    environment: Mapping[str, str] = MappingProxyType({})
    killed: ProcessKilled = _ignore_kill
    #: A person saw exactly this call and allowed it.
    approved: bool = False
    #: Hosts that its commands may reach, and paths outside the workspace that they may read, by grants.
    hosts: tuple[str, ...] = ()
    readable: tuple[str, ...] = ()
    #: The commands that you saw and allowed; `None` if you weren't asked.
    commands: tuple[PlannedCommand, ...] | None = None
    #: For a tool that isn't ours: what the approval was about, and how to ask you something meanwhile.
    reviewed: CallReview | None = None
    choose: "Callable[[Question], Awaitable[str]] | None" = None

    def check_command(self, argv: Sequence[str], cwd: str = ".") -> None:
        """Raises `Denied` for a command that you didn't see."""
        if self.commands is not None and PlannedCommand(tuple(argv), cwd) not in self.commands:
            raise Denied(f"Not run: it would now run {shlex.join(argv)[:500]}, which is not what was allowed.")


class Output(Protocol):
    """Receives a tool's live output."""

    def __call__(self, stream: str, text: str) -> None: ...


class Tool(Protocol, Generic[A_contra]):
    """A tool that reads, or runs something."""

    spec: ToolSpec

    async def run(self, args: A_contra, host: Host, call: Call, output: Output) -> ToolResult: ...


class FileTool(Protocol, Generic[A_contra]):
    """A tool that changes files. It only prepares the change; the executor applies it."""

    spec: ToolSpec

    async def prepare(self, args: A_contra, host: Host, call: Call) -> PreparedChange: ...


class PlanningTool(Tool[A_contra], Protocol, Generic[A_contra]):
    """A tool that finds out itself which commands it runs. An approval shows them."""

    async def plan(self, args: A_contra, host: Host, call: Call) -> Sequence[PlannedCommand]:
        """Every command that the call may run, the likeliest first. Runs nothing of the project."""


AnyTool = Tool[Any] | FileTool[Any]


def changes_files(tool: AnyTool) -> TypeGuard[FileTool[Any]]:
    # `isinstance` on a protocol checks every member, which is too slow for every call.
    return hasattr(tool, "prepare")


def plans_commands(tool: AnyTool) -> TypeGuard[PlanningTool[Any]]:
    return hasattr(tool, "plan")


def describe_arguments(arguments: JsonObject) -> str:
    """Arguments on one short line, for people."""
    parts = []
    for name, value in arguments.items():
        text = value if isinstance(value, str) else repr(value)
        parts.append(f"{name}={text[:60]}{'…' if len(text) > 60 else ''}")
    return " ".join(parts)


def shorten(schema: JsonObject, *, described: bool = True) -> JsonObject:
    """Shorten a JSON schema for models: fields, types and upper limits stay; what only validation needs goes.

    Without `described`, field descriptions go too, for tools whose brief explains them.
    """
    definitions = schema.get("$defs")
    dropped = _DROPPED if described else _DROPPED | {"description"}
    found = _Shortener(definitions if isinstance(definitions, dict) else {}, dropped).of(schema)
    return found if isinstance(found, dict) else {}


@dataclass(frozen=True, slots=True)
class _Shortener:
    definitions: JsonObject
    dropped: frozenset[str]
    #: The definitions around the current node.
    within: tuple[str, ...] = ()

    def of(self, node: Any) -> Any:
        if isinstance(node, list):
            return [self.of(each) for each in node]
        if not isinstance(node, dict):
            return node
        if isinstance(node.get("$ref"), str):
            return self._resolve(node["$ref"].rpartition("/")[2])
        kept = {name: value for name, value in node.items() if name not in self.dropped}
        for limit in ("maximum", "maxItems"):
            if isinstance(most := kept.get(limit), int) and most >= _RARELY_REACHED:
                del kept[limit]
        if "default" in kept and kept["default"] in _USUAL:
            del kept["default"]
        kinds = [kind for kind in kept.pop("anyOf", []) if kind != {"type": "null"}]
        shorter = {
            name: self._fields(value) if name == "properties" else self.of(value) for name, value in kept.items()
        }
        if len(kinds) == 1:
            return {**self.of(kinds[0]), **shorter}
        return {**shorter, "anyOf": self.of(kinds)} if kinds else shorter

    def _fields(self, properties: Any) -> Any:
        # These names are the tool's own, so one may be called `title`.
        return {name: self.of(each) for name, each in properties.items()}

    def _resolve(self, name: str) -> Any:
        # A recursive definition ends at its first repetition.
        known = self.definitions.get(name) if name not in self.within else None
        return replace(self, within=(*self.within, name)).of(known) if known else {"type": "object"}
