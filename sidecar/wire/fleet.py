"""The fleet: which workers there are, what they do, and what waits."""

from typing import Annotated, Literal

from pydantic import AwareDatetime, Field

from sidecar.wire.base import Wire, optional
from sidecar.wire.tasks import ShortText

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
