"""The real process: how soon it is ready, what it costs at rest, and how fast a client hears of things."""

import compileall
import http.client
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.benchmarks.result import Result
from tests.e2e.support import PROJECT, RunningSidecar, running_sidecar
from tests.e2e.terminal import on_terminal

STARTS = 9
ROUNDS = 60
IDLE_SECONDS = 3.0
SDKS = ("anthropic", "google", "groq", "openai", "aiohttp", "tree_sitter", "watchdog", "websockets", "numpy", "mcp")


async def run() -> list[Result]:
    for folder in ("sidecar", "tools", "bridge"):
        compileall.compile_dir(PROJECT / folder, quiet=2)
    with tempfile.TemporaryDirectory() as directory:
        home = Path(directory)
        bare = statistics.median(_spawn([sys.executable, "-c", "import asyncio; print('{}')"]) for _ in range(STARTS))
        ready = _ready(home / "start")
        prompt = statistics.median(_prompt(home / f"session{number}") for number in range(STARTS))
        with running_sidecar(home / "life", PYTHONDONTWRITEBYTECODE="") as sidecar:
            resident, processor = _at_rest(sidecar)
            raw = _raw_request(sidecar)
            first_step, heard = _tasks(sidecar)
            replay = _replay(sidecar)
    imported = _imports()
    return [
        Result("spawn to ready", ready, "s", ratio=ready / bare, baseline="python with asyncio alone", most=0.3),
        Result(
            "`brain` to its prompt", prompt, "s", ratio=prompt / bare, baseline="python with asyncio alone", most=0.5
        ),
        Result("SDKs imported at start", len(imported), "", most=0, baseline=", ".join(imported)),
        Result("resident memory at rest", resident, "MB", most=60),
        Result("processor time at rest", processor, "ms/s", most=0),
        Result("execute to first step", first_step, "ms", ratio=first_step / raw, baseline="GET /health", most=5),
        Result("event written to event read", heard, "ms", ratio=heard / raw, baseline="GET /health", most=2),
        Result("replay of 10,000 events over HTTP", replay, "ms", most=500),
    ]


def _spawn(command: list[str], **options: Any) -> float:
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, **options)
    assert process.stdout
    process.stdout.readline()
    taken = time.perf_counter() - began
    process.terminate()
    process.wait(5)
    process.stdout.close()
    return taken


def _ready(home: Path) -> float:
    home.mkdir()
    environ = {**os.environ, "HOME": str(home)}
    environ.pop("PYTHONDONTWRITEBYTECODE", None)
    command = [str(Path(sys.executable).parent / "brain"), "serve", "--port", "0", "--data-dir", str(home / "data")]
    return statistics.median(_spawn(command, env=environ, cwd=PROJECT) for _ in range(STARTS))


def _prompt(home: Path) -> float:
    """On a terminal, with no sidecar running yet."""
    home.mkdir()
    environ = {**os.environ, "HOME": str(home), "BRAIN_DATA_DIR": str(home / "data")}
    environ.pop("PYTHONDONTWRITEBYTECODE", None)
    began = time.perf_counter()
    with on_terminal(environ=environ, cwd=home) as terminal:
        terminal.wait_for("›")
        taken = time.perf_counter() - began
        terminal.press("\x04")
        terminal.exit_code()
    return taken


def _imports() -> list[str]:
    code = "import sidecar.app.parts, sidecar.app.sidecar, sys; print(' '.join(sys.modules))"
    listed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=PROJECT, check=True)
    return [name for name in SDKS if name in listed.stdout.split()]


def _at_rest(sidecar: RunningSidecar) -> tuple[float, float]:
    time.sleep(1)
    status = Path(f"/proc/{sidecar.pid}/status").read_text()
    resident = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))
    before = _ticks(sidecar.pid)
    time.sleep(IDLE_SECONDS)
    used = (_ticks(sidecar.pid) - before) * 1000 / os.sysconf("SC_CLK_TCK")
    return resident / 1024, used / IDLE_SECONDS


def _ticks(pid: int) -> int:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def _raw_request(sidecar: RunningSidecar) -> float:
    connection = http.client.HTTPConnection("127.0.0.1", sidecar.port)
    times = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        connection.request("GET", "/health")
        connection.getresponse().read()
        times.append(time.perf_counter() - began)
    connection.close()
    return statistics.median(times) * 1000


def _tasks(sidecar: RunningSidecar) -> tuple[float, float]:
    """From sending a task to its first step, and from an event's writing to its being read, by the clock of both."""
    first_steps, delays = [], []
    # A model takes its time: whoever follows the task is there before its last word.
    models = sidecar.script("talk", [{"text": "hello", "delayMs": 30}])
    for _ in range(ROUNDS):
        began = time.time()
        task_id = sidecar.execute("x", models=models, intent="chat")
        with sidecar.stream(task_id) as events:
            for event in events:
                now = time.time()
                if event["type"] == "step" and event["state"] == "started":
                    first_steps.append(_moment(event["at"]) - began)
                if event["type"] == "complete":
                    delays.append(now - _moment(event["at"]))
    return statistics.median(first_steps) * 1000, statistics.median(delays) * 1000


def _moment(at: str) -> float:
    from datetime import datetime

    return datetime.fromisoformat(at).timestamp()


def _replay(sidecar: RunningSidecar) -> float:
    turns = 950
    # Another call each turn: an agent that repeats itself is stopped.
    paths = ["./" * (1 + turn % 50) for turn in range(turns)]
    looks = [{"text": "x" * 200, "calls": [{"tool": "list_dir", "args": {"path": path}}] * 10} for path in paths]
    models = sidecar.script("long", [*looks, {"text": "done"}])
    task_id = sidecar.execute("x", models=models, intent="chat", maxIterations=turns + 1)
    sidecar.wait_for_end(task_id, seconds=120)
    began = time.perf_counter()
    count = 0
    with sidecar.stream(task_id) as events:
        for _ in events:
            count += 1
    taken = (time.perf_counter() - began) * 1000
    assert count >= 10_000, f"only {count} events: {json.dumps(sidecar.task(task_id)['error'])}"
    return taken * 10_000 / count
