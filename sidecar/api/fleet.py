"""Routes of the fleet."""

from starlette.requests import Request

from sidecar.api.route import route
from sidecar.fleet.state import Fleet
from sidecar.wire.fleet import FleetState, WorkerOrder


class FleetRoutes:
    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet

    @route("GET /api/brain/fleet", "fleet")
    async def state(self, request: Request) -> FleetState:
        """Get the fleet: leader, workers and queue. A sidecar on its own file is a fleet of one."""
        return await self._fleet.state()

    @route("POST /api/brain/fleet/orders", "fleet_order", refusals=(404, 409))
    async def order(self, request: Request, wanted: WorkerOrder) -> FleetState:
        """Drain or stop a worker. The worker hears of it with its next heartbeat, within five seconds."""
        await self._fleet.order(wanted)
        return await self._fleet.state()
