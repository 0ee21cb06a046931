"""Many readers of event streams at once, from one process, without a library in between."""

import asyncio
import json
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.e2e.support import RunningSidecar

Json = dict[str, Any]


async def open_stream(
    sidecar: RunningSidecar, task_id: str, after: int = 0, *, receive_buffer: int | None = None
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter, int]:
    """A stream whose head has been read, and the status of the answer."""
    limit = {} if receive_buffer is None else {"limit": receive_buffer}
    reader, writer = await asyncio.open_connection("127.0.0.1", sidecar.port, **limit)
    writer.write(
        f"GET /api/brain/tasks/{task_id}/stream HTTP/1.1\r\nHost: 127.0.0.1:{sidecar.port}\r\n"
        f"Authorization: Bearer {sidecar.token}\r\nLast-Event-ID: {after}\r\n\r\n".encode()
    )
    head = await reader.readuntil(b"\r\n\r\n")
    return reader, writer, int(head.split()[1])


async def read_to_end(reader: asyncio.StreamReader) -> list[Json]:
    events = []
    while line := await reader.readline():
        if line.startswith(b"data: "):
            events.append(json.loads(line[6:]))
        elif line == b"0\r\n":
            break
    return events


async def close(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with suppress(ConnectionError):
        await writer.wait_closed()


def resident(pid: int) -> int:
    found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    assert found
    return int(found[1]) * 1024
