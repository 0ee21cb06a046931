"""Finding the sidecar of a data directory, or starting one: to work, or only to look.

Which one a command takes decides what it may set off. A sidecar that works goes on with every task that an earlier
one left unfinished; a command that only looks starts one that is at rest, and takes it down again.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sidecar.commands.client import Client, Json
from sidecar.commands.errors import CommandFailed, Refused, Unreachable
from sidecar.commands.exits import EXIT_ALREADY_RUNNING, EXIT_NO_SIDECAR
from sidecar.config.paths import READY_FILE, TOKEN_FILE

START_SECONDS = 15.0
LOG_FILE = "sidecar.log"
LOG_BYTES = 1_048_576
_ACTIVE = ("queued", "running", "waiting", "cancelling")


def running(data_dir: Path) -> Client | None:
    """The sidecar at work on this data directory, if it answers."""
    try:
        ready = json.loads((data_dir / READY_FILE).read_text(encoding="utf-8"))
        token = (data_dir / TOKEN_FILE).read_text(encoding="utf-8").strip()
        client = Client(ready["url"], token, ready["pid"])
        client.get("/api/brain/agents", timeout=2)
    except Refused as refusal:
        # After a crash its port may be another program's by now, or another sidecar's, which does not know our token.
        return client if refusal.status == 503 else None
    except (OSError, ValueError, KeyError, TypeError, Unreachable):
        return None
    return client


@contextmanager
def looking(data_dir: Path, workspace: Path | None = None) -> Iterator[Client]:
    """One to ask. If none is running, one at rest, for as long as it is asked."""
    client = running(data_dir)
    if client is not None:
        yield client
        return
    process, client = _start(data_dir, workspace, "--at-rest", "--die-with-parent")
    if process is None:
        yield client
        return
    try:
        yield client
    finally:
        _end(process)


@contextmanager
def lasting(data_dir: Path, workspace: Path, port: int) -> Iterator[Client]:
    """The one that runs; if none does, one of our own, on this port if it is free, that ends when we do."""
    client = running(data_dir)
    if client is not None:
        yield client
        return
    try:
        process, client = _start(data_dir, workspace, "--die-with-parent", "--port", str(port))
    except CommandFailed:
        # The port is another program's; any other reason shows itself once more.
        process, client = _start(data_dir, workspace, "--die-with-parent")
    try:
        yield client
    finally:
        if process is not None:
            _end(process)


class Workplace:
    """A sidecar that works on tasks: one that is there, or one that we start and that ends when it is idle."""

    def __init__(self, data_dir: Path, workspace: Path | None = None, on_start: Callable[[], object] = bool) -> None:
        self._data_dir = data_dir
        self._workspace = workspace
        self._on_start = on_start
        self._own: subprocess.Popen[str] | None = None

    def client(self) -> Client:
        client = running(self._data_dir)
        if client is None:
            self._on_start()
            process, client = _start(self._data_dir, self._workspace, "--exit-when-idle")
            self._own = process or self._own
        return client

    @property
    def started(self) -> bool:
        """Whether it is ours, and not one that was there before."""
        return self._own is not None

    def leave(self) -> None:
        """Takes down what we started, unless somebody uses it; left alone it ends by itself when it is idle."""
        if self._own is None or self._own.poll() is not None:
            return
        with suppress(CommandFailed):
            client = running(self._data_dir)
            if client is None or client.pid != self._own.pid or _in_use(client.get("/api/brain/status")):
                return
            _end(self._own)


def stop(client: Client) -> None:
    """SIGTERM: tasks are checkpointed, children are gone. Returns once it has let go."""
    os.kill(client.pid, signal.SIGTERM)
    end = time.monotonic() + 5
    while time.monotonic() < end:
        try:
            client.get("/health", timeout=1)
        except CommandFailed:
            return
        time.sleep(0.02)
    raise CommandFailed(f"The sidecar (process {client.pid}) was told to stop, but still answers.")


def _in_use(status: Json) -> bool:
    return bool(status["streams"]) or any(status["tasks"].get(name) for name in _ACTIVE)


def _start(
    data_dir: Path, workspace: Path | None, *options: str, seconds: float = START_SECONDS
) -> tuple[subprocess.Popen[str] | None, Client]:
    """The process and its client; no process if somebody else was faster and theirs is to be used."""
    end = time.monotonic() + seconds
    while True:
        try:
            process = _spawn(data_dir, workspace, *options)
        except OSError as error:
            told = f"The data directory {data_dir} cannot be used: {error.strerror}."
            raise CommandFailed(
                f"{told} Name another one with --data-dir or BRAIN_DATA_DIR.", EXIT_NO_SIDECAR
            ) from error
        line = _ready_line(process, end - time.monotonic())
        if line:
            ready = json.loads(line)
            token = Path(ready["tokenFile"]).read_text(encoding="utf-8").strip()
            return process, Client(ready["url"], token, ready["pid"], at_work="--at-rest" not in options)
        code = _end(process)
        if code != EXIT_ALREADY_RUNNING or time.monotonic() > end:
            raise CommandFailed(_why_not(data_dir, code), EXIT_NO_SIDECAR)
        # Another one is starting, or has not quite ended: use the one, or take the other's place.
        client = running(data_dir)
        if client is not None:
            return None, client
        time.sleep(0.05)


def _spawn(data_dir: Path, workspace: Path | None, *options: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "sidecar", "serve", "--port", "0", "--data-dir", str(data_dir), *options]
    command += ["--workspace", str(workspace)] if workspace is not None else []
    data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    stdin = subprocess.PIPE if "--die-with-parent" in options else subprocess.DEVNULL
    with os.fdopen(_open_log(data_dir / LOG_FILE), "a") as log:
        # In a session of its own, so that Ctrl-C in this terminal is ours alone to understand.
        return subprocess.Popen(
            command, stdin=stdin, stdout=subprocess.PIPE, stderr=log, text=True, start_new_session=True
        )


def _open_log(path: Path) -> int:
    """The log of those that we start; it begins anew when it has grown long."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0), 0o600)
    if os.fstat(descriptor).st_size > LOG_BYTES:
        os.ftruncate(descriptor, 0)
    return descriptor


def _ready_line(process: subprocess.Popen[str], seconds: float) -> str:
    assert process.stdout is not None
    late = threading.Timer(max(seconds, 0.1), process.kill)
    late.daemon = True
    late.start()
    try:
        return process.stdout.readline()
    finally:
        late.cancel()


def _end(process: subprocess.Popen[str]) -> int:
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
    code = process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()
    return code


def _why_not(data_dir: Path, code: int) -> str:
    log = data_dir / LOG_FILE
    last = ""
    with suppress(OSError):
        last = log.read_text(encoding="utf-8", errors="replace").strip().rpartition("\n")[2]
    told = last.removeprefix("brain: ") or f"it ended with exit code {code}"
    return f"The sidecar could not be started: {told}\nIts log is {log}; `brain doctor` looks for the cause."
