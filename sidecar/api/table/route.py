"""What a route is, and how it finds its handler."""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from starlette.responses import Response

from sidecar.wire import tasks
from sidecar.wire.base import Wire

TASK = "/api/brain/tasks/{task_id}"


class Parameter(NamedTuple):
    name: str
    doc: str
    kind: str = "string"


class Route(NamedTuple):
    """`answer` is a wire type, or the media type of another format; `doc` adds to the summary."""

    #: Method and path.
    endpoint: str
    name: str
    handler: Callable[..., Awaitable[Response]]
    summary: str
    answer: type[Wire] | str
    body: type[Wire] | None = None
    query: Sequence[Parameter] = ()
    headers: Sequence[Parameter] = ()
    refusals: Sequence[int] = ()
    doc: str = ""

    @property
    def method(self) -> str:
        return self.endpoint.partition(" ")[0]

    @property
    def path(self) -> str:
        return self.endpoint.partition(" ")[2]

    @property
    def status(self) -> int:
        return 202 if self.answer is tasks.Accepted else 200


IDEMPOTENCY = Parameter("Idempotency-Key", "Requests with the same key start one task.")


def bind(routes: Sequence[Route], owners: Iterable[object]) -> Iterator[tuple[str, str, str, Callable[[Any], Any]]]:
    """Name, method, path and bound handler of each route; `owners` are the objects whose methods handle them."""
    by_class = {type(owner).__name__: owner for owner in owners}
    for route in routes:
        owner = by_class[route.handler.__qualname__.partition(".")[0]]
        yield route.name, route.method, route.path, partial(route.handler, owner)
