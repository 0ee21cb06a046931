"""The frames between the sidecar and a desktop shell, subprotocol `rainy.bridge.v1`."""

from typing import Annotated, Literal

from pydantic import AfterValidator, ConfigDict, Field, JsonValue

from sidecar.wire.base import ErrorBody, JsonObject, Wire, optional

SUBPROTOCOL = "rainy.bridge.v1"
FRAME_LIMIT = 16 * 1024 * 1024

Id = Annotated[str, Field(min_length=1, max_length=512)]
Name = Annotated[str, Field(max_length=200)]
Place = Annotated[str, Field(max_length=4_096)]


def _absolute(place: str) -> str:
    if not place.startswith("/"):
        raise ValueError("must be an absolute path")
    return place


class Frame(Wire):
    """Ignores unknown fields: shells and sidecars of different versions talk to each other."""

    model_config = ConfigDict(extra="ignore")


class ShellInfo(Frame):
    name: Name
    version: Name


class OpenCall(Frame):
    id: str
    tool: str
    args: JsonObject
    timeout_ms: int
    workspace: str
    approved: Annotated[
        bool | None,
        Field(description="You approved exactly this call: it may reach the network and protected files."),
    ] = optional()
    hosts: Annotated[list[str] | None, Field(description="Hosts that you granted; it may reach no others.")] = (
        optional()
    )
    readable: Annotated[
        list[str] | None, Field(description="Paths outside the workspace that you granted it to read.")
    ] = optional()
    environment: Annotated[
        dict[str, str] | None, Field(description="Variables that an install needs to find its registry.")
    ] = optional()
    traceparent: Annotated[str | None, Field(description="The task's trace, with the span of this call.")] = optional()


class ShellToolSpec(Frame):
    """A tool of the shell's own: agents can call it like any other, and the shell carries it out."""

    name: Annotated[Name, Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,63}$")]
    description: Annotated[str, Field(max_length=4_000)]
    parameters: Annotated[JsonObject, Field(description="A JSON schema of the arguments.")]
    read_only: Annotated[bool, Field(description="It changes nothing, so it needs no approval.")] = False
    parallel: Annotated[
        bool | None, Field(description="Whether it may run beside other calls; default: if it is read-only.")
    ] = optional()


class Hello(Frame):
    type: Literal["hello"] = "hello"
    shell: ShellInfo
    workspace: Annotated[Place, AfterValidator(_absolute)]
    tools: Annotated[
        list[Name | ShellToolSpec],
        Field(max_length=1_000, description="The tools the shell runs: names of ours, and tools of its own."),
    ]
    session: Annotated[Id | None, Field(description="An earlier session to resume.")] = optional()
    remembers: Annotated[
        list[Id] | None, Field(max_length=10_000, description="Calls whose results the shell still has.")
    ] = optional()


class Welcome(Frame):
    type: Literal["welcome"] = "welcome"
    session: str
    heartbeat_seconds: float
    open: Annotated[list[OpenCall], Field(description="Calls without a result; each is sent again in its own frame.")]


class ToolCallFrame(OpenCall):
    type: Literal["tool_call"] = "tool_call"


class EndedProcess(Frame):
    pid: int
    command: str


class ResultBody(Frame):
    content: str
    details: JsonValue = optional()
    summary: str = optional("")
    error: Annotated[ErrorBody | None, Field(description="The call ran and failed; `content` has the output.")] = (
        optional()
    )
    killed: Annotated[list[EndedProcess] | None, Field(description="Processes killed with the call.")] = optional()


class ToolResultFrame(Frame):
    type: Literal["tool_result"] = "tool_result"
    id: Id
    result: ResultBody


class StreamFrame(Frame):
    type: Literal["stream"] = "stream"
    id: Id
    stream: Literal["stdout", "stderr"]
    text: str


class ErrorFrame(Frame):
    type: Literal["error"] = "error"
    id: Id | None = optional()
    error: ErrorBody
    killed: Annotated[list[EndedProcess] | None, Field(description="Processes killed with the call.")] = optional()


class CancelFrame(Frame):
    type: Literal["cancel"] = "cancel"
    id: str


class Diagnostic(Frame):
    line: Annotated[int, Field(description="Starts at 1.")] = 1
    column: int = 1
    severity: Name = "error"
    message: str
    source: Name = optional("")
    code: Name = optional("")


class NotifyFrame(Frame):
    """What the editor knows first. `diagnostics` are all diagnostics of `path` and replace earlier ones.

    `unsaved` lists in `paths` all files with unsaved changes. From then on the shell gets only the reads of those, and
    `save_file {path}`, if it offers it, before an agent changes one of them. A shell that can't list them offers
    `unsaved_files {paths, change?}`, and answers with `details.unsaved`, the paths with unsaved changes.
    """

    type: Literal["notify"] = "notify"
    event: Literal["file_changed", "diagnostics", "focus", "unsaved"]
    path: Place | None = optional()
    paths: Annotated[list[Place] | None, Field(max_length=10_000)] = optional()
    diagnostics: Annotated[list[Diagnostic] | None, Field(max_length=10_000)] = optional()


ShellFrame = Annotated[Hello | ToolResultFrame | StreamFrame | ErrorFrame | NotifyFrame, Field(discriminator="type")]
SidecarFrame = Annotated[Welcome | ToolCallFrame | ErrorFrame | CancelFrame, Field(discriminator="type")]
