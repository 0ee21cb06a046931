"""The model port: what goes to a model, and what comes back, the same for every provider."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal, Protocol

from pydantic import Field

from sidecar.wire.base import JsonObject, Wire, optional
from sidecar.wire.tasks import Usage
from sidecar.wire.tools import ToolInfo


class Stop(StrEnum):
    END = "end"
    TOOL_USE = "tool_use"
    LENGTH = "length"
    DECLINED = "declined"
    FAILED = "failed"


class ToolUse(Wire):
    """A call that a model asks for. `id` is the model's own name for it."""

    id: str
    tool: str
    args: JsonObject


class Failure(Wire):
    """Why a model gave no usable reply. A provider's failure is data: it never ends a task by itself."""

    code: str
    message: str
    recoverable: bool = True


class Reply(Wire):
    text: str = ""
    thinking: str = ""
    calls: list[ToolUse] = []
    stop: Stop
    usage: Usage = Field(default_factory=Usage)
    failure: Failure | None = optional()


class ToolReturn(Wire):
    """What a call came back with."""

    id: str
    tool: str
    status: str
    content: str


class UserTurn(Wire):
    role: Literal["user"] = "user"
    text: str


class ModelTurn(Wire):
    role: Literal["assistant"] = "assistant"
    text: str
    calls: list[ToolUse] = []


class ToolTurn(Wire):
    role: Literal["tool"] = "tool"
    returns: list[ToolReturn]


Turn = UserTurn | ModelTurn | ToolTurn


@dataclass(frozen=True, slots=True)
class Request:
    agent: str
    system: str
    history: Sequence[Turn]
    tools: Sequence[ToolInfo] = field(default_factory=tuple)


@dataclass(frozen=True, slots=True)
class Delta:
    text: str
    kind: Literal["text", "thinking"] = "text"


class Model(Protocol):
    """`stream` yields what there is to show while it comes, and last of all the whole reply. It does not raise."""

    provider: str
    name: str

    def stream(self, request: Request) -> AsyncIterator[Delta | Reply]: ...
