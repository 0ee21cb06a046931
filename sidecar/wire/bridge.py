"""The frames between the sidecar and a desktop shell, subprotocol `rainy.bridge.v1`."""

from typing import Annotated, Literal

from pydantic import Field, JsonValue

from sidecar.wire.base import JsonObject, Wire, optional
from sidecar.wire.events import ErrorBody

SUBPROTOCOL = "rainy.bridge.v1"
FRAME_LIMIT = 16 * 1024 * 1024


class ShellInfo(Wire):
    name: str
    version: str


class OpenCall(Wire):
    id: str
    tool: str
    args: JsonObject
    timeout_ms: int
    workspace: str


class Hello(Wire):
    type: Literal["hello"] = "hello"
    shell: ShellInfo
    workspace: str
    tools: list[str]
    session: str | None = optional()


class Welcome(Wire):
    type: Literal["welcome"] = "welcome"
    session: str
    heartbeat_seconds: float
    open: list[OpenCall]


class ToolCallFrame(OpenCall):
    type: Literal["tool_call"] = "tool_call"


class ResultBody(Wire):
    content: str
    details: JsonValue = optional()


class ToolResultFrame(Wire):
    type: Literal["tool_result"] = "tool_result"
    id: str
    result: ResultBody


class StreamFrame(Wire):
    type: Literal["stream"] = "stream"
    id: str
    stream: Literal["stdout", "stderr"]
    text: str


class ErrorFrame(Wire):
    type: Literal["error"] = "error"
    id: str | None = optional()
    error: ErrorBody


class CancelFrame(Wire):
    type: Literal["cancel"] = "cancel"
    id: str


class NotifyFrame(Wire):
    """What the editor knows first; fields beside `event` belong to that event."""

    type: Literal["notify"] = "notify"
    event: Literal["file_changed", "diagnostics", "focus"]
    path: str | None = optional()
    details: JsonValue = optional()


ShellFrame = Annotated[Hello | ToolResultFrame | StreamFrame | ErrorFrame | NotifyFrame, Field(discriminator="type")]
SidecarFrame = Annotated[Welcome | ToolCallFrame | ErrorFrame | CancelFrame, Field(discriminator="type")]


class Ticket(Wire):
    ticket: str
    expires_in: float
