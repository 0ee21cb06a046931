"""The routes of schedules."""

import secrets
from typing import TYPE_CHECKING

from starlette.requests import Request

from sidecar.api.requests import idempotency_key
from sidecar.api.route import Parameter, route
from sidecar.wire.schedules import ScheduleList, ScheduleStarted

if TYPE_CHECKING:
    from sidecar.fleet.schedules.runner import ScheduleRunner


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
