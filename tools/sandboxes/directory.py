"""A directory of this machine as a sandbox, in the tier that works here: commands run on a copy of the workspace."""

import asyncio
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from sidecar.config.paths import closed_after
from tools.local.confinement import CommandLimits, Confinement
from tools.local.processes import Processes
from tools.local.root import WorkspaceRoot
from tools.local.sandbox.probe import Sandboxes
from tools.local.temporary import make_directory
from tools.sandboxes.port import (
    NO_NETWORK,
    NetworkAccess,
    SandboxError,
    SandboxOutput,
    SandboxSession,
    SandboxSpec,
    too_long,
)

_NO_LIMIT = 86_400.0


class Directories:
    tier = "copy"

    def __init__(self, processes: Processes, sandboxes: Sandboxes, private: Sequence[str]) -> None:
        self._processes = processes
        self._sandboxes = sandboxes
        self._private = private

    async def open(self, spec: SandboxSpec) -> SandboxSession:
        if problem := await self.check(spec):
            raise SandboxError(problem)
        return _Directory(self._processes, self._sandboxes, self._private)

    async def check(self, spec: SandboxSpec) -> str:
        return "" if await self._sandboxes.find() else self._sandboxes.description

    async def sweep(self, spec: SandboxSpec) -> Sequence[str]:
        return []  # its processes and directories are ours, and swept with them

    async def close(self) -> None:
        pass


class _Directory:
    def __init__(self, processes: Processes, sandboxes: Sandboxes, private: Sequence[str]) -> None:
        self._place = make_directory("copy", self)
        self.name = f"the copy {self._place}"
        self.workspace = f"{self._place}/workspace"
        self.exchange = f"{self._place}/exchange"
        for place in (self.workspace, self.exchange):
            Path(place).mkdir()
        self._root = WorkspaceRoot(self.workspace)
        self._processes = processes
        self._sandboxes = sandboxes
        self._private = private
        self._runs = 0

    async def run(
        self,
        argv: Sequence[str],
        *,
        cwd: str = ".",
        environment: Mapping[str, str],
        output: SandboxOutput,
        network: NetworkAccess = NO_NETWORK,
    ) -> int:
        confinement = Confinement(
            await self._sandboxes.find(),
            CommandLimits(),
            self.workspace,
            network.anywhere,
            self._private,
            writable=(self.exchange,),
            hosts=network.hosts,
        )
        self._runs += 1
        with closed_after(self._root.open(cwd, os.O_RDONLY | os.O_DIRECTORY)) as handle:
            done = await self._processes.run(
                argv,
                call_id=f"{self._place}-{self._runs}",
                cwd=handle,
                timeout=_NO_LIMIT,
                output=lambda stream, text: output(1 if stream == "stdout" else 2, text.encode()),
                environment=environment,
                log=False,
                confinement=confinement,
            )
        return -1 if done.exit_code is None else done.exit_code

    async def write(self, name: str, content: bytes) -> None:
        def write() -> None:
            # The command may have put a link there.
            Path(f"{self.exchange}/{name}").unlink(missing_ok=True)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            with os.fdopen(os.open(f"{self.exchange}/{name}", flags, 0o600), "wb") as file:
                file.write(content)

        await asyncio.to_thread(write)

    async def read(self, name: str, limit: int) -> bytes:
        def read() -> bytes:
            handle = os.open(f"{self.exchange}/{name}", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            with os.fdopen(handle, "rb") as file:
                return file.read(limit + 1)

        try:
            content = await asyncio.to_thread(read)
        except OSError as error:
            raise SandboxError(f"The sandbox has no file {name}: {error.strerror}.") from error
        if len(content) > limit:
            raise too_long(limit)
        return content

    async def close(self) -> None:
        await asyncio.to_thread(shutil.rmtree, self._place, ignore_errors=True)
