"""Routes that say whether the sidecar is up, and whether it can take tasks."""

from collections.abc import Awaitable, Callable

from starlette.requests import Request

from sidecar import __version__
from sidecar.api.route import route
from sidecar.engine.errors import OperationRefused
from sidecar.journal.errors import JournalStalled
from sidecar.journal.port import Journal
from sidecar.wire.health import Health


class HealthRoutes:
    def __init__(self, journal: Journal, problem: Callable[[], Awaitable[str]]) -> None:
        """`problem` returns why the fleet isn't ready; empty if it is."""
        self._journal = journal
        self._problem = problem

    @route("GET /health", "health")
    async def health(self, request: Request) -> Health:
        """Whether the sidecar is up. Needs no token and says nothing else."""
        return Health(version=__version__)

    @route("GET /ready", "ready", refusals=(503,))
    async def ready(self, request: Request) -> Health:
        """Whether the sidecar can take tasks: the journal can be written and its disk has room. Needs no token. 503
        says what is wrong."""
        try:
            await self._journal.check()
        except JournalStalled as error:
            raise OperationRefused(503, "not_ready", str(error)) from error
        if problem := await self._problem():
            raise OperationRefused(503, "not_ready", problem)
        return Health(version=__version__)
