"""A process that another thread has started, shown to the event loop as it shows its own."""

import asyncio
import os
import subprocess
from functools import partial
from typing import IO, Any, cast


class StartedProcess(asyncio.SubprocessTransport):
    """Tells its protocol what is printed, when the process ends, and when both are over. Only Linux has the means."""

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

    def heard(self, number: int, data: bytes) -> None:
        self._protocol.pipe_data_received(number, data)

    def silent(self) -> None:
        self._open -= 1
        self._over()

    def _exited(self) -> None:
        if self._process.poll() is None:
            return
        self._loop.remove_reader(self._handle)
        os.close(self._handle)
        self._handle = -1
        self._protocol.process_exited()
        self._over()

    def _over(self) -> None:
        if self._handle < 0 and self._open == 0:
            self._protocol.connection_lost(None)


class _Pipe(asyncio.Protocol):
    def __init__(self, process: StartedProcess, number: int) -> None:
        self._process = process
        self._number = number

    def data_received(self, data: bytes) -> None:
        self._process.heard(self._number, data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._process.silent()
