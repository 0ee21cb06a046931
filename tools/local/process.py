"""Commands on this machine: started clean, bounded in time and output, ended with everything that they started."""

import asyncio
import errno
import subprocess
import sys
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from tools.errors import CommandMissing, ToolError
from tools.host import EnoughOutput, Killed, ProcessKilled, ProcessOutput, ProcessResult
from tools.local.cage import Cage
from tools.local.capture import Capture
from tools.local.environment import call_mark, command_environment
from tools.local.limits import Crowd, Limits, ends_first
from tools.local.reaper import Reaper
from tools.local.root import path_of
from tools.local.sandbox.port import Start
from tools.local.sandbox.spawn import spawned
from tools.local.transport import StartedProcess
from tools.shield import run_to_completion

#: After the end of a command, how long what it printed last may take to arrive, before and after its leftovers end.
_FLUSH = 0.02
_DRAIN = 0.3
_EMPTYING = 0.25
_BACKGROUND_LIMIT = 32
#: How often somebody looks whether a command forks without end.
_COUNTED = 0.25
#: How a process ends that wrote more than it may, itself or seen from the shell around it.
_TOO_LARGE = (-25, 128 + 25)


class Running(asyncio.SubprocessProtocol):
    """One started process, as the event loop tells about it."""

    def __init__(self, call_id: str, capture: Capture) -> None:
        loop = asyncio.get_running_loop()
        self.call_id = call_id
        self.capture = capture
        self.began = time.monotonic()
        self.ended: float | None = None
        self.exited: asyncio.Future[None] = loop.create_future()
        self.closed: asyncio.Future[None] = loop.create_future()
        self.transport: asyncio.SubprocessTransport
        self.pid = 0
        self.killed: tuple[Killed, ...] = ()
        #: Whether it only watches over the command, and ends by itself after it.
        self.watches = False
        self.limits: Limits | None = None
        #: Children that we had before it was started.
        self.earlier: frozenset[int] = frozenset()
        self.counting: asyncio.TimerHandle | None = None
        self.ending: asyncio.Task[None] | None = None
        self.why = ""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.SubprocessTransport)
        self.transport = transport
        self.pid = transport.get_pid()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        try:
            self.capture.feed(fd, data)
        except EnoughOutput:
            self.transport.kill()

    def process_exited(self) -> None:
        self.ended = time.monotonic()
        if self.limits is not None and self.transport.get_returncode() in _TOO_LARGE:
            self.note(f"ended: a file grew past {self.limits.file_bytes} bytes, the limit of command_file_bytes")
        if not self.exited.done():
            self.exited.set_result(None)

    def note(self, text: str) -> None:
        """Something that the command does not know of itself, told with what it printed."""
        self.why = text
        self.capture.feed(2, f"\n[{text}]\n".encode())

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.closed.done():
            self.closed.set_result(None)

    def result(self, *, timed_out: bool = False) -> ProcessResult:
        code = self.transport.get_returncode()
        return ProcessResult(
            exit_code=code,
            output=self.capture.text(),
            timed_out=timed_out,
            duration_ms=((self.ended or time.monotonic()) - self.began) * 1000,
            killed=self.killed,
            log=self.capture.log,
            running=code is None,
            why=self.why,
        )


