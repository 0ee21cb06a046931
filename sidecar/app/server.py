"""The HTTP server: it serves tasks, sessions and the panel first, and every other route once that is loaded."""

from collections.abc import Awaitable, Callable

from sidecar.api import application
from sidecar.api.health import HealthRoutes
from sidecar.api.identity import KnownTokens, bearer
from sidecar.api.limits import ConnectionLimits
from sidecar.api.route import bind
from sidecar.api.server import QuietServer
from sidecar.api.session import SessionRoutes
from sidecar.api.streams import Streams
from sidecar.api.tasks import TaskRoutes
from sidecar.app.launch import Launch, split
from sidecar.app.stores import Stores
from sidecar.config.data_dir import DataDir, RenewalKeys
from sidecar.config.settings import Settings
from sidecar.engine.engine import Engine

#: Connections with the token beyond those of the streams.
MORE_CONNECTIONS = 1_024


class HttpServer:
    def __init__(
        self,
        launch: Launch,
        settings: Settings,
        data: DataDir,
        stores: Stores,
        engine: Engine,
        tokens: KnownTokens,
        token: str,
        port: int,
        fleet_problem: Callable[[], Awaitable[str]],
        load: Callable[[], Awaitable[object]],
    ) -> None:
        self.streams = Streams(settings.max_streams, settings.slow_reader_seconds)
        session = SessionRoutes(token, RenewalKeys(data), launch.data_dir, launch.authority(port))
        session.sweep()
        #: The objects whose methods handle the first routes.
        self.handlers = (
            TaskRoutes(engine, stores.journal, self.streams, stores.choices.notice),
            HealthRoutes(stores.journal, fleet_problem),
            session,
        )
        authenticate = bearer(token, tokens)
        self.app = application.build(
            bind(self.handlers),
            load,
            authenticate=authenticate,
            redeem_ticket=session.tickets.redeem,
            hosts=launch.hosts(port),
            scheme=launch.scheme,
            origins=split(settings.allowed_origins),
            max_body=settings.max_body_bytes,
        )
        peers = ConnectionLimits(authenticate, connections=settings.max_streams + MORE_CONNECTIONS)
        heartbeat = settings.bridge_heartbeat_seconds
        self.server = QuietServer(self.app, self.streams, heartbeat, peers, launch.certificate)
