"""Bounded waits. The bound catches hangs, not slowness: a loaded machine takes many times longer than a quiet one."""

import asyncio
from collections.abc import Callable

SECONDS = 60.0
_PAUSE = 0.005


async def until_true(holds: Callable[[], object], seconds: float = SECONDS) -> None:
    """Waits for something that announces itself nowhere: a file that another program writes, a process that ends."""
    async with asyncio.timeout(seconds):
        while not holds():
            await asyncio.sleep(_PAUSE)
