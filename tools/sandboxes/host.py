"""The host whose commands run in a sandbox with a copy of the workspace. Files, searches and Git stay here."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary, WeakValueDictionary

from tools.errors import ToolError
from tools.host import EnoughOutput, Killed, ProcessKilled, ProcessOutput, ProcessResult, ScannedFile, Snapshot
from tools.local.backend import LocalBackend
from tools.local.environment import FIXED_VARIABLES, call_mark
from tools.local.host import LocalHost
from tools.local.output import OutputCapture
from tools.local.sandbox.probe import Sandboxes
from tools.local.snapshots import LocalSnapshot
from tools.sandboxes.copies import BroughtBack, WorkspaceCopy
from tools.sandboxes.directory import Directories
from tools.sandboxes.pool import SandboxPool, open_remote
from tools.sandboxes.port import NetworkAccess, Sandbox, SandboxError, load_spec
from tools.shield import run_to_completion

_KILLED = -9
_NAMED = 20
_MAX_BACKGROUND = 8
_END_SECONDS = 60.0


@dataclass(eq=False, slots=True)
class _Background:
    copy: WorkspaceCopy
    capture: OutputCapture
    began: float
    running: "asyncio.Task[int]"
    approved: bool
    ended: float | None = None
    code: int | None = None
    stopping: asyncio.Lock = field(default_factory=asyncio.Lock)
    ending: "asyncio.Task[None] | None" = None


class SandboxedHost(LocalHost):
    def __init__(self, pool: SandboxPool, *args: Any) -> None:
        super().__init__(*args)
        self._pool = pool
        #: By call, its snapshot; by snapshot, what came back from the sandbox.
        self._before: WeakValueDictionary[str, LocalSnapshot] = WeakValueDictionary()
        self._brought: WeakKeyDictionary[LocalSnapshot, set[str]] = WeakKeyDictionary()
        self._background: dict[str, _Background] = {}

    async def snapshot(self, call_id: str | None = None) -> Snapshot:
        """A scan: none of the command's processes is on this machine, where the kernel could tell its changes."""
        taken = await super().snapshot(None)
        if call_id is not None and isinstance(taken, LocalSnapshot):
            self._before[call_id] = taken
        return taken

    async def changes(self, before: Snapshot) -> Sequence[ScannedFile]:
        """What came back from the sandbox, and nothing that others wrote meanwhile."""
        found = await super().changes(before)
        brought = self._brought.get(before) if isinstance(before, LocalSnapshot) else None
        return found if brought is None else [each._replace(doubt="") for each in found if each.path in brought]

    async def run(
        self,
        argv: Sequence[str],
        *,
        call_id: str,
        cwd: str = ".",
        timeout: float,
        output: ProcessOutput,
        environment: Mapping[str, str] | None = None,
        killed: ProcessKilled | None = None,
        log: bool = True,
    ) -> ProcessResult:
        if self._confinement is None:
            return await super().run(
                argv,
                call_id=call_id,
                cwd=cwd,
                timeout=timeout,
                output=output,
                environment=environment,
                killed=killed,
                log=log,
            )
        self._note(call_id, BroughtBack())
        capture = OutputCapture(self._outputs if log else None, call_mark(call_id), output)
        began, name = time.monotonic(), ""
        code: int | None = None
        ended: tuple[Killed, ...] = ()
        try:
            async with asyncio.timeout(timeout), self._pool.use(self.root, self._network()) as copy:
                name = copy.session.name
                await copy.send()
                code = await copy.session.run(
                    _in_shell(argv),
                    cwd=self.root.relative(cwd),
                    environment=self._variables(environment),
                    output=capture.feed,
                    network=self._network(),
                )
                await self._bring_back(copy, call_id, capture)
        except TimeoutError:
            ended = _ended(name, killed)
            capture.feed(2, b"\n[what it changed stayed in the sandbox, which was removed]\n")
        except EnoughOutput:
            code = _KILLED
        except asyncio.CancelledError:
            _ended(name, killed)
            raise
        finally:
            capture.close()
        timed_out = bool(ended) or code is None
        taken = (time.monotonic() - began) * 1000
        return ProcessResult(code, capture.text(), timed_out, taken, ended, capture.log)

    async def start(
        self, argv: Sequence[str], *, call_id: str, cwd: str = ".", environment: Mapping[str, str] | None = None
    ) -> None:
        if self._confinement is None:
            return await super().start(argv, call_id=call_id, cwd=cwd, environment=environment)
        if sum(each.ended is None for each in self._background.values()) >= _MAX_BACKGROUND:
            message = f"{_MAX_BACKGROUND} sandboxes already run commands in the background."
            raise ToolError(message, advice="Stop one with stop_command first.", code="too_many_commands")
        self._note(call_id, BroughtBack())
        copy = await self._pool.fresh(self.root, self._network())
        capture = OutputCapture(self._outputs, call_mark(call_id), None)
        running = asyncio.create_task(
            copy.session.run(
                _in_shell(argv),
                cwd=self.root.relative(cwd),
                environment=self._variables(environment),
                output=capture.feed,
                network=self._network(),
            ),
            name="sandbox-command",
        )
        started = _Background(copy, capture, time.monotonic(), running, self._confinement.approved)
        self._background[call_id] = started
        started.ending = asyncio.create_task(self._end(call_id, started), name="sandbox-command-end")
        return None

    async def poll(self, command_id: str, wait: float = 0) -> ProcessResult:
        command = self._background.get(command_id)
        if command is None:
            return await super().poll(command_id, wait)
        if wait and command.ending is not None:
            await asyncio.wait([command.ending], timeout=wait)
        return _result(command)

    async def stop(self, command_id: str) -> ProcessResult:
        command = self._background.get(command_id)
        if command is None:
            return await super().stop(command_id)
        await run_to_completion(self._finish(command_id, command))
        return _result(command)

    async def sweep(self, call_id: str) -> Sequence[Killed]:
        return [*await super().sweep(call_id), *(Killed(0, name) for name in await self._pool.sweep())]

    async def end_background(self) -> None:
        for call_id, command in self._background.items():
            await run_to_completion(self._finish(call_id, command))

    async def _end(self, call_id: str, command: _Background) -> None:
        await asyncio.wait([command.running])
        await self._finish(call_id, command)

    async def _finish(self, call_id: str, command: _Background) -> None:
        """Bring back what it changed, then remove its sandbox; once."""
        async with command.stopping:
            if command.ended is not None:
                return
            done = command.running.done() and not command.running.cancelled()
            with suppress(SandboxError, TimeoutError):
                async with asyncio.timeout(_END_SECONDS):
                    if done and command.running.exception() is None:
                        command.code = command.running.result()
                    await self._bring_back(command.copy, call_id, command.capture, approved=command.approved)
            command.running.cancel()
            await command.copy.session.close()
            command.code = _KILLED if command.code is None else command.code
            command.ended = time.monotonic()
            command.capture.close()

    async def _bring_back(
        self, copy: WorkspaceCopy, call_id: str, capture: OutputCapture, *, approved: bool | None = None
    ) -> None:
        allowed = approved if approved is not None else self._confinement is not None and self._confinement.approved
        brought = await copy.bring_back(approved=allowed)
        self._note(call_id, brought)
        if brought.kept_there:
            shown = "; ".join(brought.kept_there[:_NAMED])
            more = len(brought.kept_there) - _NAMED
            capture.feed(2, f"\n[stayed in the sandbox: {shown}{f' and {more} more' if more > 0 else ''}]\n".encode())

    def _note(self, call_id: str, brought: BroughtBack) -> None:
        if (before := self._before.get(call_id)) is not None:
            self._brought.setdefault(before, set()).update(brought.paths)

    def _network(self) -> NetworkAccess:
        assert self._confinement is not None
        return NetworkAccess(self._confinement.hosts, self._confinement.approved)

    def _variables(self, given: Mapping[str, str] | None) -> dict[str, str]:
        return {**FIXED_VARIABLES, **self._pool.spec.environment, **(given or {})}


