"""Routes for the sidecar itself: status, agents, routing, doctor, OpenAPI."""

import asyncio
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from sidecar import __version__
from sidecar.api.route import route
from sidecar.api.streams import Streams
from sidecar.engine.errors import OperationRefused
from sidecar.journal.port import Journal
from sidecar.wire.system import AgentList, Examination, SandboxState, ShellState, StatusAnswer
from sidecar.wire.tasks import RouteAnswer, RouteRequest
from sidecar.work.customizations import Customizations
from tools.local.sandbox.probe import Sandboxes
from tools.plugins import Plugins

if TYPE_CHECKING:
    from tools.mcp.servers import McpServers


class SystemRoutes:
    def __init__(
        self,
        journal: Journal,
        customizations: Customizations,
        streams: Streams,
        shells: Callable[[], list[ShellState]],
        sandboxes: Sandboxes,
        workspace: Path,
        document: Callable[[], dict[str, Any]],
        notice: Callable[[], str],
    ) -> None:
        self._notice = notice
        self._journal = journal
        self._customizations = customizations
        self._streams = streams
        self._shells = shells
        self._sandboxes = sandboxes
        self._workspace = workspace
        self._document = document
        self._started = time.monotonic()

    @route("GET /openapi.json", "openapi", answers="application/json")
    async def openapi(self, request: Request) -> Response:
        """This API as OpenAPI 3.1."""
        return JSONResponse(self._document())

    @route("GET /api/brain/status", "status")
    async def status(self, request: Request) -> StatusAnswer:
        """Get the sidecar's status."""
        counts = await self._journal.counts()
        # The first request tries the sandbox out, so that a start doesn't wait for it.
        await asyncio.to_thread(self._sandboxes.best)
        return StatusAnswer(
            version=__version__,
            pid=os.getpid(),
            workspace=str(self._workspace),
            uptime_seconds=time.monotonic() - self._started,
            tasks={str(status): count for status, count in counts.items()},
            streams=self._streams.open,
            notice=self._notice() or None,
            shells=self._shells(),
            sandbox=SandboxState(tier=self._sandboxes.tier, message=self._sandboxes.description),
            journal=self._journal.state(),
        )

    @route("GET /api/brain/agents", "agents")
    async def agents(self, request: Request) -> AgentList:
        """List the agents."""
        agents = self._customizations.load(str(self._workspace)).agents
        return AgentList(agents=[agent.info() for agent in agents.values()])

    @route("POST /api/brain/route", "route")
    async def route(self, request: Request, wanted: RouteRequest) -> RouteAnswer:
        """Explain how a task would be routed. Runs nothing."""
        from sidecar.work.router import route, suggest_for

        workspace = wanted.context.workspace or str(self._workspace)
        custom = self._customizations.load(workspace)
        if suggestion := suggest_for(wanted.task, custom):
            raise OperationRefused(422, "unknown_command", suggestion)
        return route(wanted.task, commands=custom.commands, agents=custom.agents, context=wanted.context)


class DoctorRoutes:
    def __init__(
        self, data_dir: Path, workspace: Path, journal: Journal, servers: "McpServers", plugins: Plugins
    ) -> None:
        self._servers = servers
        self._plugins = plugins
        self._data_dir = data_dir
        self._workspace = workspace
        self._journal = journal
        self._examining = asyncio.Lock()

    @route("GET /api/brain/doctor", "doctor")
    async def examine(self, request: Request) -> Examination:
        """Check the setup, with a fix for each problem."""
        from sidecar.doctor.checks import run_checks
        from sidecar.doctor.report import DoctorContext, RunningSidecar

        state = self._journal.state()
        running = RunningSidecar(
            url=str(request.base_url).rstrip("/"),
            pid=os.getpid(),
            tasks={str(status): count for status, count in (await self._journal.counts()).items()},
            journal_stalled="" if state.state == "ok" else state.message,
            journal_bytes=state.size_bytes,
            mcp=[(each.name, each.state, each.error) for each in self._servers.statuses(str(self._workspace))],
            tools=dict(self._plugins.problems),
        )
        # In a thread, one at a time: it starts programs and tries ports.
        async with self._examining:
            context = DoctorContext(self._data_dir, self._workspace, os.environ, running)
            findings = await asyncio.to_thread(run_checks, context)
        return Examination(findings=findings)
