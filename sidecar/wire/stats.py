"""Statistics over all tasks, also those that were pruned since."""

from typing import Annotated

from pydantic import Field

from sidecar.wire.base import Wire


class SpentTokens(Wire):
    """What one agent used of one model on one day (UTC)."""

    day: str
    model: str
    agent: str
    requests: int
    input_tokens: int
    output_tokens: int
    cached_tokens: Annotated[int, Field(description="Part of the input.")]
    estimated_cost_usd: Annotated[
        float | None, Field(description="An estimate by the price table; null if the model's price isn't known.")
    ]


class StatsAnswer(Wire):
    spent: list[SpentTokens]
    ended: Annotated[dict[str, int], Field(description="Tasks that ended, by status.")]
