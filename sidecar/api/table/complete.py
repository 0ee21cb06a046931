"""The route table: the application serves it, and OpenAPI, REFERENCE.md and the docs test come from it."""

from collections.abc import Sequence

from sidecar.api.table.changes import CHANGES
from sidecar.api.table.memory import MEMORY
from sidecar.api.table.models import MODELS
from sidecar.api.table.route import Route
from sidecar.api.table.sessions import SESSIONS
from sidecar.api.table.system import SYSTEM
from sidecar.api.table.tasks import TASKS
from sidecar.api.table.tools import TOOLS

TABLE: Sequence[Route] = (*TASKS, *CHANGES, *TOOLS, *MEMORY, *MODELS, *SYSTEM, *SESSIONS)
