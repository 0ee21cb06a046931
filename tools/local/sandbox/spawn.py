"""The one place that starts a command, with or without a thread that drops its rights first."""

import asyncio
import os
import select
import subprocess
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from typing import IO, Any, TypeVar, cast

from sidecar.config.paths import closed_after
from tools.local.attribution.notifications import NotificationThread
from tools.local.attribution.trace import Tracer
from tools.local.marks import set_mark
from tools.local.sandbox.access import CommandLaunch

P = TypeVar("P", bound=asyncio.SubprocessProtocol)


async def spawn(
    launch: CommandLaunch, directory: str, make_protocol: Callable[[], P], tracer: Tracer | None = None
) -> P:
    """Start a command in a session of its own; its protocol hears the output and the end.

    A tracer was made with the launch's guard; without a tracer, the guard gets a thread of its own.
    """
    if launch.restrict is None and tracer is None and launch.mark is None and not launch.gated:
        try:
            _, protocol = await asyncio.get_running_loop().subprocess_exec(
                make_protocol,
                *launch.argv,
                stdin=asyncio.subprocess.DEVNULL,
                cwd=directory,
                env=launch.environment,
                start_new_session=True,
                pass_fds=launch.handles,
            )
        finally:
            _close(launch.handles)
        return protocol
    starting = _start(
        launch,
        tracer,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=directory,
        start_new_session=True,
    )
    process = _released(launch, await asyncio.wrap_future(starting))
    protocol = make_protocol()
    await _PopenTransport(process, protocol).connect()
    return protocol


def popen(launch: CommandLaunch, tracer: Tracer | None = None, **options: Any) -> "subprocess.Popen[bytes]":
    """`options` are those of `Popen`. If dropping rights or starting raises, nothing was started."""
    return _released(launch, _start(launch, tracer, **options).result())


def _start(launch: CommandLaunch, tracer: Tracer | None, **options: Any) -> "Future[subprocess.Popen[bytes]]":
    if tracer is None and launch.guard is not None:
        tracer = NotificationThread(launch.guard)
    if launch.gated:
        options["stdin"] = subprocess.PIPE
    started: Future[subprocess.Popen[bytes]] = Future()

    def start() -> None:
        try:
            process = _popen(launch, tracer, {**options, "pass_fds": launch.handles})
            ended = os.pidfd_open(process.pid) if in_thread and launch.restrict is None else -1
        except BaseException as error:
            if tracer is not None:
                tracer.stop().result()
            started.set_exception(error)
            return
        finally:
            _close(launch.handles)
        started.set_result(process)
        if ended >= 0:
            _wait_for(ended)

    in_thread = launch.restrict is not None or tracer is not None
    if in_thread:
        # Never a pooled thread: it can't regain dropped rights, and the tracer would go on reporting its calls.
        threading.Thread(target=start, name="confined", daemon=True).start()
    else:
        # Not from another thread: bubblewrap ends with the thread that started it.
        start()
    return started


def _popen(launch: CommandLaunch, tracer: Tracer | None, options: dict[str, Any]) -> "subprocess.Popen[bytes]":
    if launch.restrict is not None:
        launch.restrict()
    if tracer is not None:
        tracer.install()
    if options.get("stdin") == subprocess.DEVNULL:
        # `Popen` would open it for writing too, which the tracer reports.
        with open(os.devnull, "rb") as nothing:  # noqa: PTH123
            return subprocess.Popen(launch.argv, env=launch.environment, **{**options, "stdin": nothing})
    return subprocess.Popen(launch.argv, env=launch.environment, **options)


def _released(launch: CommandLaunch, process: "subprocess.Popen[bytes]") -> "subprocess.Popen[bytes]":
    if launch.mark is not None:
        set_mark(process.pid, launch.mark)
    if launch.gated:
        _open_gate(process)
    return process


def _open_gate(process: "subprocess.Popen[bytes]") -> None:
    """Now that it is marked, the command may run."""
    assert process.stdin is not None
    with suppress(OSError):
        process.stdin.write(b"\n")
        process.stdin.close()
    process.stdin = None


def _close(handles: tuple[int, ...]) -> None:
    for handle in handles:
        os.close(handle)


def _wait_for(process: int) -> None:
    """Until the process ends: bubblewrap ends with the thread that started it."""
    with closed_after(process):
        poll = select.poll()
        poll.register(process, select.POLLIN)
        poll.poll()


class _PopenTransport(asyncio.SubprocessTransport):
    """A `Popen` as the event loop's own subprocess transport. Needs Linux."""

    def __init__(self, process: "subprocess.Popen[bytes]", protocol: asyncio.SubprocessProtocol) -> None:
        super().__init__()
        self._process = process
        self._protocol = protocol
        self._loop = asyncio.get_running_loop()
        self._pipes: list[asyncio.BaseTransport] = []
        self._open = 0
        self._handle = os.pidfd_open(process.pid)
        self._loop.add_reader(self._handle, self._exited)
        protocol.connection_made(self)

    async def connect(self) -> None:
        for number, stream in ((1, self._process.stdout), (2, self._process.stderr)):
            if stream is not None:
                self._open += 1
                pipe, _ = await self._loop.connect_read_pipe(partial(_Pipe, self, number), cast("IO[Any]", stream))
                self._pipes.append(pipe)

    def get_pid(self) -> int:
        return self._process.pid

    def get_returncode(self) -> int | None:
        return self._process.returncode

    def kill(self) -> None:
        self._process.kill()

    def close(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
        for pipe in self._pipes:
            pipe.close()

    def pipe_data_received(self, number: int, data: bytes) -> None:
        self._protocol.pipe_data_received(number, data)

    def pipe_closed(self) -> None:
        self._open -= 1
        self._close_if_done()

    def _exited(self) -> None:
        if self._process.poll() is None:
            return
        self._loop.remove_reader(self._handle)
        os.close(self._handle)
        self._handle = -1
        self._protocol.process_exited()
        self._close_if_done()

    def _close_if_done(self) -> None:
        if self._handle < 0 and self._open == 0:
            self._protocol.connection_lost(None)


class _Pipe(asyncio.Protocol):
    def __init__(self, transport: _PopenTransport, number: int) -> None:
        self._transport = transport
        self._number = number

    def data_received(self, data: bytes) -> None:
        self._transport.pipe_data_received(self._number, data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport.pipe_closed()
