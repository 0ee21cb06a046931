"""The model port: what goes to a model, and what comes back, the same for every provider."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Literal, Protocol

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
    """A call that a model asks for. `id` is the model's own name for it.

    `problem` says why it cannot be carried out as it was asked for; whoever carries out calls answers with it.
    """

    id: str
    tool: str
    args: JsonObject
    problem: str | None = optional()


class Failure(Wire):
    """Why a model gave no usable reply. A provider's failure is data: it never ends a task by itself."""

    code: str
    message: str
    recoverable: bool = True
    #: Whether the same request may succeed if it is simply made again.
    retry: bool = True
    #: How many seconds the provider asked to wait first.
    retry_after: float | None = optional()


class Kept(Wire):
    """A turn in its provider's own words, reasoning signatures included: the same model must be given it back so."""

    provider: str
    model: str
    content: list[JsonObject]


class Image(Wire):
    media_type: str
    data: Annotated[str, Field(description="The content, base64.")]


class Reply(Wire):
    text: str = ""
    thinking: str = ""
    calls: list[ToolUse] = []
    stop: Stop
    usage: Usage = Field(default_factory=Usage)
    failure: Failure | None = optional()
    kept: Kept | None = optional()


class ToolReturn(Wire):
    """What a call came back with. `advice` is what of `content`, at its end, is for a language model alone."""

    id: str
    tool: str
    status: str
    content: str
    advice: str | None = optional()


class UserTurn(Wire):
    role: Literal["user"] = "user"
    text: str
    images: list[Image] = []


class ModelTurn(Wire):
    role: Literal["assistant"] = "assistant"
    text: str
    calls: list[ToolUse] = []
    kept: Kept | None = optional()


class ToolTurn(Wire):
    role: Literal["tool"] = "tool"
    returns: list[ToolReturn]


Turn = UserTurn | ModelTurn | ToolTurn


@dataclass(frozen=True, slots=True)
class Brief:
    """What an agent is to do, in its parts; a language model reads the same as prose in the history.

    `part` names the agent's part in the task where it has only one of several (`test`, `s2`, `fix1`), `told` is what it
    is told of the work of others, and `changed` are the files that the task has changed so far. `changed_lines` says
    which of their lines, for a reviewer: `path:3-9,12`, or the path of a new file. `workspace` is the path of the
    folder that all of it is about.
    """

    asked: str = ""
    workspace: str = ""
    part: str = ""
    told: Sequence[str] = ()
    current_file: str | None = None
    selected_code: str | None = None
    open_files: Sequence[str] = ()
    changed: Sequence[str] = ()
    changed_lines: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Request:
    agent: str
    system: str
    history: Sequence[Turn]
    #: Those that the model is told of.
    tools: Sequence[ToolInfo] = field(default_factory=tuple)
    brief: Brief = field(default_factory=Brief)
    #: All that the agent may call, for who needs no telling.
    roster: Sequence[ToolInfo] = field(default_factory=tuple)
    #: How many of the model's turns are left out of the history, because its window was full.
    gone: int = 0


@dataclass(frozen=True, slots=True)
class Delta:
    """`anew`: what came of this kind before was cut off, and is said once more from its beginning."""

    text: str
    kind: Literal["text", "thinking"] = "text"
    anew: bool = False


@dataclass(frozen=True, slots=True)
class Switch:
    """Another model takes over, or the same one is asked again; `reason` is for the person."""

    provider: str
    model: str
    reason: str
    fallback_from: str | None = None


class Model(Protocol):
    """`stream` yields what there is to show while it comes, and last of all the whole reply. It does not raise."""

    @property
    def provider(self) -> str: ...

    @property
    def name(self) -> str: ...

    def stream(self, request: Request) -> AsyncIterator[Delta | Reply]: ...
