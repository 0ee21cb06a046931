"""The HTTP server: every group of routes with what it needs."""

from typing import TYPE_CHECKING, Any

from sidecar.api import application
from sidecar.api.fleet import FleetRoutes
from sidecar.api.grants import GrantRoutes
from sidecar.api.identity import KnownTokens, bearer
from sidecar.api.limits import ConnectionLimits
from sidecar.api.mcp import McpRoutes
from sidecar.api.memory import MemoryRoutes
from sidecar.api.metrics import MetricsRoutes
from sidecar.api.models import KeyRoutes, ModelRoutes
from sidecar.api.projects import ProjectRoutes
from sidecar.api.schedules import ScheduleRoutes
from sidecar.api.server import QuietServer
from sidecar.api.session import SessionRoutes
from sidecar.api.streams import Streams
from sidecar.api.system import DoctorRoutes, SystemRoutes
from sidecar.api.table import TABLE
from sidecar.api.table.route import bind
from sidecar.api.tasks import ReviewRoutes, TaskRoutes, WorktreeRoutes
from sidecar.api.tools import ToolRoutes, TrustRoutes
from sidecar.app.launch import Launch, split
from sidecar.config.data_dir import DataDir, RenewalKeys
from sidecar.config.settings import Settings
from sidecar.engine.engine import Engine
from sidecar.fleet.schedules.runner import ScheduleRunner
from sidecar.fleet.state import Fleet
from sidecar.mcp.endpoint import McpEndpoint
from sidecar.models.catalog import Catalog
from sidecar.models.selection import Selection
from sidecar.work.customizations import Customizations

if TYPE_CHECKING:
    from sidecar.app.stores import Stores
    from sidecar.app.toolbox import Toolbox

#: Connections with the token beyond those of the streams.
MORE_CONNECTIONS = 1_024


class HttpServer:
    """The server with those of its parts that are closed on their own."""

    def __init__(
        self,
        launch: Launch,
        settings: Settings,
        data: DataDir,
        stores: "Stores",
        tools: "Toolbox",
        engine: Engine,
        schedules: ScheduleRunner,
        fleet: Fleet,
        catalog: Catalog,
        customizations: Customizations,
        tokens: KnownTokens,
        token: str,
        port: int,
    ) -> None:
        assert engine.worktrees is not None
        journal, choices, checked = stores.journal, stores.choices, engine.checked_workspace
        self.streams = Streams(settings.max_streams, settings.slow_reader_seconds)
        self.metrics = MetricsRoutes(
            journal, self.streams, launch.data_dir, tools.registry.names, catalog.has_price, fleet
        )
        self.mcp = McpEndpoint(launch.url(port), settings.max_body_bytes)
        session = SessionRoutes(token, RenewalKeys(data), launch.data_dir, launch.authority(port))
        session.sweep()
        handlers = (
            self.metrics,
            TaskRoutes(engine, journal, self.streams, choices.notice),
            ProjectRoutes(engine, journal),
            ReviewRoutes(engine.review),
            WorktreeRoutes(engine.worktrees),
            ToolRoutes(tools.registry, tools.executor, tools.policy, checked),
            TrustRoutes(stores.trust, stores.approvals, launch.workspace, engine),
            GrantRoutes(stores.grants, launch.data_dir, checked),
            McpRoutes(tools.servers, tools.references, checked),
            FleetRoutes(fleet),
            ScheduleRoutes(schedules),
            ModelRoutes(catalog, Selection(catalog, choices)),
            KeyRoutes(stores.keys),
            MemoryRoutes(stores.memory, stores.past, stores.notes, checked),
            DoctorRoutes(launch.data_dir, launch.workspace, journal, tools.servers, tools.plugins),
            SystemRoutes(
                journal,
                fleet,
                customizations,
                self.streams,
                tools.bridge.shells,
                tools.sandboxes,
                launch.workspace,
                _openapi_document,
                choices.notice,
            ),
            session,
        )
        authenticate = bearer(token, tokens)
        app = application.build(
            bind(TABLE, handlers),
            tools.bridge,
            self.mcp,
            authenticate=authenticate,
            redeem_ticket=session.tickets.redeem,
            hosts=launch.hosts(port),
            scheme=launch.scheme,
            origins=split(settings.allowed_origins),
            max_body=settings.max_body_bytes,
        )
        peers = ConnectionLimits(authenticate, connections=settings.max_streams + MORE_CONNECTIONS)
        self.server = QuietServer(app, self.streams, settings.bridge_heartbeat_seconds, peers, launch.certificate)


def _openapi_document() -> dict[str, Any]:
    from sidecar.api.openapi import document

    return document()
