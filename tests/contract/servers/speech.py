"""What a model says in a test, before any provider's words are put on it."""

from dataclasses import dataclass, field
from typing import Any, Protocol

from tests.contract.servers.http import Answer


@dataclass(frozen=True)
class Call:
    tool: str
    #: As text, so that it may also be broken.
    args: str = "{}"
    id: str = ""


@dataclass(frozen=True)
class Speech:
    text: str = ""
    thinking: str = ""
    calls: tuple[Call, ...] = ()
    #: `end`, `length` or `refusal`.
    stop: str = "end"
    read: int = 100
    cached: int = 0
    written: int = 20
    #: Sent between the events, as providers do while a model thinks.
    keep_alives: bool = False
    #: The last event is left out.
    unfinished: bool = False


@dataclass(frozen=True)
class Trouble:
    """A failure before or inside a stream."""

    status: int
    kind: str = "overloaded"
    message: str = "Too many people at once."
    headers: dict[str, str] = field(default_factory=dict)


class Speaker(Protocol):
    """One provider's wire format."""

    provider: str
    #: What the environment calls its key and its base URL.
    key: str
    base_url: str
    model: str

    def stream(self, speech: Speech) -> bytes: ...

    def error(self, trouble: Trouble) -> Answer: ...

    def error_in_stream(self, speech: Speech) -> bytes: ...

    def event(self, event: dict[str, Any]) -> bytes:
        """One event of a stream, whatever it holds."""

    def prefix(self) -> str:
        """What the base URL needs behind the server's address."""

    def tools(self, body: Any) -> list[str]:
        """The names of the tools that are offered."""

    def asked(self, body: Any) -> list[tuple[str, Any]]:
        """The messages of a request, in the common form: (`user` | `model` | `result`, what)."""
