"""A task's events as an asynchronous iterator. A thread reads them, because the client library blocks."""

import asyncio
import threading
from collections.abc import AsyncIterator
from concurrent.futures import CancelledError
from contextlib import suppress
from typing import Any

from sidecar.client.errors import ClientError
from sidecar.client.service import BrainService

#: Events that wait for a slow editor; then the thread waits.
_WAITING = 256

Json = dict[str, Any]


async def events(service: BrainService, task_id: str, after: int = 0) -> AsyncIterator[Json]:
    """Every event once and in order, until the task ends; raises `ClientError` if the sidecar is gone for good."""
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[Json | ClientError | None] = asyncio.Queue(_WAITING)
    left = threading.Event()

    def put(item: Json | ClientError | None) -> None:
        # The loop may have closed, or the reader left, while this thread waited for the sidecar.
        with suppress(RuntimeError, CancelledError):
            asyncio.run_coroutine_threadsafe(queue.put(item), loop).result()

    def read() -> None:
        try:
            for event in service.stream(task_id, after):
                if left.is_set():
                    return
                put(event)
            put(None)
        except ClientError as error:
            put(error)

    # A daemon: nobody waits for a stream at exit.
    threading.Thread(target=read, name=f"stream {task_id}", daemon=True).start()
    try:
        while (item := await queue.get()) is not None:
            if isinstance(item, ClientError):
                raise item
            yield item
    finally:
        left.set()
        while not queue.empty():  # the thread may wait for room
            queue.get_nowait()
