"""Bounded waits. The bound catches hangs, not slowness: a loaded machine takes many times longer than a quiet one."""

import asyncio
import inspect
import os
from collections.abc import Callable

SECONDS = 60.0
_PAUSE = 0.005


def busy_seconds() -> float:
    """`SECONDS`, and more the more processes wait for a processor now: for what happens hundreds of times in a row."""
    return SECONDS * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


async def until_true(holds: Callable[[], object], seconds: float = SECONDS) -> None:
    """Waits for something that announces itself nowhere: a file that another program writes, a process that ends.

    `holds` may be a coroutine function.
    """
    async with asyncio.timeout(seconds):
        while True:
            found = holds()
            if await found if inspect.isawaitable(found) else found:
                return
            await asyncio.sleep(_PAUSE)
