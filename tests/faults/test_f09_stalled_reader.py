"""F9: a reader that takes nothing is let go, costs nothing, and loses nothing."""

import asyncio
import re
import socket
from pathlib import Path

import pytest

from tests.e2e.support import running_sidecar
from tests.faults.readers import close, open_stream, read_to_end, resident
from tests.waiting import SECONDS, until_true

TURNS = 60
TEXT = f"{'w' * 1_000} " * 200


@pytest.mark.timeout(120)
async def test_f09_a_stalled_reader_is_dropped_and_harms_no_one(tmp_path: Path) -> None:
    with running_sidecar(tmp_path, BRAIN_SLOW_READER_SECONDS="1") as sidecar, socket.socket() as stalled:
        # Another call each time: an agent that repeats itself is stopped.
        looks = [
            {"text": TEXT, "calls": [{"tool": "list_dir", "args": {"path": "./" * (1 + turn % 50)}}]}
            for turn in range(TURNS)
        ]
        models = sidecar.script("talk", [*looks, {"text": "done"}])
        # The same with a reader who keeps up: what the other one costs is the difference.
        before = 0
        for _ in range(3):
            warm = sidecar.execute("x", models=models, intent="chat", maxIterations=TURNS + 1)
            reader, writer, _ = await open_stream(sidecar, warm, receive_buffer=2**24)
            async with asyncio.timeout(SECONDS):
                await read_to_end(reader)
            await close(writer)
            before = max(before, resident(sidecar.pid))

        stalled.settimeout(60)
        stalled.connect(("127.0.0.1", sidecar.port))
        task_id = sidecar.execute("x", models=models, intent="chat", maxIterations=TURNS + 1)
        stalled.sendall(
            f"GET /api/brain/tasks/{task_id}/stream HTTP/1.1\r\nHost: 127.0.0.1:{sidecar.port}\r\n"
            f"Authorization: Bearer {sidecar.token}\r\n\r\n".encode()
        )
        reader, writer, status = await open_stream(sidecar, task_id, receive_buffer=2**24)
        assert status == 200
        async with asyncio.timeout(SECONDS):
            events = await read_to_end(reader)
        durable = [event["seq"] for event in events if "seq" in event]
        assert durable == list(range(1, durable[-1] + 1)), "another reader was affected"
        await close(writer)

        def dropped() -> bool:
            return sidecar.get("/api/brain/status").json["streams"] == 0

        await until_true(dropped)
        assert resident(sidecar.pid) - before < 20 * 1024 * 1024
        received = b""
        while chunk := stalled.recv(65_536):
            received += chunk
        ids = [int(number) for number in re.findall(rb"id: (\d+)\ndata: [^\n]*\n\n", received)]
        assert ids == list(range(1, len(ids) + 1))
        again, writer, _ = await open_stream(sidecar, task_id, after=ids[-1] if ids else 0, receive_buffer=2**24)
        rest = [event["seq"] for event in await read_to_end(again) if "seq" in event]
        assert ids + rest == durable, "what it had not read could not be had again"
        await close(writer)
