"""What a provider streams is read the same, whatever the slices it comes in."""

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.models.sse import BATCH_SIZE, EventParser, StreamError, chunks
from tests.waiting import SECONDS, loop_turns


async def _pieces(*pieces: bytes) -> AsyncGenerator[bytes, None]:
    for piece in pieces:
        yield piece


async def _read(*pieces: bytes) -> list[Any]:
    return [chunk async for together in chunks(_pieces(*pieces)) for chunk in together]


@given(
    said=st.lists(st.dictionaries(st.text(), st.text() | st.integers(), max_size=3), max_size=6),
    cuts=st.lists(st.integers(0, 400), max_size=12),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
    named=st.booleans(),
    start=st.sampled_from(["", "\ufeff", "\ufeff\r\n\r\n", "\n"]),
)
def test_slices_do_not_matter(
    said: Sequence[dict[str, Any]], cuts: Sequence[int], end: str, named: bool, start: str
) -> None:
    name = f"event: message{end}" if named else ""
    stream = "".join(f"{name}data: {json.dumps(each, ensure_ascii=False)}{end}{end}: ping{end}{end}" for each in said)
    text = (start + stream).encode()
    places = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    events = EventParser()
    found = [event for start, stop in pairwise(places) for event in events.take(text[start:stop])]
    assert [json.loads(data) for _, data in found] == list(said)
    assert {name for name, _ in found} <= {b"message" if named else b""}


async def test_data_of_several_lines_is_one_chunk() -> None:
    assert await _read(b'data: {"a":\ndata:1}\n\n') == [{"a": 1}]


async def test_what_is_cut_off_is_no_chunk() -> None:
    assert await _read(b'data: {"a":1}\n\ndata: {"b"') == [{"a": 1}]
    assert await _read(b'data: {"a":1}\n\ndata: {"b":\n') == [{"a": 1}]
    assert await _read(b"data") == []


@pytest.mark.parametrize("end", [b"", b"\n", b"\r", b"\r\n", b"\n\r"])
async def test_what_lacks_only_its_empty_line_is_whole(end: bytes) -> None:
    assert await _read(b'data: {"a":1}' + end) == [{"a": 1}]


@pytest.mark.parametrize("body", [b'{"a":\n\n1}', b'[{"a":\n1}]\n', b'\xef\xbb\xbf {"a":1}'])
async def test_what_is_no_stream_is_one_chunk(body: bytes) -> None:
    assert await _read(*(body[place : place + 1] for place in range(len(body)))) == [{"a": 1}]


async def test_half_of_what_is_no_stream_cannot_be_read() -> None:
    with pytest.raises(ValueError, match="Expecting"):
        await _read(b'{"a":')


@pytest.mark.parametrize("nothing", [b"null", b"[]", b'"hello"', b"17", b"[null]"])
async def test_what_is_no_object_says_nothing(nothing: bytes) -> None:
    assert await _read(b"data: " + nothing + b'\n\ndata: {"a":1}\n\n') == [{"a": 1}]


async def test_a_sign_of_life_need_not_be_json() -> None:
    assert await _read(b'event: ping\ndata: pong\n\ndata: {"a":1}\n\n') == [{"a": 1}]


async def test_bytes_that_are_no_character_cost_only_themselves() -> None:
    assert await _read(b'data: {"a":"x\xffy"}\n\n') == [{"a": "x\ufffdy"}]


async def test_whoever_says_the_last_word_and_stays_is_not_waited_for() -> None:
    closed = asyncio.Event()

    async def pieces() -> AsyncGenerator[bytes, None]:
        try:
            yield b'data: {"a":1}\n\ndata: [DONE]\n\n'
            await asyncio.Event().wait()
        finally:
            closed.set()

    async with asyncio.timeout(SECONDS):
        assert [list(together) async for together in chunks(pieces())] == [[{"a": 1}]]
    assert closed.is_set()


@pytest.mark.parametrize("last", [b"data: [DONE]\n\n", b'event: message_stop\ndata: {"type": "message_stop"}\n\n'])
async def test_what_breaks_after_the_last_word_breaks_nothing(last: bytes) -> None:
    async def pieces() -> AsyncGenerator[bytes, None]:
        yield b'data: {"a":1}\n\n' + last
        raise ConnectionResetError

    read = [chunk async for together in chunks(pieces()) for chunk in together]
    assert read[0] == {"a": 1}


async def test_nothing_counts_after_the_last_word_but_it_is_heard() -> None:
    heard = []

    async def pieces() -> AsyncGenerator[bytes, None]:
        for piece in (b'data: {"a":1}\n\ndata: [DONE]\n\n', b"data: {not JSON\n\n", b""):
            heard.append(piece)
            yield piece

    assert [list(together) async for together in chunks(pieces())] == [[{"a": 1}]]
    assert len(heard) == 3


@pytest.mark.parametrize(
    ("stream", "details"),
    [
        (b'data: {"error": {"message": "full"}}\n\n', {"error": {"message": "full"}}),
        (b'event: error\ndata: {"type": "error"}\n\n', {"type": "error"}),
        (b"event: error\ndata: upstream went away\n\n", "upstream went away"),
        (b'data: [{"error": {"message": "full"}}]\n\n', {"error": {"message": "full"}}),
        (b'data: {"error": "full"}', {"error": "full"}),
    ],
)
async def test_an_error_inside_the_stream_breaks_it_off(stream: bytes, details: Any) -> None:
    with pytest.raises(StreamError) as broken:
        await _read(b'data: {"a":1}\n\n' + stream)
    assert broken.value.details == details


async def test_half_a_character_is_read() -> None:
    assert await _read(b'data: {"a":"\\ud83d"}\n\n') == [{"a": "\ud83d"}]


async def test_whoever_stops_listening_closes_the_connection() -> None:
    closed = []

    async def pieces() -> AsyncGenerator[bytes, None]:
        try:
            while True:
                yield b'data: {"a":1}\n\n'
        finally:
            closed.append(True)

    reader = chunks(pieces())
    assert list(await anext(reader)) == [{"a": 1}]
    await reader.aclose()
    assert closed


@pytest.mark.parametrize(
    "pieces",
    [[b'data: {"a":1}\n\n' * 10_000], [b"data: ", *[b" "] * 10_000, b'{"a":1}\n\n']],
    ids=["many events in a piece", "many pieces of an event"],
)
async def test_others_have_their_turn_meanwhile(pieces: list[bytes]) -> None:
    turns = 0

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await loop_turns()

    beside = asyncio.create_task(other())
    assert set(map(str, await _read(*pieces))) == {"{'a': 1}"}
    beside.cancel()
    assert turns >= 10_000 // BATCH_SIZE
