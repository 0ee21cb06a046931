"""`brain fleet scale`: workers on this machine, more while tasks wait and fewer when they are idle."""

import argparse
import signal
import subprocess
import sys
import time
from contextlib import suppress
from typing import Any

from sidecar.client.sidecars import reading
from sidecar.commands.parser import data_dir

#: One more worker while more tasks than this wait.
WAITING = 10
#: One less after so long with nothing to do.
IDLE_SECONDS = 60.0
_LOOK_SECONDS = 2.0
_STOP_SECONDS = 10.0


class Scaler:
    """Decides without acting: `wanted` is how many workers there should be."""

    def __init__(self, least: int, most: int) -> None:
        self._least = least
        self._most = most
        self._idle_since: float | None = None

    def wanted(self, workers: int, waiting: int, running: int, now: float) -> int:
        if waiting or running:
            self._idle_since = None
        elif self._idle_since is None:
            self._idle_since = now
        if waiting > WAITING:
            return min(workers + 1, self._most)
        if self._idle_since is not None and now - self._idle_since > IDLE_SECONDS:
            self._idle_since = now
            return max(workers - 1, self._least)
        return max(workers, self._least)


def scale(args: argparse.Namespace) -> int:
    """Runs until Ctrl-C or SIGTERM, then stops its workers; others continue their tasks."""
    scaler, workers = Scaler(args.least, args.most), list[subprocess.Popen[bytes]]()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with reading(data_dir(args)) as client:
        try:
            while True:
                workers = [worker for worker in workers if worker.poll() is None]
                state = client.get("/api/brain/fleet")
                wanted = _wanted(scaler, state, args.pool, len(workers))
                for _ in range(wanted - len(workers)):
                    workers.append(_start(args))
                for worker in workers[wanted:]:
                    worker.send_signal(signal.SIGUSR1)  # it finishes its tasks first
                time.sleep(_LOOK_SECONDS)
        except KeyboardInterrupt:
            return 0
        finally:
            for worker in workers:
                worker.terminate()
            for worker in workers:
                with suppress(subprocess.TimeoutExpired):
                    worker.wait(_STOP_SECONDS)


def _wanted(scaler: Scaler, state: dict[str, Any], pool: str, workers: int) -> int:
    waiting = state["queue"]["pools"].get(pool, 0)
    running = sum(len(each["tasks"]) for each in state["workers"] if each["pool"] == pool)
    return scaler.wanted(workers, waiting, running, time.monotonic())


def _start(args: argparse.Namespace) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "sidecar", "worker", "--pool", args.pool, "--data-dir", str(data_dir(args))]
    print(f"One more worker for the pool {args.pool}.", flush=True)
    # We started it, so we read its ready line.
    return subprocess.Popen([*command, "--die-with-parent"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
