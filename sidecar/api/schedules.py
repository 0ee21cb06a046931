"""The routes of schedules."""

import secrets
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response

from sidecar.api.requests import answer, idempotency_key
from sidecar.wire.schedules import ScheduleStarted

if TYPE_CHECKING:
    from sidecar.fleet.schedules.runner import ScheduleRunner


class ScheduleRoutes:
    def __init__(self, schedules: "ScheduleRunner") -> None:
        self._schedules = schedules

    async def state(self, request: Request) -> Response:
        return answer(await self._schedules.state())

    async def start(self, request: Request) -> Response:
        key = idempotency_key(request) or secrets.token_hex(16)
        return answer(ScheduleStarted(task_id=await self._schedules.start(request.path_params["name"], key)), 202)
