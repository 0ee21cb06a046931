"""A small HTTP server that plays what it is given: whole answers, streams in any slices, pauses, cuts and resets.

It runs in a thread of its own, so that the process under test may also be another one.
"""

import asyncio
import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.waiting import SECONDS

Json = dict[str, Any]
#: Where a model is asked; whatever else is called has an answer of its own, or does not exist.
MODEL_CALLS = ("/messages", "/chat/completions", ":streamGenerateContent?alt=sse")


@dataclass(frozen=True)
class Seen:
    """A request as it came in, when its last byte did, and by which connection."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    at: float
    connection: int = 0

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Answer:
    """One answer. `slices` are sent one by one; `cut` ends it after so many bytes, `reset` without a goodbye."""

    slices: Sequence[bytes] = ()
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    content_type: str = "text/event-stream"
    cut: int | None = None
    reset: bool = False
    #: Without chunks the end of the stream is the end of the connection, and a cut looks like an end.
    chunked: bool = True
    #: Between the slices.
    pause: float = 0.0
    #: The last slice comes again and again.
    endless: bool = False
    #: Accepted, and never answered.
    silent: bool = False


class Server:
    """Plays its answers in turn, the last one for ever; keeps what it was asked."""

    def __init__(self) -> None:
        self.seen: list[Seen] = []
        self.answers: list[Answer] = []
        #: How often somebody came in, and how many are there now.
        self.connections = 0
        self.connected = 0
        #: Routes with an answer of their own, such as a list of models.
        self.fixed: dict[tuple[str, str], Answer] = {}
        self.on_request: Callable[[Seen], None] = lambda seen: None
        self.on_gone: Callable[[], None] = lambda: None
        self.on_last_byte: Callable[[float], None] = lambda at: None
        self.port = 0
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        #: Kept here: a task that waits for what nobody else holds is collected as garbage.
        self._never = asyncio.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def plays(self, *answers: Answer) -> None:
        self.answers = list(answers)

    def start(self) -> "Server":
        self._thread.start()
        assert self._ready.wait(SECONDS)
        return self

    def stop(self) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(SECONDS)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(asyncio.start_server(self._connection, "127.0.0.1", 0, limit=2**24))
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        self._loop.run_forever()
        server.close()
        tasks = asyncio.all_tasks(self._loop)
        for task in tasks:
            task.cancel()
        self._loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        self._loop.close()

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.connected += 1
        try:
            number = self.connections
            while await self._exchange(number, reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self.connected -= 1
            writer.close()
            self.on_gone()

    async def _exchange(self, number: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        first, *lines = head.split("\r\n")
        method, path, _ = first.split(" ")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        seen = Seen(method, path, headers, body, asyncio.get_running_loop().time(), number)
        fixed = self.fixed.get((method, path))
        if fixed is None and not path.endswith(MODEL_CALLS):
            fixed = failing(404, {"error": {"message": f"no route {path}"}})
        if fixed is None:
            self.seen.append(seen)
            self.on_request(seen)
            answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        else:
            answer = fixed
        return await self._play(answer, writer)

    async def _play(self, answer: Answer, writer: asyncio.StreamWriter) -> bool:
        if answer.silent:
            await self._never.wait()
        headers = {"content-type": answer.content_type, **answer.headers}
        headers |= {"transfer-encoding": "chunked"} if answer.chunked else {"connection": "close"}
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        writer.write(f"HTTP/1.1 {answer.status} X\r\n{lines}\r\n".encode())
        left = answer.cut
        for piece in _played(answer):
            sent = piece if left is None else piece[:left]
            if sent:
                writer.write(b"%x\r\n%s\r\n" % (len(sent), sent) if answer.chunked else sent)
                await writer.drain()
            if left is not None:
                left -= len(sent)
                if left == 0:
                    if answer.reset:
                        writer.transport.abort()
                    return False
            if answer.pause:
                await asyncio.sleep(answer.pause)
        if answer.chunked:
            writer.write(b"0\r\n\r\n")
        await writer.drain()
        self.on_last_byte(asyncio.get_running_loop().time())
        return answer.chunked


def _played(answer: Answer) -> Iterator[bytes]:
    yield from answer.slices
    while answer.endless:
        yield answer.slices[-1]


def sliced(text: bytes, size: int) -> list[bytes]:
    """In slices that respect neither lines nor characters."""
    return [text[start : start + size] for start in range(0, len(text), size)]


def failing(status: int, body: object, **headers: str) -> Answer:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer([json.dumps(body).encode()], status, named, "application/json")


@contextmanager
def a_server() -> Iterator[Server]:
    server = Server().start()
    try:
        yield server
    finally:
        server.stop()
