"""Metrics in the text format of Prometheus: the journal's totals, and what is so at this moment. Zeros are present."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    InfoMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from sidecar.telemetry.tally import ENDED, OUTCOMES, TASK_SECONDS, TOOL_SECONDS, Buckets, Spending, Tally

#: Values by the labels of their samples.
Labelled = Mapping[tuple[str, ...], float]
DIRECTIONS = ("input", "output", "cached")


class Moment(NamedTuple):
    """What is so now, as opposed to what was counted."""

    version: str
    uptime: float
    tasks: Mapping[str, int]
    streams: int
    journal_bytes: int
    journal_stalled: bool
    #: Queued tasks by pool.
    queue: Mapping[str, int]
    #: Workers by pool and status.
    workers: Labelled
    #: Deliveries by door and state, and outgoing ones by state; as the doors counted them.
    deliveries: Labelled = {}
    outgoing: Mapping[str, int] = {}


def render(tally: Tally, moment: Moment, tools: Iterable[str]) -> bytes:
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Families([*_now(moment), *_totals(tally, tools)]))
    return generate_latest(registry)


class _Families(Collector):
    def __init__(self, families: Sequence[Metric]) -> None:
        self._families = families

    def collect(self) -> Iterable[Metric]:
        return self._families


def _now(moment: Moment) -> list[Metric]:
    return [
        InfoMetricFamily("brain_build", "The program's version.", {"version": moment.version}),
        _gauge("brain_uptime_seconds", "Seconds since the start.", moment.uptime),
        _by("brain_tasks", "Tasks that are kept, by status.", ("status",), _one(moment.tasks)),
        _gauge("brain_streams_open", "Event streams open now.", moment.streams),
        _gauge("brain_journal_bytes", "Size of the journal.", moment.journal_bytes),
        _gauge("brain_journal_stalled", "1 while the journal cannot be written.", moment.journal_stalled),
        _by("brain_queue_depth", "Queued tasks by pool of workers.", ("pool",), _one(moment.queue)),
        _by("brain_workers", "Workers by pool and status.", ("pool", "status"), moment.workers),
        _counts(
            "brain_door_deliveries", "Deliveries by door and what became of them.", ("door", "state"), moment.deliveries
        ),
        _counts("brain_door_outgoing", "Messages to others by what became of them.", ("state",), _one(moment.outgoing)),
    ]


def _totals(tally: Tally, tools: Iterable[str]) -> list[Metric]:
    approvals, questions = tally.waiting()
    names = sorted({*tools, *tally.tools})
    none = Counter[str]()
    calls: Labelled = {(name, status): tally.tools.get(name, none)[status] for name in names for status in OUTCOMES}
    spent = tally.spent or {"": Spending()}
    tokens: Labelled = {(model, way): getattr(used, way) for model, used in spent.items() for way in DIRECTIONS}
    return [
        _gauge("brain_approvals_waiting", "Approvals that wait for you.", approvals),
        _gauge("brain_questions_waiting", "Questions that wait for you.", questions),
        _counts("brain_tasks_ended", "Tasks that ended.", ("status",), _zeros(tally.ended, ENDED)),
        _counts("brain_approvals", "Approvals by answer.", ("answer",), _zeros(tally.decided, ("allowed", "denied"))),
        _counts("brain_verifications", "Verifications.", ("result",), _zeros(tally.verified, ("passed", "failed"))),
        _counts("brain_tool_calls", "Tool calls by outcome.", ("tool", "status"), calls),
        _counts(
            "brain_tokens", "Tokens by direction; cached ones are part of the input.", ("model", "direction"), tokens
        ),
        _counts(
            "brain_model_requests",
            "Requests to models.",
            ("model",),
            {(model,): used.requests for model, used in spent.items()},
        ),
        _counts(
            "brain_estimated_cost_usd",
            "Estimated cost in dollars, by the price table.",
            ("model",),
            {(model,): used.cost for model, used in spent.items()},
        ),
        _histogram(
            "brain_task_duration_seconds",
            "Work on tasks that ended, without waits.",
            {status: tally.task_seconds.get(status, Buckets(bounds=TASK_SECONDS)) for status in ENDED},
        ),
        _histogram(
            "brain_tool_duration_seconds",
            "Tool calls.",
            {"": tally.tool_seconds if tally.tool_seconds.counts else Buckets(bounds=TOOL_SECONDS)},
        ),
    ]


def _gauge(name: str, about: str, value: float) -> Metric:
    return GaugeMetricFamily(name, about, value=float(value))


def _by(name: str, about: str, labels: Sequence[str], values: Labelled) -> Metric:
    family = GaugeMetricFamily(name, about, labels=labels)
    for label, value in sorted(values.items()):
        family.add_metric(label, value)
    return family


def _counts(name: str, about: str, labels: Sequence[str], values: Labelled) -> Metric:
    family = CounterMetricFamily(name, about, labels=labels)
    for label, value in sorted(values.items()):
        family.add_metric(label, value)
    return family


def _histogram(name: str, about: str, values: Mapping[str, Buckets]) -> Metric:
    """By status; an empty one means all."""
    family = HistogramMetricFamily(name, about, labels=() if "" in values else ("status",))
    for status, buckets in values.items():
        counts = buckets.counts or [0] * (len(buckets.bounds) + 1)
        bounds = [*(f"{bound:g}" for bound in buckets.bounds), "+Inf"]
        sums = [(bound, sum(counts[: place + 1])) for place, bound in enumerate(bounds)]
        family.add_metric([status] if status else [], sums, buckets.total)
    return family


def _one(values: Mapping[str, float]) -> Labelled:
    return {(name,): value for name, value in values.items()}


def _zeros(values: Mapping[str, int], names: Iterable[str]) -> Labelled:
    return {(name,): values.get(name, 0) for name in names}
