"""The bridge protocol: frames as text, the effects that a session asks for, and its errors.

BridgeError           a session refuses its own side; it refuses the other side by an `error` frame
├── DuplicateCall     a call with this id is open already
├── FrameTooLarge     it would not fit into a frame
├── TooManyCalls      the shell has the most open calls that it may have
└── TooManyShells     no further session can be kept
"""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import from_json

from sidecar.wire.base import ErrorBody
from sidecar.wire.bridge import (
    FRAME_LIMIT,
    EndedProcess,
    ErrorFrame,
    Frame,
    NotifyFrame,
    OpenCall,
    ResultBody,
    ShellFrame,
    SidecarFrame,
    Welcome,
)
from sidecar.wire.validation import describe_errors

_SHOWN_ERRORS = 3

F = TypeVar("F")


class BridgeError(Exception):
    pass


class DuplicateCall(BridgeError):
    pass


class FrameTooLarge(BridgeError):
    pass


class TooManyCalls(BridgeError):
    pass


class TooManyShells(BridgeError):
    pass


# -- effects: the owner of the socket carries them out, in order -------------------------------------------------


class Send(NamedTuple):
    text: str


class Settled(NamedTuple):
    """The one end of a call: a result or an error. `answered` is false if the shell didn't report it itself."""

    call_id: str
    result: ResultBody | None
    error: ErrorBody | None = None
    killed: Sequence[EndedProcess] = ()
    answered: bool = True


class Streamed(NamedTuple):
    call_id: str
    stream: str
    text: str


class Notified(NamedTuple):
    frame: NotifyFrame


class RunCall(NamedTuple):
    """The shell runs this call now; it comes once for an id, however often the frame does."""

    call: OpenCall


class StopCall(NamedTuple):
    call_id: str


class Welcomed(NamedTuple):
    frame: Welcome


Effect = Send | Settled | Streamed | Notified
ShellEffect = Send | RunCall | StopCall | Welcomed


# -- frames --------------------------------------------------


class BadFrame(NamedTuple):
    """A text that is no frame, as the error that answers it."""

    answer: ErrorFrame


@cache
def _from_shell() -> TypeAdapter[ShellFrame]:
    return TypeAdapter(ShellFrame)


@cache
def _from_sidecar() -> TypeAdapter[SidecarFrame]:
    return TypeAdapter(SidecarFrame)


def parse_shell_frame(text: str) -> ShellFrame | BadFrame:
    return _parse(_from_shell(), text)


def parse_sidecar_frame(text: str) -> SidecarFrame | BadFrame:
    return _parse(_from_sidecar(), text)


def encode_frame(frame: Frame) -> str:
    text = frame.to_json()
    # A character takes at most four bytes, so count bytes only near the limit.
    if len(text) > FRAME_LIMIT // 4 and len(text.encode()) > FRAME_LIMIT:
        raise FrameTooLarge(f"It has more than {FRAME_LIMIT} bytes.")
    return text


def error_frame(code: str, message: str, call_id: str | None = None) -> ErrorFrame:
    return ErrorFrame(id=call_id, error=ErrorBody(code=code, message=message))


def _parse(adapter: TypeAdapter[F], text: str) -> F | BadFrame:
    if len(text) > FRAME_LIMIT // 4 and len(text.encode("utf-8", "replace")) > FRAME_LIMIT:
        return BadFrame(error_frame("frame_too_large", f"A frame may have at most {FRAME_LIMIT} bytes."))
    try:
        return adapter.validate_json(text)
    except ValidationError as error:
        return _parse_leniently(adapter, text, error)


def _parse_leniently(adapter: TypeAdapter[F], text: str, error: ValidationError) -> F | BadFrame:
    """A notification's fields may be inside its event. An error answer names the call, if the frame does."""
    try:
        value = from_json(text)
    except ValueError:
        return BadFrame(error_frame("malformed_json", "The frame is not JSON."))
    if not isinstance(value, dict):
        return BadFrame(error_frame("bad_frame", "A frame is a JSON object with a type."))
    event = value.get("event")
    if value.get("type") == "notify" and isinstance(event, dict):
        try:
            return adapter.validate_python({**event, "type": "notify", "event": event.get("type")})
        except ValidationError as inner:
            error = inner
    described = "; ".join(
        f"{field}: {message}" if field else message
        for field, message in describe_errors(error, BaseModel)[:_SHOWN_ERRORS]
    )
    call_id = value.get("id")
    known = call_id if isinstance(call_id, str) and 0 < len(call_id) <= 512 else None
    return BadFrame(error_frame("bad_frame", f"Can't parse the frame. {described[:500]}", known))
