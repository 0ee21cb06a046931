"""What carries out tasks, and the routes beyond tasks and sessions. It is loaded right after the ready line.

Importing this module takes as long as the start before it, so nothing else may import it at the top.
"""

import asyncio
import json
import logging
from collections.abc import Callable, Coroutine
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sidecar.api import application
from sidecar.api.changes import ReviewRoutes, WorktreeRoutes
from sidecar.api.fleet import FleetRoutes, ScheduleRoutes
from sidecar.api.grants import GrantRoutes
from sidecar.api.mcp import McpRoutes
from sidecar.api.memory import MemoryRoutes
from sidecar.api.metrics import MetricsRoutes
from sidecar.api.models import KeyRoutes, ModelRoutes
from sidecar.api.projects import ProjectRoutes
from sidecar.api.route import bind
from sidecar.api.system import DoctorRoutes, SystemRoutes
from sidecar.api.tools import ToolRoutes, TrustRoutes
from sidecar.app.launch import Launch
from sidecar.app.server import HttpServer
from sidecar.app.stores import Stores
from sidecar.app.toolbox import Toolbox
from sidecar.config.data_dir import DataDir
from sidecar.config.paths import config_file
from sidecar.config.settings import Settings
from sidecar.engine.engine import Engine
from sidecar.engine.places import is_remote
from sidecar.fleet.crew.crew import AGENTS, CrewWork
from sidecar.fleet.schedules.calendar import Calendar, LocalCalendar
from sidecar.fleet.schedules.runner import ScheduleRunner
from sidecar.fleet.state import Fleet
from sidecar.journal.port import Journal
from sidecar.mcp.endpoint import McpEndpoint
from sidecar.models.catalog import Catalog
from sidecar.models.selection import Selection
from sidecar.offline import OFFLINE
from sidecar.telemetry.redaction import Redactor
from sidecar.wire.tasks import ENDED, StoredRequest
from sidecar.work.customizations import Customizations
from sidecar.work.knowledge import Knowledge
from sidecar.work.roster import ROSTER
from sidecar.work.titles import Titles
from sidecar.work.tool_selection import COMMON
from sidecar.work.workflow import Workflow
from tools.executor.hooks import Hooks

if TYPE_CHECKING:
    from sidecar.acp.foreign.agents import ForeignAgents
    from tools.sandboxes.host import SandboxedBackend

log = logging.getLogger(__name__)


class Endings:
    def __init__(
        self,
        settings: Settings,
        journal: Journal,
        titles: Titles,
        hooks: Hooks,
        sandboxed: "SandboxedBackend | None",
        workspace: Path,
        schedules_ended: Callable[[], None],
        keep: Callable[[Coroutine[Any, Any, None]], None],
    ) -> None:
        self._settings = settings
        self._journal = journal
        self._titles = titles
        self._hooks = hooks
        self._sandboxed = sandboxed
        self._workspace = workspace
        self._schedules_ended = schedules_ended
        self._keep = keep

    def take(self, task_id: str, request: StoredRequest) -> None:
        """A run ended."""
        self._schedules_ended()
        if self._sandboxed is not None:
            self._keep(self._release_sandbox(task_id, self._sandboxed))
        if self._settings.titles == "model":
            self._titles.take(task_id, request)
        if self._settings.trace_endpoint:
            self._keep(self._export_trace(task_id))
        if self._hooks.wants_ends():
            self._keep(self._call_hooks(task_id))

    async def _call_hooks(self, task_id: str) -> None:
        task = await self._journal.task(task_id)
        if task.status in ENDED:
            names = {"id", "status", "task", "workspace", "result", "error", "verified"}
            result = task.model_dump(mode="json", by_alias=True, include=names)
            # A task on a remote has no directory any more.
            place = str(self._workspace) if is_remote(task) else task.workspace
            await self._hooks.task_ended({"taskId": result.pop("id"), **result}, place)

    async def _release_sandbox(self, task_id: str, sandboxed: "SandboxedBackend") -> None:
        """A cancelled task needs its sandbox no more; another task may take it."""
        task = await self._journal.task(task_id)
        if task.status == "cancelled" and task.workspace:
            await sandboxed.pool.release(task.workspace)

    async def _export_trace(self, task_id: str) -> None:
        from sidecar.telemetry.traces import NotExported, TaskSpans, export

        task, after = await self._journal.task(task_id), 0
        spans = TaskSpans(task.model_dump(mode="json", by_alias=True, exclude={"task", "result"}))
        while (page := await self._journal.events(task_id, after)).events:
            for event in page.events:
                spans.fold(json.loads(event.data))
            after = page.events[-1].seq or 0
        try:
            await asyncio.to_thread(export, spans.to_json(), self._settings.trace_endpoint)
        except NotExported as error:
            log.warning("The trace of task %s was not sent; `brain trace %s` writes it: %s", task_id, task_id, error)


