"""Reading a request's body, query and headers, and answering with a wire type."""

from typing import TypeVar

from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import Response

from sidecar.api.problems import BodyTooLarge, InvalidBody
from sidecar.engine.errors import OperationRefused
from sidecar.wire.base import Wire

T = TypeVar("T", bound=Wire)
MAX_KEY = 200
MAX_SEQ = 10**15


async def read(request: Request, kind: type[T]) -> T:
    """Parse the body; raises `InvalidBody`, which becomes a problem document that names each wrong field."""
    try:
        body = await request.body()
    except BodyTooLarge:
        raise OperationRefused(413, "body_too_large", "The body is larger than `max_body_bytes` allows.") from None
    try:
        # Strict: "no" for a boolean is a mistake, not a value to guess.
        return kind.model_validate_json(body or b"{}", strict=True)
    except ValidationError as error:
        raise InvalidBody(kind, error) from error


def answer(value: Wire, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(value.to_json(), status, headers, media_type="application/json")


def number(request: Request, name: str, default: int, *, most: int) -> int:
    text = request.query_params.get(name)
    if text is None or text == "":
        return default
    value = int(text) if text.isascii() and text.isdigit() and len(text) <= 18 else None
    if value is None or value > most:
        raise OperationRefused(422, "invalid_request", f"{name} must be a whole number from 0 to {most}.")
    return value


def task_id(request: Request) -> str:
    found: str = request.path_params["task_id"]
    return found


def idempotency_key(request: Request) -> str | None:
    key = request.headers.get("idempotency-key")
    if key is not None and (not key.strip() or len(key) > MAX_KEY):
        raise OperationRefused(422, "invalid_request", f"Idempotency-Key must have 1 to {MAX_KEY} characters.")
    return key


def resume_point(request: Request) -> int:
    """The event after which a stream starts: `Last-Event-ID`, else `after`."""
    last = request.headers.get("last-event-id")
    if not last:
        return number(request, "after", 0, most=MAX_SEQ)
    if not (last.isascii() and last.isdigit()) or int(last) > MAX_SEQ:
        raise OperationRefused(422, "invalid_request", "Last-Event-ID must be the id of an event of this stream.")
    return int(last)
