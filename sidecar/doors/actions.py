"""What a delivery asks for."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class StartTask:
    """A new task; or, if the subject has one already, `further` as a message to it."""

    text: str
    workspace: str
    options: Mapping[str, Any] = field(default_factory=dict)
    further: str = ""


@dataclass(frozen=True, slots=True)
class StopTask:
    """Cancel the subject's task."""


@dataclass(frozen=True, slots=True)
class Press:
    """Someone pressed a button in a chat."""

    token: str
    person: str
    chat: str


@dataclass(frozen=True, slots=True)
class Reply:
    """Someone wrote in a thread that may have a task."""

    text: str
    person: str


@dataclass(frozen=True, slots=True)
class Ignore:
    why: str


Action = StartTask | StopTask | Press | Reply | Ignore


def look_up(payload: object, path: str) -> object:
    """The value at `repository.owner.login` or `commits.0.id`; `None` if there is none."""
    for part in path.split("."):
        if isinstance(payload, Mapping):
            payload = payload.get(part)
        elif isinstance(payload, list) and part.isascii() and part.isdigit() and len(part) < 6:
            payload = payload[int(part)] if int(part) < len(payload) else None
        else:
            return None
    return payload


def text_at(payload: object, path: str) -> str:
    """A string or number at that path, else the empty string."""
    found = look_up(payload, path)
    return str(found) if isinstance(found, (str, int, float)) and not isinstance(found, bool) else ""
