"""One task of a session while an editor watches it."""

import asyncio
import threading
from collections.abc import Iterator
from typing import Any, cast

from sidecar.acp.peer import EditorConnection
from sidecar.acp.run import Run
from sidecar.client.service import BrainService, TaskHandle


class OpenStream:
    """A sidecar whose stream stays open for a while after the task's last event."""

    def __init__(self) -> None:
        self.closing = threading.Event()

    def stream(self, task_id: str, after: int = 0) -> Iterator[dict[str, Any]]:
        yield {"type": "status", "status": "completed", "seq": 1, "taskId": task_id}
        self.closing.wait(10)


class Discard:
    def write(self, data: bytes) -> None: ...

    async def drain(self) -> None: ...


async def test_a_task_that_ended_takes_no_more_prompts_though_its_stream_is_still_open() -> None:
    sidecar = OpenStream()
    service = cast("BrainService", sidecar)
    editor = EditorConnection(asyncio.StreamReader(), Discard())
    run = Run("c_1", "/w", service, TaskHandle(service, "t_1"), editor, elicits=False)
    try:
        assert await asyncio.wait_for(run.stop, 5) == "end_turn"
        assert not run.active
    finally:
        sidecar.closing.set()
        await asyncio.wait(asyncio.all_tasks() - {asyncio.current_task()}, timeout=5)
