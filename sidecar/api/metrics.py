"""Routes for metrics and statistics. Totals are folded from the journal, each event once, and survive a restart."""

import asyncio
import json
import logging
import sqlite3
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, closing
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from starlette.requests import Request
from starlette.responses import Response

from sidecar import __version__
from sidecar.api.route import Parameter, number, route
from sidecar.api.streams import Streams
from sidecar.config.paths import write_private
from sidecar.fleet.state import Fleet
from sidecar.journal.errors import CursorLost
from sidecar.journal.port import DEFAULT_POOL, Journal, StoredEvent
from sidecar.wire.fleet import FleetState, WorkerStatus
from sidecar.wire.system import SpentTokens, StatsAnswer
from sidecar.wire.tasks import Status

if TYPE_CHECKING:
    from sidecar.telemetry.tally import Tally

log = logging.getLogger(__name__)

FILE = "totals.json"
DOORS_FILE = "doors.db"
#: Totals are written again after so many events; after a crash that many are folded again.
_SAVE_EVERY = 2_000
_PAGE = 2_000
_DOORS = ("github", "linear", "slack", "telegram")
_DAYS, _MAX_DAYS = 30, 400


class JournalTotals:
    """Reads only the events since the last time."""

    def __init__(self, journal: Journal, file: Path) -> None:
        self._journal = journal
        self._file = file
        self._tally: Tally | None = None
        self._unsaved = 0
        self._reading = asyncio.Lock()

    @asynccontextmanager
    async def read(self) -> AsyncIterator["Tally"]:
        """Up to date; nothing changes it before the block ends."""
        async with self._reading:
            if self._tally is None:
                self._tally = await asyncio.to_thread(_load, self._file)
            await self._catch_up(self._tally)
            yield self._tally

    async def close(self) -> None:
        if self._tally is not None and self._unsaved:
            await self._save(self._tally)

    async def _catch_up(self, tally: "Tally") -> None:
        while True:
            try:
                page = await self._journal.all_events(tally.cursor, _PAGE, skip_pruned=True)
            except CursorLost:  # another journal took its place
                tally.cursor = 0
                continue
            # In a thread: after a long time there is much to read, and the loop must answer meanwhile.
            await asyncio.to_thread(_fold, tally, page.events)
            self._unsaved += len(page.events)
            if self._unsaved >= _SAVE_EVERY:
                await self._save(tally)
            if not page.events or tally.cursor >= page.last_cursor:
                return

    async def _save(self, tally: "Tally") -> None:
        self._unsaved = 0
        try:
            await asyncio.to_thread(lambda: write_private(self._file, tally.model_dump_json()))
        except OSError as error:
            log.warning("Can't keep the totals in %s; the next start counts again: %s", self._file, error)


def _fold(tally: "Tally", events: Sequence[StoredEvent]) -> None:
    from sidecar.telemetry.tally import COUNTED

    for event in events:
        if event.type in COUNTED:
            tally.fold(json.loads(event.data))
        tally.cursor = event.cursor


def _load(file: Path) -> "Tally":
    from sidecar.telemetry.tally import Tally

    try:
        found = Tally.model_validate_json(file.read_bytes())
    except FileNotFoundError:
        return Tally()
    except (OSError, ValueError) as error:
        log.warning("%s can't be read; counting again what the journal holds: %s", file, error)
        return Tally()
    return found if found.version == Tally().version else Tally()


class MetricsRoutes:
    def __init__(
        self,
        journal: Journal,
        streams: Streams,
        data_dir: Path,
        tools: Callable[[], Iterable[str]],
        priced: Callable[[str], bool],
        fleet: Fleet,
    ) -> None:
        self._journal = journal
        self._streams = streams
        self._doors = data_dir / DOORS_FILE
        self._tools = tools
        self._priced = priced
        self._fleet = fleet
        self.totals = JournalTotals(journal, data_dir / FILE)
        self._started = time.monotonic()

    @route("GET /metrics", "metrics", answers="text/plain")
    async def metrics(self, request: Request) -> Response:
        """Metrics in Prometheus text format. Counters come from the journal and survive a restart."""
        # The first scrape imports a library that takes a quarter of a second; the loop answers meanwhile.
        await asyncio.to_thread(import_module, "sidecar.telemetry.metrics")
        from sidecar.telemetry.metrics import Moment, render

        counts = await self._journal.counts()
        state = self._journal.state()
        deliveries, outgoing = await asyncio.to_thread(_read_doors, self._doors)
        fleet = await self._fleet.state()
        moment = Moment(
            version=__version__,
            uptime=time.monotonic() - self._started,
            tasks={str(status): counts.get(status, 0) for status in Status},
            streams=self._streams.open,
            journal_bytes=state.size_bytes,
            journal_stalled=state.state == "stalled",
            queue={DEFAULT_POOL: 0, **fleet.queue.pools},
            workers=_count_workers(fleet),
            deliveries=deliveries,
            outgoing=outgoing,
        )
        async with self.totals.read() as tally:
            text = render(tally, moment, self._tools())
        return Response(text, media_type="text/plain; version=0.0.4; charset=utf-8")

    @route(
        "GET /api/brain/stats",
        "stats",
        query=(Parameter("days", "How many days with usage, the newest; default 30.", "integer"),),
        refusals=(422,),
    )
    async def stats(self, request: Request) -> StatsAnswer:
        """Get tokens and estimated cost by day, model and agent."""
        wanted = number(request, "days", _DAYS, most=_MAX_DAYS) or _DAYS
        async with self.totals.read() as tally:
            return StatsAnswer(spent=self._spent(tally, wanted), ended=dict(tally.ended))

    def _spent(self, tally: "Tally", days: int) -> list[SpentTokens]:
        rows = []
        for day in sorted(tally.days)[-days:]:
            for name, used in sorted(tally.days[day].items()):
                model, _, agent = name.partition(" ")
                rows.append(
                    SpentTokens(
                        day=day,
                        model=model,
                        agent=agent,
                        requests=used.requests,
                        input_tokens=used.input,
                        output_tokens=used.output,
                        cached_tokens=used.cached,
                        estimated_cost_usd=round(used.cost, 6) if self._priced(model) else None,
                    )
                )
        return rows


def _count_workers(fleet: FleetState) -> Mapping[tuple[str, ...], int]:
    """By pool and status, with zeros for the pools that there are."""
    pools = {worker.pool for worker in fleet.workers} or {DEFAULT_POOL}
    there = Counter((worker.pool, worker.status) for worker in fleet.workers)
    return {each: there[each] for each in product(pools, get_args(WorkerStatus))}


def _read_doors(file: Path) -> tuple[dict[tuple[str, ...], float], dict[str, int]]:
    """What `brain doors` counted in its own file."""
    found = [("delivery", door, state, 0) for door in _DOORS for state in ("received", "done", "ignored", "dead")]
    found += [("outgoing", "", state, 0) for state in ("sent", "dead")]
    try:
        with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True, timeout=1)) as store:
            found += store.execute("SELECT what, door, state, number FROM counts").fetchall()
    except sqlite3.Error as error:
        log.debug("the doors' counts can't be read: %s", error)
    deliveries: dict[tuple[str, ...], float] = {
        (door, state): count for what, door, state, count in found if what == "delivery"
    }
    return deliveries, {state: count for what, _, state, count in found if what == "outgoing"}
