"""What a task may spend. It is stopped before the request that would begin past its limit, and can be resumed.

Whoever resumes it grants it the same amount again: what was spent before is remembered as granted, and a crash in
between grants nothing.
"""

from collections.abc import Mapping

from sidecar.engine.steps import BUDGET, StepKey
from sidecar.wire.tasks import Options, Usage


def exceeded(options: Options, usage: Usage, granted: Usage) -> str | None:
    """Why the task must stop here, said to the person."""
    tokens = usage.input_tokens + usage.output_tokens - granted.input_tokens - granted.output_tokens
    cost = usage.cost_usd - granted.cost_usd
    if options.max_tokens is not None and tokens >= options.max_tokens:
        spent = f"{tokens:,} of {options.max_tokens:,} tokens"
    elif options.max_cost_usd is not None and cost > 0 and cost >= options.max_cost_usd:
        spent = f"${cost:.4f} of ${options.max_cost_usd:.4f}"
    else:
        return None
    return f"The task has used its budget: {spent}. What it did is kept; resume it to grant the same amount again."


def stops(stops: Mapping[StepKey, Usage], current_round: int, before: Usage) -> tuple[StepKey, Usage]:
    """The key under which the next stop is remembered, and what had been spent at the last one, or before the round."""
    earlier = [usage for key, usage in stops.items() if key.round == current_round]
    return StepKey(current_round, BUDGET, number=len(earlier) + 1), earlier[-1] if earlier else before
