"""S38: what a peer begins and never ends costs little memory, ends by a deadline, and keeps nobody else out."""

import asyncio
import resource
import socket
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.e2e.bridge import raw_shell
from tests.e2e.support import RunningSidecar, running_sidecar
from tests.faults.readers import close, open_stream, read_to_end, resident
from tests.waiting import until_true

MEGABYTE = 1024 * 1024
#: The deadlines are 10 s and 30 s; the rest is for a busy machine.
LATE = 60.0

Peer = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@asynccontextmanager
async def peers(sidecar: RunningSidecar, count: int) -> AsyncIterator[list[Peer]]:
    opened = [await asyncio.open_connection("127.0.0.1", sidecar.port) for _ in range(count)]
    try:
        yield opened
    finally:
        for _, writer in opened:
            await close(writer)


def head(sidecar: RunningSidecar, line: str, *more: str, token: bool = False) -> bytes:
    lines = [f"{line} HTTP/1.1", f"Host: 127.0.0.1:{sidecar.port}", *more]
    lines += [f"Authorization: Bearer {sidecar.token}"] if token else []
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


async def ended(peer: Peer) -> bytes:
    """What the sidecar answered before it closed the connection."""
    received = b""
    try:
        async with asyncio.timeout(LATE):
            while data := await peer[0].read(65_536):
                received += data
    except (ConnectionResetError, BrokenPipeError):
        pass
    return received


async def drip(peer: Peer, data: bytes) -> None:
    """A byte at a time, for as long as the sidecar listens."""
    try:
        while True:
            for byte in data:
                peer[1].write(bytes([byte]))
                await peer[1].drain()
                await asyncio.sleep(0.2)
    except OSError:
        return


async def healthy(sidecar: RunningSidecar) -> None:
    answer = await asyncio.to_thread(sidecar.get, "/health", authenticated=False, timeout=LATE)
    assert answer.status == 200
    answer = await asyncio.to_thread(sidecar.get, "/api/brain/status", timeout=LATE)
    assert answer.status == 200


@pytest.mark.timeout(180)
async def test_s38_what_never_ends_is_closed_by_a_deadline(tmp_path: Path) -> None:
    """Slow headers, headers that stop, silence, empty lines, bodies that stop, with and without the token."""
    with running_sidecar(tmp_path) as sidecar:
        begun = head(sidecar, "POST /api/brain/session", "Content-Type: application/json", "Content-Length: 9000")
        known = head(
            sidecar, "POST /api/brain/execute", "Content-Type: application/json", "Content-Length: 9000", token=True
        )
        chunked = head(
            sidecar, "POST /api/brain/session", "Content-Type: application/json", "Transfer-Encoding: chunked"
        )
        first: list[bytes] = [
            b"",
            b"\r\n",
            b"GET / HTTP/1.1\r\n",
            b"GET /" + b"a" * 5_000,
            head(sidecar, "GET /health")[:-2],
            begun + b'{"code',
            known + b'{"task',
            chunked + b'5\r\n{"cod\r\n',
            head(sidecar, "POST /api/brain/execute", "Content-Type: application/json", "Content-Length: 9000"),
            head(sidecar, "GET /health", "Content-Length: 50") + b"x",
        ]
        slow: list[tuple[bytes, bytes]] = [
            (b"GET /health HTTP/1.1\r\n", b"X-A: b\r\n"),
            (b"", b"\r\n"),
            (begun, b" "),
            (known, b" "),
            (chunked, b"1\r\n \r\n"),
            (head(sidecar, "GET /health"), b"\r\n"),
        ]
        async with peers(sidecar, len(first) + len(slow)) as opened:
            began = time.monotonic()
            for peer, data in zip(opened, [*first, *(data for data, _ in slow)], strict=True):
                peer[1].write(data)
            dripping = [
                asyncio.create_task(drip(peer, rest))
                for peer, (_, rest) in zip(opened[len(first) :], slow, strict=True)
            ]
            await healthy(sidecar)
            answers = await asyncio.gather(*(ended(peer) for peer in opened))
            assert time.monotonic() - began < LATE
            for task in dripping:
                task.cancel()
            await asyncio.gather(*dripping, return_exceptions=True)
        assert answers[5].startswith(b"HTTP/1.1 408 ")
        assert answers[6].startswith(b"HTTP/1.1 408 ")
        assert answers[8].startswith(b"HTTP/1.1 401 ")
        await healthy(sidecar)


