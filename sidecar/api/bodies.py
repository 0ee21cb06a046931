"""Reading what a request says, and answering with a wire type."""

from typing import TypeVar

from starlette.requests import Request
from starlette.responses import Response

from sidecar.api.guard import BodyTooLarge
from sidecar.engine.errors import OperationRefused
from sidecar.wire.base import Wire

T = TypeVar("T", bound=Wire)
MAX_KEY = 200


async def read(request: Request, kind: type[T]) -> T:
    """Raises `ValidationError`, which the application answers with what is wrong and where."""
    try:
        body = await request.body()
    except BodyTooLarge:
        raise OperationRefused(413, "body_too_large", "The body is larger than this sidecar takes.") from None
    # A word that only looks like the right type is a slip: "no" for a switch must not be taken for a yes or a no.
    return kind.model_validate_json(body or b"{}", strict=True)


def answer(value: Wire, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(value.to_json(), status, headers, media_type="application/json")


def number(request: Request, name: str, default: int, *, most: int) -> int:
    text = request.query_params.get(name)
    if text is None or text == "":
        return default
    if not (text.isascii() and text.isdigit()) or len(text) > 18:
        raise OperationRefused(422, "invalid_request", f"{name} must be a whole number from 0 to {most}.")
    value = int(text)
    if value > most:
        raise OperationRefused(422, "invalid_request", f"{name} must be a whole number from 0 to {most}.")
    return value


def idempotency_key(request: Request) -> str | None:
    key = request.headers.get("idempotency-key")
    if key is not None and (not key.strip() or len(key) > MAX_KEY):
        raise OperationRefused(422, "invalid_request", f"Idempotency-Key must have 1 to {MAX_KEY} characters.")
    return key
