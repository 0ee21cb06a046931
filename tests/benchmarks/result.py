"""One measured line: a value, its ratio to a raw operation of the same run, and the limits it must keep.

Limits on time are meant for the reference machine. `slowdown` says how much slower this machine is right now.
"""

import json
import sqlite3
import time
from dataclasses import dataclass

_TIME = ("s", "ms", "µs")
#: Seconds that `_work` takes on the reference machine when it is quiet.
_REFERENCE_SECONDS = 0.013
_ROUNDS = 5


@dataclass(frozen=True, slots=True)
class Result:
    name: str
    value: float
    unit: str
    ratio: float | None = None
    baseline: str = ""
    most: float | None = None
    most_ratio: float | None = None
    least_ratio: float | None = None

    def ok(self, slowdown: float) -> bool:
        allowed = self.allowed(slowdown)
        return (
            (allowed is None or self.value <= allowed)
            and (self.most_ratio is None or (self.ratio is not None and self.ratio <= self.most_ratio))
            and (self.least_ratio is None or (self.ratio is not None and self.ratio >= self.least_ratio))
        )

    def allowed(self, slowdown: float) -> float | None:
        """The largest value on this machine; only times depend on its speed."""
        return self.most * slowdown if self.most is not None and self.unit in _TIME else self.most

    def limit(self, slowdown: float) -> str:
        parts = []
        if self.most is not None:
            parts.append(f"≤ {self.allowed(slowdown):.3g} {self.unit}".rstrip())
        if self.most_ratio is not None:
            parts.append(f"≤ {self.most_ratio:g}×")
        if self.least_ratio is not None:
            parts.append(f"≥ {self.least_ratio:g}×")
        return ", ".join(parts) or "for the record"


def slowdown() -> float:
    """How much longer than on the reference machine a fixed piece of work takes now; never less than 1."""
    return max(1.0, min(_work() for _ in range(_ROUNDS)) / _REFERENCE_SECONDS)


def _work() -> float:
    """The kinds of work that the sidecar does: objects, JSON, SQLite."""
    started = time.perf_counter()
    rows = [{"id": number, "text": f"row {number}", "tags": [number % 7, str(number)]} for number in range(2_000)]
    texts = [json.dumps(row) for row in rows]
    with sqlite3.connect(":memory:") as database:
        database.execute("CREATE TABLE rows (id INTEGER PRIMARY KEY, body TEXT)")
        database.executemany("INSERT INTO rows VALUES (?, ?)", enumerate(texts))
        total = sum(len(json.loads(body)["tags"]) for (body,) in database.execute("SELECT body FROM rows"))
    database.close()
    assert total == 2 * len(rows)
    return time.perf_counter() - started