@pytest.mark.timeout(120)
@pytest.mark.parametrize("token", [False, True])
@pytest.mark.parametrize("path", ["/api/brain/session", "/api/brain/execute", "/api/brain/tools/batch", "/health"])
async def test_s38_a_hundred_unfinished_bodies_hold_little_memory(tmp_path: Path, path: str, token: bool) -> None:
    with running_sidecar(tmp_path) as sidecar:
        await healthy(sidecar)
        before = resident(sidecar.pid)
        media = "Content-Type: application/json"
        async with peers(sidecar, 100) as opened:

            async def send(peer: Peer, more: str, piece: bytes) -> None:
                try:
                    peer[1].write(head(sidecar, f"POST {path}", media, more, token=token))
                    for _ in range(30):
                        peer[1].write(piece)
                        await asyncio.wait_for(peer[1].drain(), 5)
                except (OSError, TimeoutError):
                    return  # refused, or not read any more

            length, block = f"Content-Length: {8 * MEGABYTE}", b" " * 262_144
            chunk = b"40000\r\n" + block + b"\r\n"
            sends = [
                send(peer, length, block) if number % 2 else send(peer, "Transfer-Encoding: chunked", chunk)
                for number, peer in enumerate(opened)
            ]
            await asyncio.gather(*sends)
            grown = resident(sidecar.pid) - before
            await healthy(sidecar)
            started = await asyncio.to_thread(
                sidecar.post, "/api/brain/route", {"task": "list the files"}, timeout=LATE
            )
            assert started.status == 200, "a small request is served meanwhile"
        assert grown < 120 * MEGABYTE, f"{grown / MEGABYTE:.0f} MB are held"


@pytest.mark.timeout(120)
async def test_s38_headers_have_at_most_64_kib(tmp_path: Path) -> None:
    with running_sidecar(tmp_path) as sidecar:
        fits = head(sidecar, "GET /health", "X-Long: " + "a" * 60_000)
        host = f"Host: 127.0.0.1:{sidecar.port}\r\n"
        tiny = head(sidecar, "GET /health")
        floods = [
            head(sidecar, "GET /health", "X-Long: " + "a" * 66_000),
            head(sidecar, "GET /health?" + "a" * 66_000),
            head(sidecar, "GET /health", *(f"X-{number}: a" for number in range(8_000))),
            f"GET /health HTTP/1.1\r\n{host}X-Long: {'a' * 70_000}".encode(),
            f"GET /{'a' * 70_000}".encode(),
            f"GET /health HTTP/1.1\r\n{host}{'a' * 70_000}".encode(),
            tiny + f"GET /health HTTP/1.1\r\nX-Long: {'a' * 70_000}".encode(),
        ]
        async with peers(sidecar, 1 + len(floods)) as opened:
            opened[0][1].write(fits)
            assert (await opened[0][0].readline()).startswith(b"HTTP/1.1 200 ")
            for (_, writer), data in zip(opened[1:], floods, strict=True):
                writer.write(data)
            answers = await asyncio.gather(*(ended(peer) for peer in opened[1:]))
        # A peer that still sends when the sidecar closes may lose the answer.
        assert b"HTTP/1.1 431 " in {answer[:13] for answer in answers}
        for answer in answers[:-1]:
            assert answer[:13] in (b"HTTP/1.1 431 ", b"")
        assert answers[-1].count(b"HTTP/1.1 200 ") <= 1


