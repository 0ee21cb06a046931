"""Tasks that need someone: which step of the chain is due, and when. The state survives a restart."""

import sqlite3
import time
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from sidecar.doors.settings import EscalationStep
from sidecar.doors.store import DoorsStore

#: Alerts that are over and remembered, so that none is raised twice.
REMEMBERED = 10_000
_SCHEMA = """
CREATE TABLE IF NOT EXISTS alerts (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, task_id TEXT NOT NULL, kind TEXT NOT NULL, text TEXT NOT NULL,
    suggestions TEXT NOT NULL, since REAL NOT NULL, step INTEGER NOT NULL DEFAULT 0, next_at REAL NOT NULL,
    state TEXT NOT NULL DEFAULT 'open', note TEXT NOT NULL DEFAULT '');
CREATE INDEX IF NOT EXISTS open_alerts ON alerts (next_at) WHERE state = 'open';
"""
_COLUMNS = "key, task_id, kind, text, suggestions, since, step, id"


class Alert(NamedTuple):
    key: str
    task_id: str
    kind: str
    text: str
    #: One on each line.
    suggestions: str
    since: float
    #: The next step of the chain.
    step: int = 0
    id: int = 0


class QuietHours(NamedTuple):
    """From one minute of the day to another, in local time; it may go over midnight."""

    start: int
    end: int

    def ends_at(self, moment: datetime) -> datetime | None:
        """When they end; `None` if they aren't now."""
        minute = moment.hour * 60 + moment.minute
        inside = self.start <= minute < self.end if self.start < self.end else minute >= self.start or minute < self.end
        if not inside or self.start == self.end:
            return None
        end = moment.replace(hour=self.end // 60, minute=self.end % 60, second=0, microsecond=0)
        return end if end > moment else end + timedelta(days=1)


def parse_quiet(text: str) -> QuietHours | None:
    """`22:00-07:00`; the settings checked its form."""
    if not text:
        return None
    start, _, end = text.partition("-")
    return QuietHours(_minute(start), _minute(end))


def _minute(clock: str) -> int:
    hour, _, minute = clock.partition(":")
    return int(hour) * 60 + int(minute)


def due_at(step: EscalationStep, since: float, now: float, quiet: QuietHours | None) -> float:
    """When a step may be taken: after its wait, and not in quiet hours unless it is for them, too."""
    at = since + step.after
    if quiet is None or step.at_night:
        return at
    end = quiet.ends_at(datetime.fromtimestamp(max(at, now)).astimezone())
    return end.timestamp() if end is not None else at


def next_step(
    chain: Sequence[EscalationStep], start: int, since: float, now: float, quiet: QuietHours | None
) -> tuple[int, float]:
    """The step from `start` on that comes first, and when. One for the night overtakes those that wait for morning."""
    times = [due_at(step, since, now, quiet) for step in chain[start:]]
    return start + times.index(min(times)), min(times)


class Alerts:
    """A queue of steps to take, for a `WorkLoop`."""

    def __init__(self, store: DoorsStore, chain: Sequence[EscalationStep], quiet: QuietHours | None) -> None:
        store.create(_SCHEMA)
        self._store = store
        self._chain = chain
        self._quiet = quiet

    async def open(self, alert: Alert, now: float) -> None:
        _, at = self.upcoming(alert, now)

        def insert(store: sqlite3.Connection) -> None:
            sql = "INSERT OR IGNORE INTO alerts (key, task_id, kind, text, suggestions, since, next_at)"
            store.execute(f"{sql} VALUES (?, ?, ?, ?, ?, ?, ?)", (*alert[:6], at))
            store.execute(
                "DELETE FROM alerts WHERE state != 'open' AND id <= (SELECT max(id) FROM alerts) - ?", (REMEMBERED,)
            )

        await self._store.do(insert)

    async def due(self, limit: int) -> list[Alert]:
        sql = f"SELECT {_COLUMNS} FROM alerts WHERE state = 'open' AND next_at <= ? ORDER BY next_at LIMIT ?"  # noqa: S608
        rows = await self._store.rows(sql, (time.time(), limit))
        return [Alert(*row) for row in rows]

    async def next_at(self) -> float | None:
        sql = "SELECT min(next_at) FROM alerts WHERE state = 'open'"
        found: float | None = (await self._store.row(sql))[0]
        return found

    def upcoming(self, alert: Alert, now: float) -> tuple[int, float]:
        """The next step, and when it is due: quiet hours may have begun since it was planned."""
        return next_step(self._chain, alert.step, alert.since, now, self._quiet)

    async def postpone(self, alert: Alert, at: float) -> None:
        sql = "UPDATE alerts SET next_at = ? WHERE key = ?"
        await self._store.run(sql, (at, alert.key))

    async def advance(self, alert: Alert, now: float) -> None:
        """The step is taken; the last one ends the chain, and the alert can still be acknowledged."""
        following = alert.step + 1
        done = following >= len(self._chain)
        at = 0.0 if done else self.upcoming(alert._replace(step=following), now)[1]
        sql = "UPDATE alerts SET step = ?, next_at = ?, state = ? WHERE key = ? AND state = 'open'"
        state = "exhausted" if done else "open"
        await self._store.run(sql, (following, at, state, alert.key))

    async def end(self, state: str, note: str, *, key: str = "", task_id: str = "", before: float = 0) -> list[Alert]:
        """`acknowledged` by its key, or `settled` by its task; each alert once. Returns those that this ended."""
        condition = "key = ?" if key else "task_id = ? AND since <= ?"
        values: tuple[object, ...] = (key,) if key else (task_id, before)

        def update(store: sqlite3.Connection) -> list[Alert]:
            where = f"{condition} AND state IN ('open', 'exhausted')"
            found = store.execute(f"SELECT {_COLUMNS} FROM alerts WHERE {where}", values).fetchall()  # noqa: S608
            store.execute(f"UPDATE alerts SET state = ?, note = ? WHERE {where}", (state, note[:200], *values))  # noqa: S608
            return [Alert(*row) for row in found]

        ended: list[Alert] = await self._store.do(update)
        return ended
