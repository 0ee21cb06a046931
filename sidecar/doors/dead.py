"""What was given up, both ways: listed and tried again from the command line, whether `brain doors` runs or not."""

import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Literal, NamedTuple

from sidecar.doors.store import FILE

_DEAD = """
SELECT 'in', id, door, subject, note, received FROM deliveries WHERE state = 'dead'
UNION ALL SELECT 'out', id, key, target, note, NULL FROM outbox WHERE state = 'dead'
ORDER BY 1, 2 DESC LIMIT 500
"""


class DeadItem(NamedTuple):
    """A delivery that came `in`, or a letter that should have gone `out`; `name` is its door or its key."""

    way: Literal["in", "out"]
    id: int
    name: str
    subject: str
    why: str
    received: float | None

    @property
    def label(self) -> str:
        return f"{self.way}-{self.id}"


def list_dead(data_dir: Path) -> list[DeadItem]:
    with closing(_open(data_dir)) as store:
        return [DeadItem(*row) for row in store.execute(_DEAD)]


def retry_dead(data_dir: Path, labels: list[str]) -> list[str]:
    """Let these be tried again, or all; returns those that will be. A running `brain doors` soon sees them."""
    chosen = [item for item in list_dead(data_dir) if not labels or item.label in labels]
    with closing(_open(data_dir)) as store, store:
        for item in chosen:
            table, state = ("deliveries", "stored") if item.way == "in" else ("outbox", "waiting")
            # Letters keep their attempts: an earlier one may have succeeded, so the next one looks first.
            again = "attempts = 0" if item.way == "in" else "attempts = 1"
            sql = f"UPDATE {table} SET state = ?, next_at = ?, {again} WHERE id = ? AND state = 'dead'"  # noqa: S608
            store.execute(sql, (state, time.time(), item.id))
    return [item.label for item in chosen]


def _open(data_dir: Path) -> sqlite3.Connection:
    file = data_dir / FILE
    return sqlite3.connect(file, timeout=10) if file.exists() else _empty()


def _empty() -> sqlite3.Connection:
    """Where `brain doors` never ran."""
    store = sqlite3.connect(":memory:")
    store.execute("CREATE TABLE deliveries (id, door, subject, note, received, state, next_at, attempts)")
    store.execute("CREATE TABLE outbox (id, key, target, note, state, next_at, attempts)")
    return store
