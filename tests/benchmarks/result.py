"""One measured line: a value, what it is compared with, and whether it holds."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Result:
    name: str
    value: float
    unit: str
    ratio: float | None
    baseline: str
    limit: str
    ok: bool
