"""The stdio transport: a server as a confined process, with messages of bounded size.

The SDK's own transport starts a process without a sandbox and keeps a line of any length.
"""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, Self

from tools.local.reaper import Reaper
from tools.local.sandbox.access import CommandLaunch
from tools.local.sandbox.spawn import popen
from tools.mcp.listing import clean
from tools.shield import run_to_completion

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams
    from mcp.shared.message import SessionMessage

#: Bytes of one message. What a model reads of a result is far less.
MAX_MESSAGE = 16 * 1024 * 1024
#: Messages in one second.
_MAX_RATE = 1_000
_KEPT_ERRORS = 4_000
_EXIT_SECONDS = 0.3
_PROBE = "server/discover"
#: A server that is idle for this long after the probe speaks an older protocol.
_PROBE_SECONDS = 0.6


class ServerProcess:
    """One started server. `last_heard` is when it last wrote something."""

    def __init__(self, launch: CommandLaunch, cwd: str, mark: str, reaper: Reaper, *, supervised: bool = False) -> None:
        self._launch = launch
        self._cwd = cwd
        self._mark = mark
        self._reaper = reaper
        self._supervised = supervised
        self._errors = bytearray()
        self._probes: set[asyncio.Task[None]] = set()
        #: The current second, and the messages in it.
        self._rate = (0, 0)
        self._process: subprocess.Popen[bytes] | None = None
        self.last_heard = time.monotonic()
        #: Why we closed the connection, if we did.
        self.closed_because = ""
        #: Its standard output is closed.
        self.ended = asyncio.Event()

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process is not None else None

    @property
    def error_output(self) -> str:
        """The end of what it wrote to standard error."""
        return clean(self._errors.decode("utf-8", "replace")).strip()[-1_000:]

    def processor_seconds(self) -> float:
        """Processor time of the server and its children; zero where that can't be found out."""
        if self._process is None or sys.platform != "linux":
            return 0.0
        ticks = 0
        for name in os.listdir("/proc"):  # noqa: PTH208
            if name.isdecimal():
                with suppress(OSError, ValueError, IndexError), open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123
                    fields = file.read().rpartition(b")")[2].split()
                    if int(fields[3]) == self._process.pid:
                        ticks += sum(map(int, fields[11:15]))
        return ticks / os.sysconf("SC_CLK_TCK")

    @asynccontextmanager
    async def streams(self) -> "AsyncGenerator[TransportStreams, None]":
        """The transport for the SDK's client: starts the process and ends it with everything it started."""
        process = self._process = popen(
            self._launch,
            None,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self._cwd,
            start_new_session=True,
        )
        tasks: list[asyncio.Task[None]] = []
        pipes: list[Any] = []
        try:
            reader, writer = await connect_pipes(process, pipes)
            tasks.append(asyncio.create_task(self._collect_errors(process, pipes), name="mcp-stderr"))
            yield MessageReader(self, reader), MessageWriter(self, writer, lambda each: self._watch_probe(each, reader))
        finally:
            await run_to_completion(self._end(tasks, pipes))

    def note_request(self) -> None:
        """Allow the server one more message: the answer."""
        self._rate = (self._rate[0], self._rate[1] - 1)

    def note_message(self) -> bool:
        """Count a message; false if the server sends too many."""
        self.last_heard = time.monotonic()
        second = int(self.last_heard)
        self._rate = (second, self._rate[1] + 1 if self._rate[0] == second else 1)
        if self._rate[1] > _MAX_RATE:
            self.closed_because = f"it sent more than {_MAX_RATE} messages in a second"
        return not self.closed_because

    def _watch_probe(self, request_id: Any, reader: asyncio.StreamReader) -> None:
        self._probes.add(asyncio.create_task(self._answer_probe(request_id, reader)))

    async def _answer_probe(self, request_id: Any, reader: asyncio.StreamReader) -> None:
        """An older server may ignore a method that it doesn't know; the client would wait for ten seconds.

        One that is still starting up uses the processor, and gets more time.
        """
        from mcp_types import METHOD_NOT_FOUND, ErrorData, JSONRPCError

        used, sent = -1.0, time.monotonic()
        while (now := await asyncio.to_thread(self.processor_seconds)) > used:
            used = now
            await asyncio.sleep(_PROBE_SECONDS)
        if self.last_heard > sent or self.ended.is_set():
            return
        error = ErrorData(code=METHOD_NOT_FOUND, message="no answer")
        answer = JSONRPCError(jsonrpc="2.0", id=request_id, error=error)
        reader.feed_data(b"\n" + answer.model_dump_json(by_alias=True).encode() + b"\n")

    async def _collect_errors(self, process: "subprocess.Popen[bytes]", pipes: list[Any]) -> None:
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(limit=65_536)
        pipe, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), process.stderr)
        pipes.append(pipe)
        while chunk := await reader.read(65_536):
            self._errors += chunk
            del self._errors[:-_KEPT_ERRORS]

    async def _end(self, tasks: list[asyncio.Task[None]], pipes: list[Any]) -> None:
        process = self._process
        assert process is not None
        for pipe in pipes:
            if isinstance(pipe, asyncio.WriteTransport):
                pipe.close()  # the protocol's own way to end a server
        if process.stdin is not None and not pipes:
            process.stdin.close()
        deadline = time.monotonic() + _EXIT_SECONDS
        # The process is reaped by polling: its pipes may outlive it in a child.
        while process.poll() is None and time.monotonic() < deadline:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        await self._reaper.end(process.pid, self._mark, frozenset(), supervised=self._supervised)
        process.poll()
        for task in (*tasks, *self._probes):
            task.cancel()
        await asyncio.gather(*tasks, *self._probes, return_exceptions=True)
        for pipe in pipes:
            pipe.close()


