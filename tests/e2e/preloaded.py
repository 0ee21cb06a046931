"""Sidecars that start at once: forked from a process that has already imported everything a sidecar imports.

They are the same program in processes of their own; only the imports, most of the processor time of a start, happen
once for each test process instead of a thousand times. Tests about the start itself, and the long forms of the fault
tests, start the real command instead.
"""

import atexit
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, NoReturn

from tests.faults.scale import FULL

_PROJECT = Path(__file__).resolve().parents[2]
#: Read by the interpreter or the loader before our code runs, so a fork can't take them over.
_EARLY = ("PYTHON", "LD_")
_MAX_REQUEST = 1 << 20
#: What serving and a first task import, beyond the packages that are imported whole.
_MODULES = (
    "sidecar.commands.serve",
    "sidecar.app.parts",
    "sidecar.app.sidecar",
    "sidecar.client.client",
    "sidecar.fleet.crew.children",
    "sidecar.memory.past_tools",
    "sidecar.memory.tools",
    "sse_starlette.sse",
    "watchdog.observers",
)


class ForkedProcess:
    """As much of `subprocess.Popen` as tests use."""

    def __init__(
        self, arguments: Sequence[str], environ: Mapping[str, str], log: IO[str], cwd: Path = _PROJECT
    ) -> None:
        its_input, our_output = os.pipe()
        our_input, its_output = os.pipe()
        our_end, its_end = os.pipe()
        request = json.dumps([list(arguments), dict(environ), str(cwd)]).encode()
        socket.send_fds(_server(), [request], [its_input, its_output, log.fileno(), its_end])
        for handle in (its_input, its_output, its_end):
            os.close(handle)
        self.stdin: IO[str] | None = os.fdopen(our_output, "w")
        self.stdout: IO[str] | None = os.fdopen(our_input)
        #: Its process id, and then its exit code, a line each.
        self._end = os.fdopen(our_end, buffering=1)
        self.pid = int(self._end.readline())
        self.returncode: int | None = None

    def poll(self) -> int | None:
        if self.returncode is None and select.select([self._end], [], [], 0)[0]:
            self.returncode = int(self._end.readline())
            self._end.close()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None and not select.select([self._end], [], [], timeout)[0]:
            raise subprocess.TimeoutExpired("sidecar", timeout or 0)
        code = self.poll()
        assert code is not None
        return code

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def run_forked(
    arguments: Sequence[str], environ: Mapping[str, str], cwd: Path, stdin: str, seconds: float
) -> subprocess.CompletedProcess[str]:
    """A command from its start to its end; one that takes longer is killed."""
    with TemporaryFile("w+") as errors:
        process = ForkedProcess(arguments, environ, errors, cwd)
        assert process.stdin and process.stdout
        late = threading.Timer(seconds, process.kill)
        late.start()
        try:
            with suppress(BrokenPipeError), process.stdin:
                process.stdin.write(stdin)
            with process.stdout:
                output = process.stdout.read()
            code = process.wait(seconds)
        finally:
            late.cancel()
            late.join()
        errors.seek(0)
        return subprocess.CompletedProcess(list(arguments), code, output, errors.read())


def can_fork(environ: Mapping[str, str]) -> bool:
    """Not in the long forms of the fault tests, nor where the command itself is measured."""
    if FULL or Path(sys.argv[0]).parent.name == "benchmarks":
        return False
    return sys.platform == "linux" and _early(environ) == _early(os.environ)


def _early(environ: Mapping[str, str]) -> dict[str, str]:
    """The project itself is on the path of a fork anyway."""
    ours = ("PYTHONPATH", str(_PROJECT))
    return {name: value for name, value in environ.items() if name.startswith(_EARLY) and (name, value) != ours}


@cache
def _server() -> socket.socket:
    ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    for end in (ours, its):
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _MAX_REQUEST)
    command = [sys.executable, "-m", "tests.e2e.preloaded", str(its.fileno())]
    process = subprocess.Popen(command, pass_fds=[its.fileno()], cwd=_PROJECT)
    its.close()

    def end() -> None:
        ours.close()
        process.wait(10)

    atexit.register(end)
    return ours


def _serve(requests: socket.socket) -> None:
    """Fork for each request; tell each caller the process id, and how the process ended."""
    children: dict[int, tuple[int, int]] = {}
    while True:
        ready, _, _ = select.select([requests, *children], [], [])
        for handle in ready:
            if handle is not requests:
                _report_end(handle, *children.pop(handle))
                continue
            request, handles, _, _ = socket.recv_fds(requests, _MAX_REQUEST, 4)
            if not request:
                return
            *streams, end = handles
            if json.loads(request)[0][:1] == ["doors"]:
                _preload_doors()
            if (pid := os.fork()) == 0:
                requests.close()
                for other in (end, *children, *(ends for _, ends in children.values())):
                    os.close(other)
                _become_sidecar(request, streams)
            for stream in streams:
                os.close(stream)
            os.write(end, b"%d\n" % pid)
            children[os.pidfd_open(pid)] = (pid, end)


def _report_end(handle: int, pid: int, end: int) -> None:
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    with suppress(BrokenPipeError):
        os.write(end, b"%d\n" % code)
    os.close(end)
    os.close(handle)


def _become_sidecar(request: bytes, streams: Sequence[int]) -> NoReturn:
    arguments, environ, cwd = json.loads(request)
    os.chdir(cwd)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin, sys.stdout, sys.stderr = os.fdopen(0), os.fdopen(1, "w"), os.fdopen(2, "w", buffering=1)
    os.environ.clear()
    os.environ.update(environ)
    time.tzset()
    sys.argv = ["sidecar", *arguments]
    from sidecar.cli import main

    sys.exit(main())


def _preload() -> None:
    import gc
    import importlib
    import pkgutil

    from pydantic import BaseModel

    gc.disable()
    for name in _MODULES:
        importlib.import_module(name)
    for package in ("sidecar.work", "sidecar.offline", "sidecar.verify", "tools.builtin", "tools.code", "tools.local"):
        for module in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}."):
            importlib.import_module(module.name)
    from sidecar.offline.phrases import Phrase
    from sidecar.work.router import route
    from tools.executor.registry import default_registry

    for phrase in [each for each in gc.get_objects() if isinstance(each, Phrase)]:
        phrase.pattern  # noqa: B018 - compiles it
    route("")
    registry = default_registry()
    registry.offers(registry.names())
    for model in (each for each in gc.get_objects() if isinstance(each, type) and issubclass(each, BaseModel)):
        if model.__module__.startswith(("sidecar.", "tools.", "bridge.")):
            model.model_rebuild()
    gc.freeze()


@cache
def _preload_doors() -> None:
    """Before the first of them: most test processes start none."""
    import gc
    import importlib

    for name in ("commands.doors", "doors.process", "doors.mail", "doors.chat.slack"):
        importlib.import_module(f"sidecar.{name}")
    for name in ("aiohttp", "slack_sdk.socket_mode.aiohttp", "slack_sdk.web.async_client"):
        with suppress(ImportError):
            importlib.import_module(name)
    gc.freeze()


if __name__ == "__main__":
    _preload()
    _serve(socket.socket(fileno=int(sys.argv[1])))
