"""A reply is heard to its end; what somebody has read of one that has none is not lost."""

import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest

from sidecar.models.errors import Failure
from sidecar.models.port import Delta, Reply, Stop
from sidecar.work.replies import collect
from tests.waiting import SECONDS

FAILED = Reply(stop=Stop.FAILED, failure=Failure(code="too_long", message="It went on and on."))


async def saying(parts: Sequence[Delta | Reply]) -> AsyncIterator[Delta | Reply]:
    for part in parts:
        yield part


@pytest.mark.parametrize(
    ("parts", "left"),
    [
        ([Delta("half "), Delta("a word"), FAILED], ["half a word"]),
        ([Delta("Hm.", "thinking"), Delta("half"), FAILED], ["half"]),
        ([Delta("half"), Delta("", anew=True), Delta("again"), FAILED], ["again"]),
        ([Delta("half")], ["half"]),
        ([Delta("all"), Reply(text="all", stop=Stop.END)], []),
        ([Delta("no"), FAILED.model_copy(update={"text": "no"})], []),
    ],
)
async def test_the_words_of_a_reply_that_failed_are_left(parts: Sequence[Delta | Reply], left: list[str]) -> None:
    cut: list[str] = []
    await collect(saying(parts), lambda delta: None, cut.append)
    assert cut == left


async def test_the_words_of_a_reply_that_no_one_waits_for_are_left() -> None:
    cut: list[str] = []
    shown = asyncio.Event()

    async def without_end() -> AsyncIterator[Delta | Reply]:
        yield Delta("half")
        await asyncio.Event().wait()

    listening = asyncio.create_task(collect(without_end(), lambda delta: shown.set(), cut.append))
    await asyncio.wait_for(shown.wait(), SECONDS)
    listening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await listening
    assert cut == ["half"]
