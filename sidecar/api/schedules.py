"""The route of schedules."""

from starlette.requests import Request
from starlette.responses import Response

from sidecar.api.requests import answer
from sidecar.fleet.schedules.runner import ScheduleRunner


class ScheduleRoutes:
    def __init__(self, schedules: ScheduleRunner) -> None:
        self._schedules = schedules

    async def state(self, request: Request) -> Response:
        return answer(await self._schedules.state())