async def connect_pipes(
    process: "subprocess.Popen[bytes]", pipes: list[Any]
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Its output and its input; a message of more than `MAX_MESSAGE` bytes can't be read."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=MAX_MESSAGE)
    pipe, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), process.stdout)
    pipes.append(pipe)
    out, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, process.stdin)
    pipes.append(out)
    return reader, asyncio.StreamWriter(out, protocol, None, loop)


class _Stream:
    """What the SDK asks of both directions. It reads and writes the pipes itself: a task between costs every call."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """The process closes the pipes at its end."""


class MessageReader(_Stream):
    def __init__(self, process: ServerProcess, reader: asyncio.StreamReader) -> None:
        from mcp.shared.message import SessionMessage
        from mcp_types import jsonrpc_message_adapter

        self._process = process
        self._reader = reader
        self._wrap = SessionMessage
        self._validate = jsonrpc_message_adapter.validate_json

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> "SessionMessage | Exception":
        while (line := await self._line()) is not None:
            if line.strip():
                try:
                    return self._wrap(self._validate(line, by_name=False))
                except (ValueError, RecursionError) as error:
                    return ValueError(f"not a message: {str(error)[:200]}")
        self._process.ended.set()
        raise StopAsyncIteration

    async def receive(self) -> "SessionMessage | Exception":
        import anyio

        async for message in self:
            return message
        raise anyio.EndOfStream

    async def _line(self) -> bytes | None:
        """`None` once there are no more, or we don't want any more."""
        try:
            line = await self._reader.readuntil(b"\n")
        except asyncio.IncompleteReadError:
            return None
        except (asyncio.LimitOverrunError, OSError):
            self._process.closed_because = f"it sent a message of more than {MAX_MESSAGE // 2**20} MiB"
            return None
        return line if self._process.note_message() else None


class MessageWriter(_Stream):
    def __init__(self, process: ServerProcess, writer: asyncio.StreamWriter, probed: Callable[[Any], None]) -> None:
        self._process = process
        self._writer = writer
        self._probed = probed

    async def send(self, item: "SessionMessage", /) -> None:
        message = item.message
        self._process.note_request()
        self._writer.write(message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
        try:
            if self._writer.transport.is_closing() or self._writer.transport.get_write_buffer_size():
                await self._writer.drain()
        except OSError as error:
            import anyio

            raise anyio.BrokenResourceError from error
        if getattr(message, "method", "") == _PROBE:
            self._probed(getattr(message, "id", None))
