"""Routes of the sidecar itself: metrics, doctor, fleet, schedules, status."""

from collections.abc import Sequence

from sidecar.api.fleet import FleetRoutes
from sidecar.api.metrics import MetricsRoutes
from sidecar.api.schedules import ScheduleRoutes
from sidecar.api.system import DoctorRoutes, SystemRoutes
from sidecar.api.table.route import Parameter, Route
from sidecar.wire import fleet, schedules, stats, system

SYSTEM: Sequence[Route] = (
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
)
