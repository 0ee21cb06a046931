"""The commands of one backend: start them clean, bound their time and output, end them with everything they started.

`sandbox/spawn.py` starts, `confinement.py` and `output.py` bound, `reaper.py` ends.
"""

import asyncio
import errno
import shutil
import sys
import time
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from tools.environments import ProjectEnvironment
from tools.errors import CommandMissing, ToolError
from tools.host import EnoughOutput, Killed, ProcessKilled, ProcessOutput, ProcessResult
from tools.lease import check_lease
from tools.local.attribution.trace import Attribution
from tools.local.confinement import CommandLimits, Confinement, ProcessGrowth, prefer_for_oom_kill
from tools.local.environment import call_mark, command_environment
from tools.local.marks import Guardian, limit_mark
from tools.local.output import OutputCapture
from tools.local.reaper import Reaper
from tools.local.root import path_of
from tools.local.sandbox.access import CommandLaunch
from tools.local.sandbox.gateway import Gateway
from tools.local.sandbox.spawn import spawn
from tools.shield import run_to_completion

#: How long the last output may take after the command ended: before its leftovers are ended, and after.
_FLUSH_SECONDS = 0.02
_DRAIN_SECONDS = 0.3
_SANDBOX_EXIT_SECONDS = 0.25
_MAX_BACKGROUND = 32
#: How often to look whether a command forks without end.
_COUNT_SECONDS = 0.25
#: Exit codes of a process that exceeded the file size limit, directly or seen through a shell.
_FILE_TOO_LARGE = (-25, 128 + 25)


class RunningCommand(asyncio.SubprocessProtocol):
    """One started process, as the event loop reports it."""

    def __init__(self, call_id: str, capture: OutputCapture) -> None:
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
        #: Whether this process only supervises a sandbox, and ends by itself after the command.
        self.supervises = False
        self.limits: CommandLimits | None = None
        #: Our children from before the start.
        self.earlier: frozenset[int] = frozenset()
        self.counting: asyncio.TimerHandle | None = None
        self.ending: asyncio.Task[None] | None = None
        self.why = ""
        self.gateway: Gateway | None = None
        self.isolated = False

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
        if self.limits is not None and self.transport.get_returncode() in _FILE_TOO_LARGE:
            self.note(f"ended: a file grew past {self.limits.file_bytes} bytes, the limit of command_file_bytes")
        if self.gateway is not None:
            self.gateway.close()
        if not self.exited.done():
            self.exited.set_result(None)

    def note(self, text: str) -> None:
        """Add a reason that the command itself can't know to its output."""
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
            isolated=self.isolated,
        )


