"""Declares routes on the methods that handle them: body and answer are the types, the docs are the docstring.

OpenAPI, REFERENCE.md and the docs test read the same declarations.
"""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeVar

from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import Response

from sidecar.api.problems import BodyTooLarge, InvalidBody
from sidecar.engine.errors import OperationRefused
from sidecar.wire.base import Wire

TASK = "/api/brain/tasks/{task_id}"

Handler = TypeVar("Handler", bound=Callable[..., Awaitable[Wire | Response]])

T = TypeVar("T", bound=Wire)
MAX_KEY = 200
MAX_SEQ = 10**15


class Parameter(NamedTuple):
    name: str
    doc: str
    kind: str = "string"


class Route(NamedTuple):
    #: Method and path.
    endpoint: str
    name: str
    handler: Callable[..., Awaitable[Wire | Response]]
    #: A wire type, or the media type of another format.
    answer: type[Wire] | str
    body: type[Wire] | None
    query: Sequence[Parameter]
    headers: Sequence[Parameter]
    refusals: Sequence[int]
    status: int

    @property
    def method(self) -> str:
        return self.endpoint.partition(" ")[0]

    @property
    def path(self) -> str:
        return self.endpoint.partition(" ")[2]

    @property
    def summary(self) -> str:
        """The first sentence of the handler's docstring; `doc` is the rest."""
        return self._described[0]

    @property
    def doc(self) -> str:
        return self._described[1]

    @property
    def _described(self) -> tuple[str, str]:
        first, _, rest = " ".join((self.handler.__doc__ or "").split()).partition(". ")
        return first.removesuffix("."), rest


IDEMPOTENCY = Parameter("Idempotency-Key", "Requests with the same key start one task.")
WORKSPACE = Parameter("workspace", "The workspace's directory; default: the sidecar's own.")


def route(
    endpoint: str,
    name: str,
    *,
    answers: type[Wire] | str | None = None,
    query: Sequence[Parameter] = (),
    headers: Sequence[Parameter] = (),
    refusals: Sequence[int] = (),
    status: int = 200,
) -> Callable[[Handler], Handler]:
    """`name` is the route's id in OpenAPI and in the roles; `answers` is the type if the method returns a response."""

    def declare(handler: Handler) -> Handler:
        types = [kind for each, kind in handler.__annotations__.items() if each not in ("request", "return")]
        answered = answers or handler.__annotations__["return"]
        body = types[0] if types else None
        handler.route = Route(endpoint, name, handler, answered, body, query, headers, refusals, status)  # type: ignore[attr-defined]
        return handler

    return declare


def routes_of(kind: type) -> list[Route]:
    return [member.route for member in vars(kind).values() if hasattr(member, "route")]


def bind(owners: Iterable[object]) -> Iterator[tuple[str, str, str, Callable[[Any], Any]]]:
    """Name, method, path and handler of each route that these objects declare."""
    for owner in owners:
        for each in routes_of(type(owner)):
            yield each.name, each.method, each.path, partial(_handle, each, owner)


async def _handle(each: Route, owner: object, request: Request) -> Response:
    given = () if each.body is None else (await read(request, each.body),)
    found = await each.handler(owner, request, *given)
    return found if isinstance(found, Response) else answer(found, each.status)


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
