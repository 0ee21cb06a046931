"""The fleet: its workers, what they do, what waits; and schedules: what starts by itself, when, and its cost."""

from typing import Annotated, Literal

from pydantic import AwareDatetime, Field

from sidecar.wire.base import Wire, optional
from sidecar.wire.tasks import ShortText, Status

WorkerStatus = Literal["running", "draining", "serving", "dead"]


class Resources(Wire):
    load: Annotated[float, Field(description="Load of its machine over the last minute.")]
    memory_bytes: int


class WorkerInfo(Wire):
    id: str
    pool: Annotated[str, Field(description="The pool whose tasks it runs; `*` for all.")]
    host: str
    pid: int
    status: Annotated[
        WorkerStatus,
        Field(description="`serving`: answers requests and runs no task. `dead`: no heartbeat for 15 seconds."),
    ]
    slots: int
    tasks: Annotated[list[str], Field(description="The tasks that it runs.")]
    last_seen: AwareDatetime
    resources: Resources | None = optional()


class QueueState(Wire):
    depth: int
    pools: dict[str, int]


class FleetState(Wire):
    leader: Annotated[str | None, Field(description="The worker that queues tasks of dead workers again.")]
    workers: list[WorkerInfo]
    queue: QueueState


class WorkerReady(Wire):
    """The line on standard output when a worker is ready."""

    event: Literal["ready"] = "ready"
    worker: str
    pid: int


class WorkerOrder(Wire):
    worker: ShortText
    order: Annotated[
        Literal["drain", "stop"],
        Field(description="`drain`: finish its tasks, then exit. `stop`: exit now, others go on with its tasks."),
    ]


class ScheduleState(Wire):
    name: str
    when: Annotated[str, Field(description="As you wrote it: `every 4h`, `cron 0 9 * * 1-5`, `stale 12h`.")]
    workspace: str
    agent: str | None = optional()
    pool: str
    next: Annotated[AwareDatetime | None, Field(description="When it runs next; null if its budget is used up.")]
    waits: Annotated[str | None, Field(description="Why it doesn't run although it is due.")] = optional()
    last_task: str | None = optional()
    last_at: AwareDatetime | None = None
    last_status: Status | None = optional()
    today: Annotated[int, Field(description="Activations since midnight UTC.")]
    spent_usd: Annotated[float, Field(description="Spent since midnight UTC.")]
    budget_usd: float | None = None


class PoolState(Wire):
    name: Literal["notification", "exploration", "hybrid"]
    at_once: int
    running: int
    spent_usd: float
    budget_usd: float | None = None


class ScheduleList(Wire):
    schedules: list[ScheduleState]
    pools: list[PoolState]
    problems: Annotated[list[str], Field(description="Files that are not used, and why.")]
    active: Annotated[bool, Field(description="Whether this process, or the leader of its fleet, runs schedules.")]


class ScheduleStarted(Wire):
    task_id: str
