"""The process of an external agent: sandboxed, with messages of bounded size and number, and killed at the end."""

import asyncio
import os
import subprocess
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sidecar.acp.peer import EditorConnection
from sidecar.engine.errors import AgentError
from sidecar.work.roster import Agent
from tools.local.environment import command_environment, sidecar_mark
from tools.local.reaper import Reaper, process_table
from tools.local.sandbox.spawn import popen
from tools.mcp.entry import ServerEntry, ServerGrants
from tools.mcp.sandboxing import wrap
from tools.mcp.stdio import MAX_MESSAGE, connect_pipes
from tools.shield import run_to_completion

if TYPE_CHECKING:
    from tools.local.sandbox.probe import Sandboxes

#: Messages in one second.
MAX_RATE = 1_000
_KEPT_ERRORS = 2_000


class AgentConnection(EditorConnection):
    """`closed_because` says why we closed the connection, if we did."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        super().__init__(reader, writer)
        self.closed_because = ""
        self.heard = time.monotonic()
        self._second, self._count = 0, 0

    async def _read_line(self) -> bytes:
        try:
            line = await self._reader.readuntil(b"\n")
        except asyncio.IncompleteReadError as end:
            return end.partial
        except (asyncio.LimitOverrunError, OSError):
            self.closed_because = f"it sent a message of more than {MAX_MESSAGE >> 20} MiB"
            return b""
        self.heard = time.monotonic()
        self._count = self._count + 1 if int(self.heard) == self._second else 1
        self._second = int(self.heard)
        if self._count > MAX_RATE:
            self.closed_because = f"it sent more than {MAX_RATE} messages in a second"
            return b""
        return line


class AgentProcesses:
    """`private` are our own directories, which no agent sees."""

    def __init__(self, data_dir: Path, sandboxes: "Sandboxes", private: tuple[str, ...]) -> None:
        self._data_dir = data_dir
        self._sandboxes = sandboxes
        self._private = private

    @asynccontextmanager
    async def start(self, agent: Agent, call_id: str, workspace: str) -> AsyncIterator[AgentConnection]:
        """Raises `AgentError` if it can't start. At the end nothing of it runs any more."""
        sandbox = await self._sandboxes.find()
        if sandbox is None:
            message = f"No sandbox works on this machine, and the agent {agent.name} is not started without one."
            raise AgentError("no_sandbox", message, retry=False)
        scratch = self._data_dir / "agents" / agent.name
        await asyncio.to_thread(scratch.mkdir, parents=True, exist_ok=True, mode=0o700)
        home = os.environ.get("HOME", str(scratch))
        keys = {name: os.environ[name] for name in agent.keys if name in os.environ}
        environment = command_environment(call_id, sidecar_mark(self._data_dir), workspace, {"HOME": home, **keys})
        writes = (workspace, *map(os.path.expanduser, agent.writes))
        grants = ServerGrants(agent.network, tuple(map(os.path.expanduser, agent.reads)), writes)
        entry = ServerEntry(agent.name, True, "stdio", agent.command, cwd=workspace, grants=grants)
        pipes: list[Any] = []
        try:
            launch = wrap(entry, environment, workspace, str(scratch), sandbox, self._private)
            process = popen(
                launch,
                None,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=workspace,
                start_new_session=True,
            )
        except OSError as error:
            message = f"The agent {agent.name} could not be started: {error}. Nothing was changed."
            raise AgentError("agent_not_started", message, retry=False) from error
        errors = bytearray()
        tasks: list[asyncio.Task[None]] = []
        try:
            reader, writer = await connect_pipes(process, pipes)
            tasks.append(asyncio.create_task(_collect(process, pipes, errors)))
            yield AgentConnection(reader, writer)
        finally:
            reaper = Reaper(process_table(), sidecar_mark(self._data_dir))
            await run_to_completion(_end(process, reaper, call_id, tasks, pipes, supervised=sandbox.supervised))


async def _collect(process: "subprocess.Popen[bytes]", pipes: list[Any], errors: bytearray) -> None:
    """Its standard error must be read, or it would block."""
    reader = asyncio.StreamReader(limit=65_536)
    loop = asyncio.get_running_loop()
    pipe, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), process.stderr)
    pipes.append(pipe)
    while chunk := await reader.read(65_536):
        errors += chunk
        del errors[:-_KEPT_ERRORS]


async def _end(
    process: "subprocess.Popen[bytes]",
    reaper: Reaper,
    call_id: str,
    tasks: list[asyncio.Task[None]],
    pipes: list[Any],
    *,
    supervised: bool,
) -> None:
    await reaper.end(process.pid, call_id, frozenset(), supervised=supervised)
    process.poll()
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    for pipe in pipes:
        with suppress(OSError):
            pipe.close()
