"""Declares routes on the methods that handle them: body and answer are the types, the docs are the docstring.

OpenAPI, REFERENCE.md and the docs test read the same declarations.
"""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeVar

from starlette.requests import Request
from starlette.responses import Response

from sidecar.api.requests import answer, read
from sidecar.wire.base import Wire

TASK = "/api/brain/tasks/{task_id}"

Handler = TypeVar("Handler", bound=Callable[..., Awaitable[Wire | Response]])


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
