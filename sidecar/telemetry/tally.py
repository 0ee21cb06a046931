"""Totals of all tasks, folded from the events of the journal in their order. The same events give the same totals.

Counters only grow: what was counted stays counted when old tasks are pruned.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pydantic import BaseModel, Field

Json = Mapping[str, Any]

TASK_SECONDS = (1.0, 5.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1_800.0, 3_600.0)
TOOL_SECONDS = (0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 15.0, 60.0, 300.0)
#: The event types that count; others needn't be parsed.
COUNTED = frozenset({"status", "step", "model", "usage", "tool", "approval", "question", "verification"})
ENDED = ("completed", "failed", "cancelled", "escalated")
OUTCOMES = ("success", "error", "cancelled", "unknown")
#: Names that come from outside, such as tools of MCP servers, must not grow without end.
MAX_NAMES = 500
OTHER = "other"
MAX_DAYS = 400


class Buckets(BaseModel):
    """A histogram; `counts` has one more number than `bounds`, for what is larger."""

    bounds: tuple[float, ...]
    counts: list[int] = []
    total: float = 0.0

    def add(self, value: float) -> None:
        self.counts = self.counts or [0] * (len(self.bounds) + 1)
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value


class Spending(BaseModel):
    """What one agent used of one model on one day."""

    requests: int = 0
    input: int = 0
    output: int = 0
    cached: int = 0
    cost: float = 0.0

    def add(self, used: Json) -> None:
        self.requests += 1
        self.input += used["inputTokens"]
        self.output += used["outputTokens"]
        self.cached += used["cachedTokens"]
        self.cost += used["costUsd"]


class OpenTask(BaseModel):
    """What is kept of a task until it ends."""

    running_since: str = ""
    seconds: float = 0.0
    agent: str = ""
    model: str = ""
    #: Approvals and questions without an answer.
    approvals: set[str] = set()
    questions: set[str] = set()
    #: Used so far, as events of older versions tell it; unknown if the task went on after its end.
    usage: dict[str, float] | None = None


class Tally(BaseModel):
    version: int = 1
    cursor: int = 0
    open: dict[str, OpenTask] = {}
    ended: Counter[str] = Counter()
    task_seconds: dict[str, Buckets] = {}
    tools: dict[str, Counter[str]] = {}
    tool_seconds: Buckets = Field(default_factory=lambda: Buckets(bounds=TOOL_SECONDS))
    verified: Counter[str] = Counter()
    decided: Counter[str] = Counter()
    #: By model.
    spent: dict[str, Spending] = {}
    #: By day, then by `model agent`: neither name holds a space.
    days: dict[str, dict[str, Spending]] = {}

    def fold(self, event: Json) -> None:
        if event.get("rewoundTo") is not None and event["taskId"] not in self.open:  # it ended before
            return
        task = self.open.setdefault(event["taskId"], OpenTask(usage={} if event["seq"] == 1 else None))
        match event["type"]:
            case "status":
                self._status(event, task)
            case "step" if event["state"] == "started":
                task.agent = event["agent"]
            case "model":
                task.model = f"{event['provider']}/{event['model']}"
            case "usage":
                self._usage(event, task)
            case "tool" if event["status"] in OUTCOMES:
                name = _bounded(event["tool"], self.tools)
                self.tools.setdefault(name, Counter())[event["status"]] += 1
                self.tool_seconds.add(event["durationMs"] / 1_000)
            case "approval":
                _wait(task.approvals, event["approvalId"], waits=event["state"] == "requested")
                self.decided[event["state"]] += event["state"] != "requested"
            case "question":
                _wait(task.questions, event["questionId"], waits=event["state"] == "asked")
            case "verification":
                self.verified["passed" if event["passed"] else "failed"] += 1

    def waiting(self) -> tuple[int, int]:
        """Approvals and questions that wait for an answer."""
        tasks = self.open.values()
        return sum(len(task.approvals) for task in tasks), sum(len(task.questions) for task in tasks)

    def _status(self, event: Json, task: OpenTask) -> None:
        status = event["status"]
        if task.running_since and status != "running":
            task.seconds += max(0.0, _seconds(task.running_since, event["at"]))
            task.running_since = ""
        elif status == "running":
            task.running_since = task.running_since or event["at"]
        if status in ENDED:
            self.ended[status] += 1
            self.task_seconds.setdefault(status, Buckets(bounds=TASK_SECONDS)).add(task.seconds)
            del self.open[event["taskId"]]

    def _usage(self, event: Json, task: OpenTask) -> None:
        names = ("inputTokens", "outputTokens", "cachedTokens", "costUsd")
        total = {name: event[name] for name in names}
        used = event.get("spent")
        if used is None and task.usage is not None:
            used = {name: max(0, total[name] - task.usage.get(name, 0)) for name in names}
        task.usage = total
        if used is None or not any(used.values()):
            return
        model = _bounded(event.get("model") or task.model or OTHER, self.spent)
        self.spent.setdefault(model, Spending()).add(used)
        day = self.days.setdefault(event["at"][:10], {})
        agent = event.get("agent") or task.agent or OTHER
        day.setdefault(_bounded(f"{model} {agent}", day), Spending()).add(used)
        if len(self.days) > MAX_DAYS:
            del self.days[min(self.days)]


def _bounded(name: str, known: Mapping[str, object]) -> str:
    return name if name in known or len(known) < MAX_NAMES else OTHER


def _wait(waiting: set[str], name: str, *, waits: bool) -> None:
    waiting.add(name) if waits else waiting.discard(name)


def _seconds(start: str, end: str) -> float:
    """An event that was damaged on disk has no time."""
    try:
        return (datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds()
    except ValueError:
        return 0.0
