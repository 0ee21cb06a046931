"""Routes of the fleet."""

from starlette.requests import Request
from starlette.responses import Response

from sidecar.api.requests import answer, read
from sidecar.fleet.state import Fleet
from sidecar.wire.fleet import WorkerOrder


class FleetRoutes:
    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet

    async def state(self, request: Request) -> Response:
        return answer(await self._fleet.state())

    async def order(self, request: Request) -> Response:
        await self._fleet.order(await read(request, WorkerOrder))
        return answer(await self._fleet.state())