class SandboxedBackend(LocalBackend):
    """The local backend, with commands in sandboxes of `kind`. `secret` finds a value by its variable's name."""

    def __init__(
        self, kind: str, directory: Path, mark: str, secret: Callable[[str], str | None], *args: Any, **more: Any
    ) -> None:
        super().__init__(*args, **more)
        if kind == "copy":
            private = [str(place.absolute()) for place in (self._data_dir, *self._private)]
            sandbox: Sandbox = Directories(self.processes, self._sandboxes or Sandboxes(), private)
        else:
            sandbox = open_remote(kind, mark, secret)
        self.pool = SandboxPool(sandbox, lambda: load_spec(directory))

    def _make_host(self, *args: Any) -> LocalHost:
        return SandboxedHost(self.pool, *args)

    async def close(self) -> None:
        for host in self._hosts.values():
            if isinstance(host, SandboxedHost):
                await host.end_background()
        await self.pool.close()
        await super().close()


def _in_shell(argv: Sequence[str]) -> list[str]:
    """A program that isn't there is then an exit code everywhere. One of this machine goes by its name there."""
    if tuple(argv[:2]) == ("/bin/sh", "-c"):
        return list(argv)
    own = argv[0].startswith("/") and not argv[0].startswith(("/bin/", "/usr/bin/"))
    return ["/bin/sh", "-c", 'exec "$@"', "sh", argv[0].rpartition("/")[2] if own else argv[0], *argv[1:]]


def _ended(name: str, killed: Callable[[int, str], None] | None) -> tuple[Killed, ...]:
    if name and killed is not None:
        killed(0, name)
    return (Killed(0, name),) if name else ()


def _result(command: _Background) -> ProcessResult:
    taken = ((command.ended or time.monotonic()) - command.began) * 1000
    running = command.ended is None
    shown, log = command.capture.text(), command.capture.log
    return ProcessResult(command.code, shown, False, taken, (), log, running, isolated=True)
