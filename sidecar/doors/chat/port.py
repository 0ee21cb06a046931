"""The port of a chat service, and what we say through it. Plain text: no service interprets what a model wrote."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol


class Button(NamedTuple):
    """`verb` is allow, deny, answer, say, stop or acknowledge; `item` the approval's or question's id."""

    label: str
    verb: str
    item: str = ""
    #: The scope of an approval, or the answer itself.
    choice: str = ""


class Drawn(NamedTuple):
    """A button as the service shows it; pressing it sends the token back."""

    label: str
    token: str


class Place(NamedTuple):
    """Where a message goes: a chat, and the message or thread there that it answers; empty if none."""

    chat: str
    thread: str = ""


class Messenger(Protocol):
    """Raises `NotSent` if the service doesn't take it."""

    #: Seconds between two edits of a message: services limit them.
    interval: float
    #: Characters of a message.
    longest: int

    async def post(self, place: Place, text: str, buttons: Sequence[Drawn], key: str) -> str:
        """The id of the new message. `key` is kept with it if the service can."""

    async def edit(self, place: Place, message: str, text: str, buttons: Sequence[Drawn]) -> None: ...

    async def find(self, place: Place, key: str) -> str | None:
        """The id of a message that an earlier attempt posted, if the service can tell."""

    async def close(self) -> None: ...
