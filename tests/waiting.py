"""Bounded waits. The bound catches hangs, not slowness: a loaded machine takes many times longer than a quiet one."""

import asyncio
import inspect
import os
import threading
import time
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


def wait_until(holds: Callable[[], object], *, seconds: float = SECONDS, what: str = "it", pause: float = 0.01) -> None:
    """`until_true` for tests without an event loop."""
    end = time.monotonic() + seconds
    clock = threading.Event()
    while not holds():
        assert time.monotonic() < end, f"waited {seconds:g} s for {what}"
        clock.wait(pause)


async def loop_turns(count: int = 1) -> None:
    """Lets the loop run what is due: a task that was just made gets to where it waits."""
    for _ in range(count):
        await asyncio.sleep(0)
