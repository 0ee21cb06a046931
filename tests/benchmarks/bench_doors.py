"""What a delivery costs `brain doors` until it is answered, beside a bare handler that does only what nobody can omit.

The bare one is aiohttp with a check of the signature and a group-committed insert. Both answer in a process of their
own; the processor time is that process's. Deliveries arrive all at once, each in a connection of its own.
"""

import asyncio
import hashlib
import hmac
import json
import os
import queue
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from tests.benchmarks.result import Result
from tests.e2e.doors import SECRET, SECRETS, labeled, request_of, send_at_once, signed

_DELIVERIES = 500
_ROUNDS = 5


class _Cost(NamedTuple):
    longest: float
    processor: float


async def run() -> list[Result]:
    with tempfile.TemporaryDirectory() as place:
        config = Path(place) / "rainy-brain"
        config.mkdir()
        (config / "doors.toml").write_text('[github]\nallow = ["alice"]\n')
        environ = {**os.environ, **SECRETS, "XDG_CONFIG_HOME": place, "HOME": place}
        ours = [sys.executable, "-m", "sidecar", "doors", "--port", "0", "--data-dir", f"{place}/data"]
        bare = [sys.executable, "-m", "tests.benchmarks.bench_doors", f"{place}/bare.db"]
        with _running(ours, environ) as (ours_at, ours_pid), _running(bare, environ) as (bare_at, bare_pid):
            found = await asyncio.to_thread(_measure, [(ours_at, ours_pid), (bare_at, bare_pid)])
    (ours_cost, bare_cost), baseline = found, "a bare aiohttp handler"
    longest, processor = ours_cost.longest / bare_cost.longest, ours_cost.processor / bare_cost.processor
    return [
        Result(f"{_DELIVERIES} deliveries at once: longest answer", ours_cost.longest * 1000, "ms", longest, baseline),
        Result("a delivery: processor", ours_cost.processor * 1000, "ms", processor, baseline, most_ratio=1.5),
    ]


def _measure(servers: list[tuple[tuple[str, int], int]]) -> list[_Cost]:
    """Medians. They take turns, so that a busy neighbour disturbs both alike."""
    costs: list[list[_Cost]] = [[] for _ in servers]
    for turn in range(_ROUNDS + 1):
        requests = [[_request(turn * _DELIVERIES + number)] for number in range(_DELIVERIES)]
        for found, (address, pid) in zip(costs, servers, strict=True):
            before = _processor_seconds(pid)
            sent = send_at_once(address, requests)
            used = (_processor_seconds(pid) - before) / len(sent)
            assert {each.status for each in sent} == {202}
            if turn:  # the first one warms up
                found.append(_Cost(max(each.seconds for each in sent), used))
            _rest(pid)
    return [_Cost(*map(statistics.median, zip(*found, strict=True))) for found in costs]


def _request(number: int) -> bytes:
    return request_of("github", *signed("issues", labeled(number, label={"name": "other"}), f"d-{number}"))


def _processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _rest(pid: int) -> None:
    """Until the work after the answers is done, too."""
    pause = threading.Event()
    before = -1.0
    while (used := _processor_seconds(pid)) > before:
        before = used
        pause.wait(0.5)


@contextmanager
def _running(command: list[str], environ: dict[str, str]) -> Iterator[tuple[tuple[str, int], int]]:
    process = subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        url = urlsplit(json.loads(process.stdout.readline())["url"])
        yield (url.hostname or "", url.port or 0), process.pid
    finally:
        process.terminate()
        process.communicate()


class _BareStore:
    def __init__(self, file: str, loop: asyncio.AbstractEventLoop) -> None:
        self._connection = sqlite3.connect(file, check_same_thread=False, isolation_level=None)
        for sql in ("PRAGMA journal_mode=WAL", "PRAGMA synchronous=FULL"):
            self._connection.execute(sql)
        self._connection.execute("CREATE TABLE deliveries (id INTEGER PRIMARY KEY, name TEXT UNIQUE, body BLOB)")
        self._loop = loop
        self._jobs: queue.SimpleQueue[tuple[tuple[str, bytes], asyncio.Future[None]]] = queue.SimpleQueue()
        threading.Thread(target=self._work, daemon=True).start()

    async def add(self, name: str, body: bytes) -> None:
        done: asyncio.Future[None] = self._loop.create_future()
        self._jobs.put(((name, body), done))
        await done

    def _work(self) -> None:
        while True:
            batch = [self._jobs.get()]
            while not self._jobs.empty():
                batch.append(self._jobs.get())
            self._connection.execute("BEGIN IMMEDIATE")
            sql = "INSERT OR IGNORE INTO deliveries (name, body) VALUES (?, ?)"
            self._connection.executemany(sql, [row for row, _ in batch])
            self._connection.execute("COMMIT")
            self._loop.call_soon_threadsafe(lambda batch=batch: [done.set_result(None) for _, done in batch])


async def _serve_bare(file: str) -> None:
    from aiohttp import web

    store = _BareStore(file, asyncio.get_running_loop())

    async def receive(request: web.Request) -> web.Response:
        body = await request.read()
        expected = f"sha256={hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()}"
        if not hmac.compare_digest(expected, request.headers["X-Hub-Signature-256"]):
            return web.Response(status=401)
        await store.add(request.headers["X-GitHub-Delivery"], body)
        return web.json_response({"accepted": True}, status=202)

    app = web.Application()
    app.router.add_post("/hooks/github", receive)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, backlog=2_048).start()
    print(json.dumps({"url": f"http://127.0.0.1:{runner.addresses[0][1]}"}), flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_serve_bare(sys.argv[1]))