@pytest.mark.timeout(120)
async def test_s38_trailers_and_endless_pipelines_are_refused(tmp_path: Path) -> None:
    with running_sidecar(tmp_path) as sidecar:
        media = ("Content-Type: application/json", "Transfer-Encoding: chunked")
        trailing = head(sidecar, "POST /api/brain/session", *media) + b"0\r\n" + b"X-A: b\r\n" * 4_000
        before = resident(sidecar.pid)
        async with peers(sidecar, 50) as opened:
            for number, (_, writer) in enumerate(opened):
                writer.write(trailing if number % 2 else head(sidecar, "GET /health") * 5_000)
            await asyncio.gather(*(ended(peer) for peer in opened))
        assert resident(sidecar.pid) - before < 40 * MEGABYTE
        await healthy(sidecar)


@pytest.mark.timeout(120)
async def test_s38_peers_that_never_read_are_closed(tmp_path: Path) -> None:
    with running_sidecar(tmp_path) as sidecar:
        asked = head(sidecar, "GET /openapi.json") * 60
        before = resident(sidecar.pid)
        opened = []
        for _ in range(100):
            stuck = socket.socket()
            stuck.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
            stuck.connect(("127.0.0.1", sidecar.port))
            stuck.sendall(asked)
            opened.append(stuck)
        await healthy(sidecar)
        assert resident(sidecar.pid) - before < 60 * MEGABYTE
        await until_true(lambda: _connections(sidecar) <= 2, LATE)
        for stuck in opened:
            stuck.close()


@pytest.mark.timeout(120)
async def test_s38_a_flood_of_connections_keeps_no_one_out(tmp_path: Path) -> None:
    _allow_many_files()
    with running_sidecar(tmp_path) as sidecar:
        before = resident(sidecar.pid)
        async with peers(sidecar, 700) as begun:
            for _, peer in begun:
                peer.write(b"GET /")
            await until_true(lambda: _connections(sidecar) <= 513, LATE)
            await healthy(sidecar)
            async with peers(sidecar, 2_200):
                await healthy(sidecar)
                assert _connections(sidecar) <= 2_600
                assert resident(sidecar.pid) - before < 60 * MEGABYTE


async def test_s38_a_thousand_connections_at_once_are_all_answered(tmp_path: Path) -> None:
    _allow_many_files()
    with running_sidecar(tmp_path) as sidecar:
        asked = head(sidecar, "GET /api/brain/agents", "Connection: close", token=True)
        async with peers(sidecar, 1_000) as opened:
            for _, writer in opened:
                writer.write(asked)
            answers = await asyncio.gather(*(ended(peer) for peer in opened))
        assert {answer[:13] for answer in answers} == {b"HTTP/1.1 200 "}


@pytest.mark.timeout(180)
async def test_s38_streams_and_the_bridge_outlive_the_deadlines_and_the_flood(tmp_path: Path) -> None:
    with running_sidecar(tmp_path) as sidecar:
        models = sidecar.script("slow", [{"text": "done", "delayMs": 33_000}])
        task_id = sidecar.execute("x", models=models, intent="chat")
        reader, writer, status = await open_stream(sidecar, task_id)
        assert status == 200
        with raw_shell(sidecar) as shell:
            shell.hello("read_file")
            async with peers(sidecar, 600) as flood:
                for _, peer in flood:
                    peer.write(b"GET /health HTTP/1.1\r\nX-A:")
                await asyncio.gather(*(ended(peer) for peer in flood))
            assert len(sidecar.get("/api/brain/status").json["shells"]) == 1
            async with asyncio.timeout(90):
                events = await read_to_end(reader)
            assert events[-1]["status"] == "completed"
        await close(writer)


def _allow_many_files() -> None:
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(8_192, most), most))


def _connections(sidecar: RunningSidecar) -> int:
    """Connections that the sidecar holds, as the kernel lists them."""
    here = f"0100007F:{sidecar.port:04X}"
    rows = (line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:])
    return sum(row[1] == here and row[3] == "01" for row in rows)