class Processes:
    """All commands of one backend."""

    def __init__(self, data_dir: Path, mark: str, reaper: Reaper) -> None:
        self._directory = data_dir / "output"
        self._mark = mark
        self._reaper = reaper
        self._running: set[Running] = set()
        self._background: dict[str, Running] = {}

    async def run(
        self,
        argv: Sequence[str],
        *,
        call_id: str,
        cwd: int,
        timeout: float,
        output: ProcessOutput,
        environment: Mapping[str, str] | None = None,
        killed: ProcessKilled | None = None,
        log: bool = True,
        cage: Cage | None = None,
    ) -> ProcessResult:
        capture = Capture(self._directory if log else None, call_mark(call_id), output)
        running = await self._begun(self._spawn(argv, call_id, cwd, environment, capture, cage, timeout), killed)
        timed_out = False
        try:
            async with asyncio.timeout(timeout):
                # Waited for from outside: a cancel must not end the future itself.
                await asyncio.wait((running.exited,))
                if not running.closed.done():
                    await asyncio.wait((running.closed,), timeout=_FLUSH)
        except TimeoutError:
            timed_out = not running.exited.done()
        finally:
            if running.watches and running.exited.done():
                await run_to_completion(self._emptied(running))
            # After a cancel, a time-out and a normal end alike: whatever it left is ended before anybody hears of it.
            if running.closed.done() and not self._leaves(running):
                self._release(running)
            else:
                await run_to_completion(self._end(running, killed))
        return running.result(timed_out=timed_out)

    async def start(
        self,
        argv: Sequence[str],
        *,
        call_id: str,
        cwd: int,
        environment: Mapping[str, str] | None = None,
        cage: Cage | None = None,
    ) -> None:
        for old_id, old in list(self._background.items()):
            if len(self._background) >= _BACKGROUND_LIMIT and old.exited.done():
                del self._background[old_id]
        if len(self._background) >= _BACKGROUND_LIMIT:
            raise ToolError(
                f"{_BACKGROUND_LIMIT} commands run in the background already. Stop one with stop_command first.",
                code="too_many_commands",
            )
        capture = Capture(self._directory, call_mark(call_id), None)
        begun = self._begun(self._spawn(argv, call_id, cwd, environment, capture, cage), None)
        self._background[call_id] = await begun

    def poll(self, command_id: str) -> ProcessResult:
        return self._known(command_id).result()

    async def stop(self, command_id: str) -> ProcessResult:
        running = self._known(command_id)
        await run_to_completion(self._end(running, None))
        return running.result()

    async def sweep(self, call_id: str | None) -> Sequence[Killed]:
        return await self._reaper.sweep(call_id, self._pids())

    async def close(self) -> None:
        for running in list(self._running):
            await run_to_completion(self._end(running, None))
        self._background.clear()

    def outliving(self, call_id: str) -> asyncio.Future[None] | None:
        """When a command in the background ends, if it still runs."""
        running = self._background.get(call_id)
        return None if running is None or running.exited.done() else running.exited

    def _known(self, command_id: str) -> Running:
        running = self._background.get(command_id)
        if running is None:
            known = ", ".join(self._background) or "none"
            raise ToolError(
                f"No background command has the id {command_id!r}. Known: {known}.",
                advice="Start one with run_command.",
                code="unknown_command",
            )
        return running

    async def _begun(self, spawning: Coroutine[Any, Any, Running], killed: ProcessKilled | None) -> Running:
        # A start that is cancelled half-way would leave a process that nobody knows: it is started, then ended.
        start = asyncio.ensure_future(spawning)
        try:
            return await asyncio.shield(start)
        except asyncio.CancelledError:
            await run_to_completion(self._undo(start, killed))
            raise

    async def _undo(self, start: asyncio.Future[Running], killed: ProcessKilled | None) -> None:
        with suppress(ToolError):
            await self._end(await start, killed)

    async def _spawn(
        self,
        argv: Sequence[str],
        call_id: str,
        cwd: int,
        environment: Mapping[str, str] | None,
        capture: Capture,
        cage: Cage | None,
        seconds: float | None = None,
    ) -> Running:
        # The child enters the directory by its handle: its path cannot be swapped for another one meanwhile.
        directory = f"/proc/self/fd/{cwd}" if sys.platform == "linux" else path_of(cwd)
        clean = command_environment(call_id, self._mark, path_of(cwd), environment)
        start, earlier = Start(argv, clean), self._reaper.children()
        try:
            if cage is not None:
                start = cage.around(argv, path_of(cwd), clean, seconds)
            running = await _started(start, directory, lambda: Running(call_id, capture))
        except (OSError, ValueError) as error:
            capture.close()
            raise _not_started(argv, error) from error
        running.earlier = earlier
        self._running.add(running)
        if cage is not None:
            running.watches = cage.watched
            running.limits = cage.limits
        if running.limits is not None:
            ends_first(running.pid)
            self._count(running, Crowd(running.limits.processes))
        return running

    def _count(self, running: Running, crowd: Crowd) -> None:
        """Root may fork without end, whatever the limits say; so somebody looks."""
        if running.exited.done():
            return
        most = crowd.most
        if crowd.grown() and len(self._reaper.members(running.pid, running.call_id, self._pids())) > most:
            running.note(f"ended: it started more than {most} processes, the limit of command_processes")
            running.ending = asyncio.create_task(self._end(running, None), name="crowd")
            return
        running.counting = asyncio.get_running_loop().call_later(_COUNTED, self._count, running, crowd)

    async def _end(self, running: Running, killed: ProcessKilled | None) -> None:
        if not running.exited.done() or self._leaves(running):
            ended = await self._reaper.end(running.pid, running.call_id, self._pids(), watched=running.watches)
            running.killed += tuple(ended)
            if killed is not None:
                for each in ended:
                    killed(each.pid, each.command)
        if not running.closed.done():
            await asyncio.wait((running.exited, running.closed), timeout=_DRAIN)
        self._release(running)

    async def _emptied(self, running: Running) -> None:
        """With the end of the one that watches over it, the kernel ends everything in a sandbox: in a moment."""
        patience = time.monotonic() + _EMPTYING
        # No event tells of it: these are no children of ours until they are dead.
        while not self._reaper.bury_group(running.pid) and time.monotonic() < patience:  # noqa: ASYNC110
            await asyncio.sleep(0.0005)

    def _leaves(self, running: Running) -> bool:
        return self._reaper.leftovers(running.pid, running.call_id, self._pids() | running.earlier)

    def _release(self, running: Running) -> None:
        if running.counting is not None:
            running.counting.cancel()
        running.transport.close()
        running.capture.close()
        self._running.discard(running)
        self._reaper.bury_strangers(self._pids())

    def _pids(self) -> frozenset[int]:
        return frozenset(running.pid for running in self._running)


async def _started(start: Start, directory: str, made: Callable[[], Running]) -> Running:
    if start.give_up is not None:
        process = spawned(
            start,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=directory,
            start_new_session=True,
        )
        running = made()
        await StartedProcess(process, running).connect()
        return running
    _, running = await asyncio.get_running_loop().subprocess_exec(
        made,
        *start.argv,
        stdin=asyncio.subprocess.DEVNULL,
        cwd=directory,
        env=start.environment,
        start_new_session=True,
    )
    return running


def _not_started(argv: Sequence[str], error: OSError | ValueError) -> ToolError:
    program = argv[0] if argv else ""
    if isinstance(error, FileNotFoundError):
        return CommandMissing(f"{program} is not installed, or not on the PATH. Check the name, or use what is there.")
    if isinstance(error, ValueError):
        return ToolError(f"{program!r} cannot be started: {error}.", code="invalid_command")
    busy = error.errno in (errno.EAGAIN, errno.ETXTBSY, errno.EMFILE, errno.ENFILE, errno.ENOMEM)
    return ToolError(f"{program} could not be started: {error.strerror}.", code="not_started", transient=busy)
