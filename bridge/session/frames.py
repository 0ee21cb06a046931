"""Frames as text, and text as frames; a text that is no frame becomes the error that answers it."""

from functools import cache
from typing import NamedTuple, TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import from_json

from bridge.session.errors import FrameTooLarge
from sidecar.wire.bridge import FRAME_LIMIT, ErrorFrame, Frame, ShellFrame, SidecarFrame
from sidecar.wire.events import ErrorBody

_SHOWN_ERRORS = 3

F = TypeVar("F")


class Bad(NamedTuple):
    answer: ErrorFrame


@cache
def _from_shell() -> TypeAdapter[ShellFrame]:
    return TypeAdapter(ShellFrame)


@cache
def _from_sidecar() -> TypeAdapter[SidecarFrame]:
    return TypeAdapter(SidecarFrame)


def read_shell_frame(text: str) -> ShellFrame | Bad:
    return _read(_from_shell(), text)


def read_sidecar_frame(text: str) -> SidecarFrame | Bad:
    return _read(_from_sidecar(), text)


def written(frame: Frame) -> str:
    text = frame.to_json()
    # No character takes more than four bytes: counting them is only worth it near the limit.
    if len(text) > FRAME_LIMIT // 4 and len(text.encode()) > FRAME_LIMIT:
        raise FrameTooLarge(f"It has more than {FRAME_LIMIT} bytes.")
    return text


def refusal(code: str, message: str, call_id: str | None = None) -> ErrorFrame:
    return ErrorFrame(id=call_id, error=ErrorBody(code=code, message=message))


def _read(adapter: TypeAdapter[F], text: str) -> F | Bad:
    if len(text) > FRAME_LIMIT // 4 and len(text.encode("utf-8", "replace")) > FRAME_LIMIT:
        return Bad(refusal("frame_too_large", f"A frame may have at most {FRAME_LIMIT} bytes."))
    try:
        return adapter.validate_json(text)
    except ValidationError as error:
        return _second_look(adapter, text, error)


def _second_look(adapter: TypeAdapter[F], text: str, error: ValidationError) -> F | Bad:
    """Only for what did not fit at once: the event's own fields may stand inside it, and an answer names the call."""
    try:
        value = from_json(text)
    except ValueError:
        return Bad(refusal("malformed_json", "The frame is not JSON."))
    if not isinstance(value, dict):
        return Bad(refusal("bad_frame", "A frame is a JSON object with a type."))
    event = value.get("event")
    if value.get("type") == "notify" and isinstance(event, dict):
        try:
            return adapter.validate_python({**event, "type": "notify", "event": event.get("type")})
        except ValidationError as inner:
            error = inner
    problems = error.errors(include_url=False, include_input=False, include_context=False)
    told = "; ".join(
        f"{'.'.join(map(str, each['loc'])) or 'frame'}: {each['msg']}" for each in problems[:_SHOWN_ERRORS]
    )
    call_id = value.get("id")
    known = call_id if isinstance(call_id, str) and 0 < len(call_id) <= 512 else None
    return Bad(refusal("bad_frame", f"The frame was not understood. {told[:500]}", known))
