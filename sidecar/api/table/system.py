"""Routes of the sidecar itself: health, metrics, fleet, sessions."""

from collections.abc import Sequence

from sidecar.api.fleet import FleetRoutes
from sidecar.api.metrics import MetricsRoutes
from sidecar.api.schedules import ScheduleRoutes
from sidecar.api.session import SessionRoutes
from sidecar.api.system import DoctorRoutes, SystemRoutes
from sidecar.api.table.route import Parameter, Route
from sidecar.wire import fleet, schedules, stats, system

SYSTEM: Sequence[Route] = (
    Route(
        "GET /health",
        "health",
        SystemRoutes.health,
        "Whether the sidecar is up",
        system.Health,
        doc="Needs no token and says nothing else.",
    ),
    Route(
        "GET /ready",
        "ready",
        SystemRoutes.ready,
        "Whether the sidecar can take tasks: the journal can be written and its disk has room",
        system.Health,
        refusals=(503,),
        doc="Needs no token. 503 says what is wrong.",
    ),
    Route("GET /openapi.json", "openapi", SystemRoutes.openapi, "This API as OpenAPI 3.1", "application/json"),
    Route(
        "GET /metrics",
        "metrics",
        MetricsRoutes.metrics,
        "Metrics in Prometheus text format",
        "text/plain",
        doc="Counters come from the journal and survive a restart.",
    ),
    Route(
        "GET /api/brain/stats",
        "stats",
        MetricsRoutes.stats,
        "Get tokens and estimated cost by day, model and agent",
        stats.StatsAnswer,
        query=(Parameter("days", "How many days with usage, the newest; default 30.", "integer"),),
        refusals=(422,),
    ),
    Route(
        "GET /api/brain/doctor",
        "doctor",
        DoctorRoutes.examine,
        "Check the setup, with a fix for each problem",
        system.Examination,
    ),
    Route(
        "GET /api/brain/fleet",
        "fleet",
        FleetRoutes.state,
        "Get the fleet: leader, workers and queue",
        fleet.FleetState,
        doc="A sidecar on its own file is a fleet of one.",
    ),
    Route(
        "POST /api/brain/fleet/orders",
        "fleet_order",
        FleetRoutes.order,
        "Drain or stop a worker",
        fleet.FleetState,
        fleet.WorkerOrder,
        refusals=(404, 409),
        doc="The worker hears of it with its next heartbeat, within five seconds.",
    ),
    Route(
        "GET /api/brain/schedules",
        "schedules",
        ScheduleRoutes.state,
        "Get the schedules: when each runs next, and what it has used today",
        schedules.ScheduleList,
        doc="Reads the files of your configuration directory again.",
    ),
    Route(
        "POST /api/brain/schedules/{name}/start",
        "schedule_start",
        ScheduleRoutes.start,
        "Start a schedule now, within its limits and budgets",
        schedules.ScheduleStarted,
        headers=(Parameter("Idempotency-Key", "The same key gives the same task."),),
        refusals=(404, 409, 503),
    ),
    Route("GET /api/brain/status", "status", SystemRoutes.status, "Get the sidecar's status", system.StatusAnswer),
    Route(
        "POST /api/brain/bridge/ticket",
        "bridge_ticket",
        SessionRoutes.create_ticket,
        "Create a one-time ticket for the bridge",
        system.Ticket,
        doc="For a webview, which can't send a header with a WebSocket.",
    ),
    Route(
        "POST /api/brain/session/code",
        "session_code",
        SessionRoutes.create_code,
        "Create a one-time code that opens the panel",
        system.SessionCode,
        doc="The code goes into the URL's fragment, which never reaches a log.",
    ),
    Route(
        "POST /api/brain/session",
        "session",
        SessionRoutes.trade,
        "Trade a one-time code for the token",
        system.SessionToken,
        system.SessionRequest,
        doc="Needs no token. `renewal` is for the panel's memory only: with it, it gets back in after a restart.",
    ),
    Route(
        "POST /api/brain/session/renewal",
        "session_renewal",
        SessionRoutes.create_renewal,
        "Create a renewal for a panel that was reloaded",
        system.Renewal,
    ),
    Route(
        "POST /api/brain/session/challenge",
        "session_challenge",
        SessionRoutes.challenge,
        "Let the sidecar prove that it knows a key",
        system.ChallengeAnswer,
        system.Challenge,
        refusals=(401,),
        doc=(
            "Needs no token; ask this before you send one to an address that another program may have taken. A proof "
            "is the HMAC-SHA-256, in base64url, of the lines `rainy-brain session 1`, `sidecar` (or `panel`), host and "
            "port, id, your nonce, the sidecar's nonce."
        ),
    ),
    Route(
        "POST /api/brain/session/proof",
        "session_proof",
        SessionRoutes.renew,
        "Prove that the panel knows its key, and get the token",
        system.SessionToken,
        system.Proof,
        refusals=(401,),
        doc="Needs no token. The nonce of each challenge works once.",
    ),
)
