"""The actions that a delivery can ask for, and how to read its JSON."""

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
    #: Work in a clone of this repository on GitHub, where the door to GitHub has a token, and offer a pull request.
    repository: str = ""
    #: What the branch is called after.
    name: str = ""
    #: Work in a clone of this pull request, which left its base at this commit.
    pull: int | None = None
    base: str = ""


@dataclass(frozen=True, slots=True)
class StartSchedule:
    """Start a schedule of yours now, within its limits. The delivery's text goes nowhere."""

    name: str


@dataclass(frozen=True, slots=True)
class Steer:
    """Say something to the subject's task, if it has one."""

    text: str
    #: Only if this is the commit that we pushed last.
    head: str = ""
    #: At most once for each subject.
    once: str = ""


@dataclass(frozen=True, slots=True)
class EndWork:
    """The pull request is merged or closed."""

    merged: bool


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


Action = StartTask | StartSchedule | Steer | StopTask | EndWork | Press | Reply | Ignore


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


def list_at(payload: object, path: str) -> list[Any]:
    """The list at that path, else an empty one."""
    found = look_up(payload, path)
    return found if isinstance(found, list) else []


def text_at(payload: object, path: str) -> str:
    """A string or number at that path, else the empty string."""
    found = look_up(payload, path)
    return str(found) if isinstance(found, (str, int, float)) and not isinstance(found, bool) else ""
