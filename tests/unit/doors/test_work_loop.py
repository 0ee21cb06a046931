"""The loop that works on a queue of the doors."""

import asyncio
from collections.abc import Sequence
from typing import NamedTuple

from sidecar.doors.work_loop import WorkLoop
from tests.waiting import SECONDS, loop_turns


class Item(NamedTuple):
    id: int


class EmptyQueue:
    async def due(self, limit: int) -> Sequence[Item]:
        return []

    async def next_at(self) -> float | None:
        return None


async def test_a_cancel_in_the_moment_of_a_wake_ends_the_loop() -> None:
    async def act(item: Item) -> None:
        raise AssertionError("nothing is due")

    loop = WorkLoop(EmptyQueue(), act)
    running = asyncio.create_task(loop.run())
    await loop_turns(5)  # until it waits
    loop.wake()
    await loop_turns()  # what it waits for has happened, and it hasn't gone on yet
    running.cancel()
    done, _ = await asyncio.wait([running], timeout=SECONDS)
    assert running in done
