"""All routes, in the order of OpenAPI and REFERENCE.md."""

from sidecar.api.changes import ReviewRoutes, WorktreeRoutes
from sidecar.api.fleet import FleetRoutes, ScheduleRoutes
from sidecar.api.grants import GrantRoutes
from sidecar.api.health import HealthRoutes
from sidecar.api.mcp import McpRoutes
from sidecar.api.memory import MemoryRoutes
from sidecar.api.metrics import MetricsRoutes
from sidecar.api.models import KeyRoutes, ModelRoutes
from sidecar.api.projects import ProjectRoutes
from sidecar.api.route import routes_of
from sidecar.api.session import SessionRoutes
from sidecar.api.system import DoctorRoutes, SystemRoutes
from sidecar.api.tasks import TaskRoutes
from sidecar.api.tools import ToolRoutes, TrustRoutes

_TASKS = (TaskRoutes, ReviewRoutes, WorktreeRoutes, ProjectRoutes)
_TOOLS = (ToolRoutes, TrustRoutes, GrantRoutes, McpRoutes, MemoryRoutes)
_SYSTEM = (SystemRoutes, ModelRoutes, KeyRoutes, MetricsRoutes, DoctorRoutes, FleetRoutes, ScheduleRoutes)

ROUTES = [route for kind in (*_TASKS, *_TOOLS, *_SYSTEM, HealthRoutes, SessionRoutes) for route in routes_of(kind)]