class Parts:
    def __init__(
        self,
        launch: Launch,
        settings: Settings,
        data: DataDir,
        stores: Stores,
        tools: Toolbox,
        engine: Engine,
        redact: Redactor,
        keep: Callable[[Coroutine[Any, Any, None]], None],
    ) -> None:
        self._launch = launch
        self._stores = stores
        self._tools = tools
        self._engine = engine
        scripts = Path(settings.scripts or launch.data_dir / "scripts")
        self._catalog = Catalog(settings, scripts, OFFLINE, stores.keys, choices=stores.choices)
        self._customizations = Customizations(
            config_file().parent,
            stores.trust.trusted,
            lambda workspace: stores.trust.change(workspace) is not None,
            settings.rules_bytes,
            AGENTS,
        )
        memories = tools.memories
        self._workflow = Workflow(
            stores.journal,
            self._catalog,
            tools.registry,
            tools.executor,
            self._customizations,
            verify_seconds=settings.verify_seconds,
            contained=tools.sandboxes.available,
            references=tools.references,
            knowledge=Knowledge(memories.code, memories.past, memories.skills),
            foreign=partial(_foreign_agents, data.path, tools),
        )
        self.work = CrewWork(self._workflow, stores.journal)
        self.work.connect(engine)
        configuration = config_file().parent
        self.schedules = ScheduleRunner(configuration, stores.journal, engine, _calendar(stores, engine, configuration))
        self.titles = Titles(stores.journal, self._catalog, redact)
        self.endings = Endings(
            settings,
            stores.journal,
            self.titles,
            tools.hooks,
            tools.sandboxed,
            launch.workspace,
            self.schedules.task_ended,
            keep,
        )
        self._metrics: MetricsRoutes | None = None
        self._mcp: McpEndpoint | None = None

    def serve(self, http: HttpServer, fleet: Fleet, settings: Settings, port: int) -> None:
        """Add the routes that the server lacks."""
        launch, stores, tools, engine, catalog = self._launch, self._stores, self._tools, self._engine, self._catalog
        assert engine.worktrees is not None
        journal, choices, memories = stores.journal, stores.choices, tools.memories
        checked = engine.admission.checked_workspace
        self._metrics = MetricsRoutes(
            journal, http.streams, launch.data_dir, tools.registry.names, catalog.has_price, fleet
        )
        self._mcp = McpEndpoint(launch.url(port), settings.max_body_bytes)
        handlers = (
            *http.handlers,
            self._metrics,
            ProjectRoutes(engine, journal),
            ReviewRoutes(engine.review),
            WorktreeRoutes(engine.worktrees),
            ToolRoutes(tools.registry, tools.executor, tools.policy, checked),
            TrustRoutes(stores.trust, stores.approvals, launch.workspace, engine),
            GrantRoutes(stores.grants, launch.data_dir, checked),
            McpRoutes(tools.servers, tools.references, checked),
            FleetRoutes(fleet),
            ScheduleRoutes(self.schedules),
            ModelRoutes(catalog, Selection(catalog, choices)),
            KeyRoutes(stores.keys),
            MemoryRoutes(memories.code, memories.past, memories.notes, journal, checked),
            DoctorRoutes(launch.data_dir, launch.workspace, journal, tools.servers, tools.plugins),
            SystemRoutes(
                journal,
                self._customizations,
                http.streams,
                tools.bridge.shells,
                tools.sandboxes,
                launch.workspace,
                _openapi_document,
                choices.notice,
            ),
        )
        application.complete(http.app, bind(handlers), tools.bridge, self._mcp)

    async def warm_up(self) -> None:
        """Load what only a task needs, so that the first one doesn't wait for it."""
        await self._workflow.load()
        await self._tools.registry.describe(ROSTER["coder"].tools)
        await self._tools.registry.load(COMMON)
        await self._catalog.warm()

    async def close_routes(self) -> None:
        await self.titles.close()
        if self._mcp is not None:
            await self._mcp.close()

    async def close(self) -> None:
        """After the server: nothing asks for it any more."""
        await self._catalog.close()
        if self._metrics is not None:
            await self._metrics.totals.close()


def _calendar(stores: Stores, engine: Engine, configuration: Path) -> Calendar:
    if stores.shared is None:
        return LocalCalendar(configuration)
    from sidecar.fleet.schedules.shared import SharedCalendar

    return SharedCalendar(configuration, stores.shared, stores.shared.clock, engine.owner)


def _foreign_agents(private: Path, tools: Toolbox) -> "ForeignAgents":
    """Imported when an external agent is first used."""
    from sidecar.acp.foreign.agents import ForeignAgents
    from sidecar.acp.foreign.process import AgentProcesses

    places = (str(private), str(config_file().parent))
    return ForeignAgents(tools.executor, AgentProcesses(private, tools.sandboxes, places))


def _openapi_document() -> dict[str, Any]:
    from sidecar.api.openapi import document

    return document()
