"""Schedules: what starts by itself, when, and what it has used."""

from typing import Annotated, Literal

from pydantic import AwareDatetime, Field

from sidecar.wire.base import Wire, optional
from sidecar.wire.tasks import Status


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
