"""Routes of the fleet and of schedules."""

import secrets
from typing import TYPE_CHECKING

from starlette.requests import Request

from sidecar.api.route import Parameter, idempotency_key, route
from sidecar.wire.fleet import ScheduleList, ScheduleStarted

if TYPE_CHECKING:
    from sidecar.fleet.schedules.runner import ScheduleRunner

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
        """Drain or stop a worker. The worker gets the order with its next heartbeat, within five seconds."""
        await self._fleet.order(wanted)
        return await self._fleet.state()


class ScheduleRoutes:
    def __init__(self, schedules: "ScheduleRunner") -> None:
        self._schedules = schedules

    @route("GET /api/brain/schedules", "schedules")
    async def state(self, request: Request) -> ScheduleList:
        """Get the schedules: when each runs next, and what it has used today. Reads the files of your configuration
        directory again."""
        return await self._schedules.state()

    @route(
        "POST /api/brain/schedules/{name}/start",
        "schedule_start",
        headers=(Parameter("Idempotency-Key", "The same key gives the same task."),),
        refusals=(404, 409, 503),
        status=202,
    )
    async def start(self, request: Request) -> ScheduleStarted:
        """Start a schedule now, within its limits and budgets."""
        key = idempotency_key(request) or secrets.token_hex(16)
        return ScheduleStarted(task_id=await self._schedules.start(request.path_params["name"], key))