class Processes:
    def __init__(self, data_dir: Path, mark: str, reaper: Reaper) -> None:
        self._directory = data_dir / "output"
        self._mark = mark
        self._reaper = reaper
        self._guardian = Guardian(mark)
        self._running: set[RunningCommand] = set()
        #: The calls of commands that are being started, whose pids are still unknown.
        self._starting: dict[asyncio.Future[None], str] = {}
        self._background: dict[str, RunningCommand] = {}

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
        confinement: Confinement | None = None,
        attribution: Attribution | None = None,
        project: ProjectEnvironment | None = None,
    ) -> ProcessResult:
        capture = OutputCapture(self._directory if log else None, call_mark(call_id), output)
        spawning = self._spawn(argv, call_id, cwd, environment, capture, confinement, attribution, timeout, project)
        command = await self._started(spawning, killed)
        timed_out = False
        try:
            async with asyncio.timeout(timeout):
                # Wait from outside: a cancel must not end the future itself.
                await asyncio.wait((command.exited,))
                if not command.closed.done():
                    await asyncio.wait((command.closed,), timeout=_FLUSH_SECONDS)
        except TimeoutError:
            timed_out = not command.exited.done()
        finally:
            if command.supervises and command.exited.done():
                await run_to_completion(self._wait_for_sandbox(command))
            # After a cancel, a timeout and a normal end alike: end all leftovers before the end is reported.
            if command.closed.done() and not self._has_leftovers(command):
                self._release(command)
            else:
                await run_to_completion(self._end(command, killed))
        return command.result(timed_out=timed_out)

    async def start(
        self,
        argv: Sequence[str],
        *,
        call_id: str,
        cwd: int,
        environment: Mapping[str, str] | None = None,
        confinement: Confinement | None = None,
        attribution: Attribution | None = None,
        project: ProjectEnvironment | None = None,
    ) -> None:
        for old_id, old in list(self._background.items()):
            if len(self._background) >= _MAX_BACKGROUND and old.exited.done():
                del self._background[old_id]
        if len(self._background) >= _MAX_BACKGROUND:
            raise ToolError(
                f"{_MAX_BACKGROUND} commands already run in the background. Stop one with stop_command first.",
                code="too_many_commands",
            )
        capture = OutputCapture(self._directory, call_mark(call_id), None)
        spawning = self._spawn(argv, call_id, cwd, environment, capture, confinement, attribution, None, project)
        self._background[call_id] = await self._started(spawning, None)

    async def poll(self, command_id: str, wait: float) -> ProcessResult:
        command = self._find(command_id)
        if wait and not command.exited.done():
            # Its last output comes at about the same time as its end.
            await asyncio.wait((command.exited,), timeout=wait)
            if command.exited.done():
                await asyncio.wait((command.closed,), timeout=_FLUSH_SECONDS)
        return command.result()

    async def stop(self, command_id: str) -> ProcessResult:
        command = self._find(command_id)
        await run_to_completion(self._end(command, None))
        return command.result()

    async def sweep(self, call_id: str | None) -> Sequence[Killed]:
        return await self._reaper.sweep(call_id, self._pids())

    async def close(self) -> None:
        for command in list(self._running):
            await run_to_completion(self._end(command, None))
        self._background.clear()
        await asyncio.to_thread(self._guardian.close)

    def background_exit(self, call_id: str) -> asyncio.Future[None] | None:
        """The end of a background command, or `None` if it isn't running."""
        command = self._background.get(call_id)
        return None if command is None or command.exited.done() else command.exited

    def _find(self, command_id: str) -> RunningCommand:
        command = self._background.get(command_id)
        if command is None:
            known = ", ".join(self._background) or "none"
            raise ToolError(
                f"No background command has the id {command_id!r}. Known: {known}.",
                advice="Start one with run_command.",
                code="unknown_command",
            )
        return command

    async def _started(
        self, spawning: Coroutine[Any, Any, RunningCommand], killed: ProcessKilled | None
    ) -> RunningCommand:
        # A cancel in the middle of a start would leave an unknown process: finish the start, then end it.
        start = asyncio.ensure_future(spawning)
        try:
            return await asyncio.shield(start)
        except asyncio.CancelledError:
            await run_to_completion(self._end_started(start, killed))
            raise

    async def _end_started(self, start: asyncio.Future[RunningCommand], killed: ProcessKilled | None) -> None:
        with suppress(ToolError):
            await self._end(await start, killed)

    async def _spawn(
        self,
        argv: Sequence[str],
        call_id: str,
        cwd: int,
        environment: Mapping[str, str] | None,
        capture: OutputCapture,
        confinement: Confinement | None,
        attribution: Attribution | None = None,
        seconds: float | None = None,
        project: ProjectEnvironment | None = None,
    ) -> RunningCommand:
        # The child enters the directory by its handle, so the path can't be swapped meanwhile.
        directory = f"/proc/self/fd/{cwd}" if sys.platform == "linux" else path_of(cwd)
        clean = command_environment(call_id, self._mark, path_of(cwd), environment, project)
        launch = CommandLaunch(argv, clean)
        starting = asyncio.get_running_loop().create_future()
        self._starting[starting] = call_id
        try:
            if confinement is not None:
                launch = confinement.wrap(argv, path_of(cwd), clean, seconds)
            if confinement is None or (confinement.writes and not confinement.supervised):
                self._reaper.guardian = self._guardian.ensure()
                launch = launch._replace(mark=limit_mark(self._mark, call_id))
            earlier = self._reaper.children()
            tracer = None if attribution is None else attribution.tracer(launch.guard)
            check_lease()
            command = await spawn(launch, directory, lambda: RunningCommand(call_id, capture), tracer)
            self._running.add(command)
            command.earlier = earlier
            if launch.gateway is not None:
                launch.gateway.start()
                command.gateway = launch.gateway
        except (OSError, ValueError) as error:
            capture.close()
            if launch.gateway is not None:
                launch.gateway.close()
            raise _start_error(argv, error) from error
        finally:
            del self._starting[starting]
            starting.set_result(None)
        if confinement is not None:
            command.supervises = confinement.supervised
            command.isolated = confinement.isolated
            command.limits = confinement.limits
        if command.limits is not None:
            prefer_for_oom_kill(command.pid)
            self._count(command, ProcessGrowth(command.limits.processes))
        return command

    def _count(self, command: RunningCommand, growth: ProcessGrowth) -> None:
        """End a fork bomb. `ulimit` doesn't stop root."""
        if command.exited.done():
            return
        most = growth.most
        if growth.exceeded() and len(self._reaper.members(command.pid, command.call_id, self._pids())) > most:
            command.note(f"ended: it started more than {most} processes, the limit of command_processes")
            command.ending = asyncio.create_task(self._end(command, None), name="fork-bomb")
            return
        command.counting = asyncio.get_running_loop().call_later(_COUNT_SECONDS, self._count, command, growth)

    async def _end(self, command: RunningCommand, killed: ProcessKilled | None) -> None:
        if command.exited.done():
            # Another command of this call that is just starting would look like a leftover.
            while siblings := [start for start, call_id in self._starting.items() if call_id == command.call_id]:
                await asyncio.wait(siblings)
        if not command.exited.done() or self._has_leftovers(command):
            ended = await self._reaper.end(command.pid, command.call_id, self._pids(), supervised=command.supervises)
            command.killed += tuple(ended)
            if killed is not None:
                for each in ended:
                    killed(each.pid, each.command)
        if not command.closed.done():
            await asyncio.wait((command.exited, command.closed), timeout=_DRAIN_SECONDS)
        self._release(command)

    async def _wait_for_sandbox(self, command: RunningCommand) -> None:
        """When the supervisor ends, the kernel ends everything in the sandbox a moment later."""
        deadline = time.monotonic() + _SANDBOX_EXIT_SECONDS
        # No event reports it: the processes become our children only when they are dead.
        while not self._reaper.reap_group(command.pid) and time.monotonic() < deadline:  # noqa: ASYNC110
            await asyncio.sleep(0.0005)

    def _has_leftovers(self, command: RunningCommand) -> bool:
        return self._reaper.has_leftovers(command.pid, command.call_id, self._pids() | command.earlier)

    def _release(self, command: RunningCommand) -> None:
        if command.counting is not None:
            command.counting.cancel()
        if command.gateway is not None:
            command.gateway.close()
        command.transport.close()
        command.capture.close()
        self._running.discard(command)
        if not self._starting:
            self._reaper.reap_orphans(self._pids())

    def _pids(self) -> frozenset[int]:
        """Those that run now; a command that is being started counts as 0, so its processes are no orphans."""
        return frozenset([*(command.pid for command in self._running), *([0] if self._starting else [])])


def _start_error(argv: Sequence[str], error: OSError | ValueError) -> ToolError:
    program = argv[0] if argv else ""
    # A directory of the PATH that may not be read hides that no other one has the program.
    hidden = isinstance(error, PermissionError) and "/" not in program and shutil.which(program) is None
    if isinstance(error, FileNotFoundError) or hidden:
        return CommandMissing(
            f"{program} is not installed, or not on the PATH. Check the name, or use another program."
        )
    if isinstance(error, ValueError):
        return ToolError(f"Can't start {program!r}: {error}.", code="invalid_command")
    busy = error.errno in (errno.EAGAIN, errno.ETXTBSY, errno.EMFILE, errno.ENFILE, errno.ENOMEM)
    return ToolError(f"Can't start {program}: {error.strerror}.", code="not_started", transient=busy)
