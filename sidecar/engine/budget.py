"""What a task uses, and the limit of it. A task stops before the request that would begin past its limit.

If you resume it, it gets the same amount again: what it used before is recorded as granted. A crash grants nothing.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from sidecar.engine.errors import AgentError
from sidecar.engine.state import RecordKind, TaskState, TurnRecord
from sidecar.engine.steps import BUDGET, StepKey
from sidecar.journal.port import Record
from sidecar.models.prices import add_usage
from sidecar.wire.events import UsageEvent
from sidecar.wire.tasks import Options, Usage

if TYPE_CHECKING:
    from sidecar.engine.task_log import TaskLog


class Budget:
    def __init__(self, log: "TaskLog", records: Iterable[Record], options: Options) -> None:
        self._log = log
        self._options = options
        #: What all rounds of the task used, rewound ones included; and how much of it isn't this round's.
        self.usage, self._granted = _sum_usage(records, log.state)

    def add(self, usage: Usage) -> None:
        self.usage = add_usage(self.usage, usage)

    async def spend(self, key: StepKey, usage: Usage) -> None:
        """Record what a step used beside its agents' turns."""
        if not any(vars(usage).values()):
            return
        self.add(usage)
        await self._log.append(self.event(), records=[self._log.record(RecordKind.USAGE, key, usage.to_json())])

    def event(
        self, request: Usage | None = None, window: int | None = None, model: str = "", agent: str = ""
    ) -> UsageEvent:
        """`request` is what the last request used, in a context window of `window` tokens."""
        length = request.input_tokens + request.output_tokens if request is not None else None
        return UsageEvent(
            **self.usage.model_dump(),
            context_tokens=length,
            context_limit=window,
            spent=request,
            model=model or None,
            agent=agent or None,
        )

    def overspent(self) -> str | None:
        """Why the task must not ask a model any more, if it used its budget."""
        return exceeded(self._options, self.usage, self._granted_now())

    async def check(self) -> None:
        """Stop the task if it used its budget."""
        if (why := self.overspent()) is not None:
            current = self._log.state.current_round
            stop = StepKey(current, BUDGET, number=len(self._stops()) + 1)
            await self._log.append(records=[self._log.record(RecordKind.BUDGET, stop, self.usage.to_json())])
            raise AgentError("budget_exceeded", why, retry=False)

    def open_round(self) -> None:
        """A budget is for one round: what earlier ones used doesn't count."""
        self._granted = self.usage

    def _granted_now(self) -> Usage:
        stops = self._stops()
        return stops[-1] if stops else self._granted

    def _stops(self) -> list[Usage]:
        state = self._log.state
        return [usage for key, usage in state.budget_stops.items() if key.round == state.current_round]


def exceeded(options: Options, usage: Usage, granted: Usage) -> str | None:
    tokens = usage.input_tokens + usage.output_tokens - granted.input_tokens - granted.output_tokens
    cost = usage.cost_usd - granted.cost_usd
    if options.max_tokens is not None and tokens >= options.max_tokens:
        spent = f"{tokens:,} of {options.max_tokens:,} tokens"
    elif options.max_cost_usd is not None and cost > 0 and cost >= options.max_cost_usd:
        spent = f"${cost:.4f} of ${options.max_cost_usd:.4f}"
    else:
        return None
    return f"The task has used its budget: {spent}. What it did is kept; resume it to grant the same amount again."


def _sum_usage(records: Iterable[Record], state: TaskState) -> tuple[Usage, Usage]:
    used, granted = Usage(), Usage()
    for record in records:
        if record.kind == RecordKind.TURN:
            usage = TurnRecord.model_validate_json(record.body).reply.usage
        elif record.kind == RecordKind.USAGE:
            usage = Usage.model_validate_json(record.body)
        else:
            continue
        used = add_usage(used, usage)
        if StepKey.parse(record.key).round != state.current_round or not state.timeline.holds(record.seq):
            granted = add_usage(granted, usage)
    return used, granted
