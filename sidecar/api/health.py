"""Routes that say whether the sidecar is up, and whether it can take tasks."""

from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response

from sidecar import __version__
from sidecar.api.requests import answer
from sidecar.engine.errors import OperationRefused
from sidecar.journal.errors import JournalStalled
from sidecar.journal.port import Journal
from sidecar.wire.health import Health


class HealthRoutes:
    def __init__(self, journal: Journal, problem: Callable[[], Awaitable[str]]) -> None:
        """`problem` returns why the fleet isn't ready; empty if it is."""
        self._journal = journal
        self._problem = problem

    async def health(self, request: Request) -> Response:
        return answer(Health(version=__version__))

    async def ready(self, request: Request) -> Response:
        try:
            await self._journal.check()
        except JournalStalled as error:
            raise OperationRefused(503, "not_ready", str(error)) from error
        if problem := await self._problem():
            raise OperationRefused(503, "not_ready", problem)
        return answer(Health(version=__version__))
