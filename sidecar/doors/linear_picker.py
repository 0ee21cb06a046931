"""Takes the next issue of a Linear team when no task of a Linear session runs. Only if `doors.toml` enables it."""

import asyncio
import json
import logging
import sqlite3
import time
from collections.abc import Callable
from typing import NamedTuple

from sidecar.client.errors import ClientError
from sidecar.client.service import BrainService
from sidecar.doors.actions import Json, list_at, look_up, text_at
from sidecar.doors.deliveries import Arrival, Deliveries, insert
from sidecar.doors.http import NotSent
from sidecar.doors.linear import CANDIDATES, CREATE_SESSION, PICKED, SESSIONS, LinearApi
from sidecar.doors.settings import LinearPick
from sidecar.doors.store import DoorsStore

log = logging.getLogger("brain.doors")

_ACTIVE = ("queued", "running", "waiting", "cancelling", "interrupted")
_OPEN = ("backlog", "unstarted")

#: `picks` has every issue that was ever taken, `picking` those whose session isn't known yet.
_SCHEMA = """
CREATE TABLE IF NOT EXISTS picks (issue TEXT PRIMARY KEY);
CREATE TABLE IF NOT EXISTS picking (issue TEXT PRIMARY KEY, content TEXT NOT NULL, since REAL NOT NULL);
"""


class PickedIssue(NamedTuple):
    id: str
    issue: Json


class PickedIssues:
    """Issues that we took ourselves. Needs the tables of `Deliveries`."""

    def __init__(self, store: DoorsStore) -> None:
        store.create(_SCHEMA)
        self._store = store

    async def begin(self, pick: PickedIssue) -> bool:
        """False if this issue was taken before."""
        row = (pick.id, json.dumps(pick.issue), time.time())

        def note(store: sqlite3.Connection) -> bool:
            if store.execute("INSERT OR IGNORE INTO picks VALUES (?)", row[:1]).rowcount == 0:
                return False
            store.execute("INSERT INTO picking VALUES (?, ?, ?)", row)
            return True

        return bool(await self._store.do(note))

    async def unfinished(self) -> list[PickedIssue]:
        """Begun by this process or an earlier one, oldest first."""
        sql = "SELECT issue, content FROM picking ORDER BY since"
        rows = await self._store.rows(sql)
        return [PickedIssue(name, json.loads(content)) for name, content in rows]

    async def finish(self, pick: PickedIssue, arrival: Arrival | None) -> None:
        """In one commit with the delivery that its session begins with; without one it is given up."""
        rows = [arrival.row()] if arrival is not None else []

        def end(store: sqlite3.Connection) -> None:
            if rows:
                insert(store, rows)
            store.execute("DELETE FROM picking WHERE issue = ?", (pick.id,))

        await self._store.do(end)


class LinearPicker:
    def __init__(
        self,
        api: LinearApi,
        pick: LinearPick,
        deliveries: Deliveries,
        picks: PickedIssues,
        connect: Callable[[], BrainService],
        wake: Callable[[], None],
    ) -> None:
        self._api = api
        self._pick = pick
        self._deliveries = deliveries
        self._picks = picks
        self._connect = connect
        self._wake = wake

    async def run(self) -> None:
        while True:
            try:
                await self.pick_one()
            except (NotSent, ClientError, OSError) as problem:
                log.warning("no issue of Linear could be picked: %s", problem)
            await asyncio.sleep(self._pick.every)

    async def pick_one(self) -> str:
        """The issue that was taken; empty if a task is at work, or there is nothing to do."""
        for pick in await self._picks.unfinished():
            await self._take(pick, await self._find_session(pick))
        if await self._deliveries.waiting("linear") or await asyncio.to_thread(self._is_busy):
            return ""
        found = await self._api.call(CANDIDATES, {"filter": pick_filter(self._pick)})
        for issue in in_order(list_at(found, "issues.nodes")):
            pick = PickedIssue(text_at(issue, "id"), issue)
            # Noted before the session is created: an issue is taken once, whatever happens in between.
            if await self._picks.begin(pick):
                await self._take(pick)
                return text_at(issue, "identifier")
        return ""

    async def _find_session(self, pick: PickedIssue) -> str:
        """The session that was created before we died, or lost the answer; empty if there is none."""
        found = await self._api.call(SESSIONS, {})
        ours = text_at(found, "viewer.id")
        for session in list_at(found, "agentSessions.nodes"):
            if text_at(session, "issue.id") == pick.id and text_at(session, "appUser.id") == ours:
                return text_at(session, "id")
        return ""

    async def _take(self, pick: PickedIssue, session: str = "") -> None:
        try:
            session = session or await self._create_session(pick)
        except NotSent as problem:
            if problem.again is None:  # such as an issue that was deleted meanwhile
                await self._picks.finish(pick, None)
            raise
        payload = {
            "type": "AgentSessionEvent",
            "action": "created",
            "agentSession": {"id": session, "issue": pick.issue},
        }
        text = json.dumps(payload)
        await self._picks.finish(pick, Arrival("linear", "", PICKED, f"linear:{session}", text.encode(), text))
        self._wake()

    async def _create_session(self, pick: PickedIssue) -> str:
        made = await self._api.call(CREATE_SESSION, {"input": {"issueId": pick.id}})
        if session := text_at(made, "agentSessionCreateOnIssue.agentSession.id"):
            return session
        raise NotSent("Linear created no session", 1)

    def _is_busy(self) -> bool:
        service = self._connect()
        tasks = [task for status in _ACTIVE for task in service.tasks(status=status, limit=100)]
        return any(text_at(task, "conversationId").startswith("door:linear:") for task in tasks)


def pick_filter(pick: LinearPick) -> Json:
    label = {"labels": {"name": {"eq": pick.label}}} if pick.label else {}
    return {"team": {"key": {"eq": pick.team}}, "state": {"type": {"in": list(_OPEN)}}, **label}


def in_order(issues: list[Json]) -> list[Json]:
    """Urgent first, those without a priority last, then the oldest. Issues that an agent has are left alone."""
    free = [each for each in issues if text_at(each, "state.type") in _OPEN and look_up(each, "delegate") is None]
    return sorted(free, key=lambda each: (int(text_at(each, "priority") or 0) or 9, text_at(each, "createdAt")))
