"""One timer for many limits does what a timer for each would do."""

import asyncio

import pytest

from tests.waiting import SECONDS, loop_turns
from tools.executor.invocation import Deadlines


async def _forever() -> None:
    await asyncio.get_running_loop().create_future()


async def test_what_takes_too_long_is_ended_and_the_rest_goes_on() -> None:
    deadlines = Deadlines()
    over = asyncio.Event()

    async def long() -> str:
        await over.wait()
        return "done"

    patient = asyncio.create_task(deadlines.within(60, long()))
    await loop_turns()
    with pytest.raises(TimeoutError):
        await deadlines.within(0.01, _forever())
    with pytest.raises(TimeoutError):
        await deadlines.within(0.01, _forever())
    over.set()
    assert await patient == "done"
    current = asyncio.current_task()
    assert current is not None and current.cancelling() == 0


async def test_several_end_at_their_own_times() -> None:
    deadlines = Deadlines()
    ended: list[float] = []

    async def ends(seconds: float) -> None:
        with pytest.raises(TimeoutError):
            await deadlines.within(seconds, _forever())
        ended.append(seconds)

    async with asyncio.timeout(SECONDS):
        await asyncio.gather(*(ends(seconds) for seconds in (0.06, 0.02, 0.04)))
    assert ended == [0.02, 0.04, 0.06]


async def test_what_ends_in_time_is_forgotten() -> None:
    deadlines = Deadlines()

    async def quick() -> int:
        return 1

    assert [await deadlines.within(0.01, quick()) for _ in range(3)] == [1, 1, 1]
    with pytest.raises(TimeoutError):
        await deadlines.within(0.02, _forever())
    assert not deadlines._limits and deadlines._timer is None


async def test_who_is_cancelled_by_somebody_else_stays_cancelled() -> None:
    deadlines = Deadlines()
    task = asyncio.create_task(deadlines.within(60, _forever()))
    await loop_turns()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_who_is_cancelled_while_time_runs_out_stays_cancelled() -> None:
    deadlines = Deadlines()

    async def stubborn() -> None:
        try:
            await _forever()
        except asyncio.CancelledError:
            task.cancel()
            raise

    task = asyncio.create_task(deadlines.within(0.01, stubborn()))
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_limit_inside_a_limit() -> None:
    deadlines = Deadlines()

    async def outer() -> str:
        with pytest.raises(TimeoutError):
            await deadlines.within(0.01, _forever())
        return "went on"

    assert await deadlines.within(60, outer()) == "went on"


async def test_its_own_errors_come_through() -> None:
    async def fails() -> None:
        raise ValueError("mine")

    with pytest.raises(ValueError, match="mine"):
        await Deadlines().within(1, fails())
