"""Find the sidecar of a data directory, or start one.

A working sidecar resumes every unfinished task. Commands that only read start one with --no-work instead, and stop it
afterwards.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

from sidecar.client.client import Client, Json
from sidecar.client.errors import ClientError, Unreachable
from sidecar.config.errors import EXIT_ALREADY_RUNNING
from sidecar.config.paths import READY_FILE, TOKEN_FILE, disk_full_message, is_disk_full

#: Long enough for a machine that is busy with something else. A sidecar that fails ends at once.
START_SECONDS = 60.0
PROOF_SECONDS = 10.0
#: Starts this version of the program. With `-P` the current directory, which may be a stranger's repository, offers no
#: modules.
PROGRAM = (sys.executable, "-P", "-m", "sidecar")
LOG_FILE = "sidecar.log"
LOG_BYTES = 1_048_576
_ACTIVE = ("queued", "running", "waiting", "cancelling")


def find_sidecar(data_dir: Path) -> Client | None:
    """The working sidecar of this data directory, if it answers."""
    try:
        ready = json.loads((data_dir / READY_FILE).read_text(encoding="utf-8"))
        token = (data_dir / TOKEN_FILE).read_text(encoding="utf-8").strip()
        client = Client(ready["url"], token, ready["pid"], certificate=ready.get("certificate"))
        # After a crash another program, or a sidecar with another token, may use its port.
        return client if client.is_genuine(timeout=PROOF_SECONDS) else None
    except (OSError, ValueError, KeyError, TypeError, Unreachable):
        return None


@contextmanager
def reading(data_dir: Path, workspace: Path | None = None) -> Iterator[Client]:
    """The running sidecar, else one that runs no task, until the block ends."""
    client = find_sidecar(data_dir)
    if client is not None:
        yield client
        return
    process, client = _start(data_dir, workspace, "--no-work", "--die-with-parent")
    if process is None:
        yield client
        return
    try:
        yield client
    finally:
        _terminate(process)


@contextmanager
def working(data_dir: Path, workspace: Path, port: int) -> Iterator[Client]:
    """The running sidecar, else our own until the block ends, on this port if it is free."""
    client = find_sidecar(data_dir)
    if client is not None:
        yield client
        return
    try:
        process, client = _start(data_dir, workspace, "--die-with-parent", "--port", str(port))
    except ClientError:
        # The port is taken; any other problem fails again.
        process, client = _start(data_dir, workspace, "--die-with-parent")
    try:
        yield client
    finally:
        if process is not None:
            _terminate(process)


class Launcher:
    """Gets a working sidecar: the running one, or one it starts, which exits when it is idle."""

    def __init__(self, data_dir: Path, workspace: Path | None = None, on_start: Callable[[], object] = bool) -> None:
        self._data_dir = data_dir
        self._workspace = workspace
        self._on_start = on_start
        self._own: subprocess.Popen[str] | None = None

    def client(self) -> Client:
        client = find_sidecar(self._data_dir)
        if client is None:
            self._on_start()
            process, client = _start(self._data_dir, self._workspace, "--exit-when-idle")
            self._own = process or self._own
        return client

    @property
    def started(self) -> bool:
        """Whether we started it."""
        return self._own is not None

    def release(self) -> None:
        """Stop the sidecar we started, unless it is in use; it exits by itself when it is idle."""
        if self._own is None or self._own.poll() is not None:
            return
        with suppress(ClientError):
            client = find_sidecar(self._data_dir)
            if client is None or client.pid != self._own.pid or _in_use(client.get("/api/brain/status")):
                return
            _terminate(self._own)


def stop_sidecar(client: Client) -> None:
    """Send SIGTERM and wait until it no longer answers; its tasks are checkpointed."""
    os.kill(client.pid, signal.SIGTERM)
    end = time.monotonic() + 5
    while time.monotonic() < end:
        try:
            client.get("/health", timeout=1)
        except ClientError:
            return
        time.sleep(0.02)
    raise ClientError(f"The sidecar (process {client.pid}) got SIGTERM but still answers.")


def restart_sidecar(program: Sequence[str], data_dir: Path, before: Client) -> None:
    """Start the sidecar that `program` is, at the address of the one that ended."""
    port = urlsplit(before.url).port or 0
    _start(data_dir, None, "--port", str(port), "--exit-when-idle", program=program)


def _in_use(status: Json) -> bool:
    return bool(status["streams"]) or any(status["tasks"].get(name) for name in _ACTIVE)


def _start(
    data_dir: Path,
    workspace: Path | None,
    *options: str,
    seconds: float = START_SECONDS,
    program: Sequence[str] = (),
) -> tuple[subprocess.Popen[str] | None, Client]:
    """The process and its client; no process if another one was faster, whose client this is."""
    end = time.monotonic() + seconds
    while True:
        try:
            process = _spawn(data_dir, workspace, *options, program=program)
        except OSError as error:
            problem = f"Can't use the data directory {data_dir}: {error.strerror}."
            raise Unreachable(f"{problem} Choose another with --data-dir.") from error
        line = _ready_line(process, end - time.monotonic())
        if line:
            ready = json.loads(line)
            token = Path(ready["tokenFile"]).read_text(encoding="utf-8").strip()
            return process, Client(ready["url"], token, ready["pid"], runs_tasks="--no-work" not in options)
        code = _terminate(process)
        if code != EXIT_ALREADY_RUNNING or time.monotonic() > end:
            raise Unreachable(_why_not(data_dir, code))
        # Another sidecar is starting or stopping: use it, or take its place.
        client = find_sidecar(data_dir)
        if client is not None:
            return None, client
        time.sleep(0.05)


def _spawn(data_dir: Path, workspace: Path | None, *options: str, program: Sequence[str] = ()) -> subprocess.Popen[str]:
    command = [*(program or PROGRAM), "serve", "--port", "0", "--data-dir", str(data_dir), *options]
    command += ["--workspace", str(workspace)] if workspace is not None else []
    data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    stdin = subprocess.PIPE if "--die-with-parent" in options else subprocess.DEVNULL
    with os.fdopen(_open_log(data_dir / LOG_FILE), "a") as log:
        # In its own session, so that Ctrl-C in this terminal doesn't reach it.
        return subprocess.Popen(
            command, stdin=stdin, stdout=subprocess.PIPE, stderr=log, text=True, start_new_session=True
        )


def _open_log(path: Path) -> int:
    """The log of sidecars we start; truncated when it is too long."""
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


def _terminate(process: subprocess.Popen[str]) -> int:
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
    if is_disk_full(data_dir):
        # The log has no room for the reason.
        return f"The sidecar didn't start: {disk_full_message(data_dir)}"
    log = data_dir / LOG_FILE
    last = ""
    with suppress(OSError):
        last = log.read_text(encoding="utf-8", errors="replace").strip().rpartition("\n")[2]
    reason = last.removeprefix("brain: ") or f"exit code {code}"
    return f"The sidecar didn't start: {reason}\nIts log: {log}. `brain doctor` looks for the cause."
