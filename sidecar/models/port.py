"""The model port: one request type and one reply type for every provider."""

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Literal, NamedTuple, Protocol

from pydantic import Field, SkipValidation

from sidecar.models.errors import Failure
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
    """A tool call in a model's reply. `id` comes from the model.

    `problem` says why the call can't run as requested; the loop answers with it.
    """

    id: str
    tool: str
    args: JsonObject
    problem: str | None = optional()


class NativeTurn(Wire):
    """A turn in its provider's own format with reasoning signatures; the same model must get it back unchanged."""

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
    kept: NativeTurn | None = optional()


class ToolReturn(Wire):
    """The result of a tool call: `content` for a language model, `details` for code.

    `code` and `message` say why it failed, and `advice` is the tail of `content` that only a language model needs.
    """

    id: str
    tool: str
    status: str
    content: str
    advice: str | None = optional()
    code: str | None = optional()
    message: str | None = optional()
    details: Annotated[JsonObject, SkipValidation] = Field(default_factory=dict)


class UserTurn(Wire):
    role: Literal["user"] = "user"
    text: str
    images: list[Image] = []


class ModelTurn(Wire):
    role: Literal["assistant"] = "assistant"
    text: str
    calls: list[ToolUse] = []
    kept: NativeTurn | None = optional()


class ToolTurn(Wire):
    role: Literal["tool"] = "tool"
    returns: list[ToolReturn]


Turn = UserTurn | ModelTurn | ToolTurn


@dataclass(frozen=True, slots=True)
class EarlierCall:
    """A command or test run that the task has finished, with its typed result."""

    tool: str
    args: JsonObject
    status: str
    code: str | None = None
    message: str | None = None
    details: JsonObject = field(default_factory=dict)


class Brief(NamedTuple):
    """The assignment of an agent as typed parts; a language model reads the same as prose in the history.

    `part` names the agent's share of the task if it has only one of several, such as `test`. `planned_step` is its step
    of the plan, counted from 1. `fixes` says that it fixes what a review found, `follows` that other agents worked on
    the task before. `plan` lists the files of each planned step. `changed` are the files that the task changed so far,
    and `changed_lines` their lines, for a reviewer: `path:3-9,12`, or the path of a new file.
    """

    asked: str = ""
    workspace: str = ""
    part: str = ""
    planned_step: int = 0
    fixes: bool = False
    follows: bool = False
    plan: Sequence[Sequence[str]] = ()
    earlier_calls: Sequence[EarlierCall] = ()
    current_file: str | None = None
    selected_code: str | None = None
    open_files: Sequence[str] = ()
    changed: Sequence[str] = ()
    changed_lines: Sequence[str] = ()


class Request(NamedTuple):
    agent: str
    system: str
    history: Sequence[Turn]
    #: The tools in the prompt.
    tools: Sequence[ToolInfo] = ()
    brief: Brief = Brief()
    #: All tools the agent may call.
    roster: Sequence[ToolInfo] = ()
    #: Number of replies that a model has given to this agent in this step, for one that plays a script. None: the
    #: number of its turns in the history.
    replies: int | None = None


class Delta(NamedTuple):
    """`anew`: discard earlier deltas of this kind; the model starts over."""

    text: str
    kind: Literal["text", "thinking"] = "text"
    anew: bool = False


class Switch(NamedTuple):
    """A fallback to another model, or a retry of the same one. `reason` is shown to the user."""

    provider: str
    model: str
    reason: str
    fallback_from: str | None = None


class Capabilities(NamedTuple):
    """The defaults are those of a remote language model."""

    #: Tokens that one request can hold; None if unknown.
    context_tokens: int | None = None
    tools: bool = True
    vision: bool = True
    #: Whether it reads prose. A model that doesn't reads the brief, and gives the same answer every time.
    language: bool = True
    #: Whether it runs in this process: always available, never overloaded.
    in_process: bool = False


class Model(Protocol):
    """`stream` yields deltas and, last, the whole reply. It doesn't raise."""

    @property
    def provider(self) -> str: ...

    @property
    def name(self) -> str: ...

    @property
    def capabilities(self) -> Capabilities: ...

    def stream(self, request: Request) -> AsyncIterator[Delta | Reply]: ...


class BuiltinModel(NamedTuple):
    """The model that needs no key. The composition root registers it; `load` imports it on first use."""

    provider: str
    name: str
    load: Callable[[], Model]

    @property
    def full_name(self) -> str:
        return f"{self.provider}/{self.name}"
