"""Waiting for what announces itself nowhere: a file that another program writes, a process that has gone."""

import asyncio
from collections.abc import Callable

SECONDS = 5.0
_PAUSE = 0.005


async def until_true(holds: Callable[[], object], seconds: float = SECONDS) -> None:
    async with asyncio.timeout(seconds):
        while not holds():
            await asyncio.sleep(_PAUSE)
