"""How a stream is carried, at every provider: its lines, its coding, its end, its connection. None of it is a word."""

import asyncio
import gzip
import json
import re
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from sidecar.models.port import Delta, Request
from tests.contract.servers.http import Answer, sliced
from tests.contract.servers.speech import Call, Speech
from tests.contract.servers.stage import SAY, SPEAKERS, TOOLS, Stage, a_stage
from tests.waiting import SECONDS

SPEECH = Speech(
    thinking="Hm.",
    text="Grüße, 世界.",
    calls=(Call("read_file", '{"path": "a.py"}'), Call("list_dir", '{"path": "src"}')),
)


@pytest.fixture(params=SPEAKERS, ids=lambda speaker: speaker.provider)
async def stage(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Stage]:
    async with a_stage(request.param, tmp_path) as stage:
        yield stage


async def _is_understood(stage: Stage, answer: Answer) -> None:
    stage.server.plays(answer)
    async with asyncio.timeout(SECONDS):
        _, reply = await stage.ask(model=stage.alone())
    assert reply.failure is None, reply.failure
    assert (reply.thinking, reply.text) == (SPEECH.thinking, SPEECH.text)
    assert [(call.tool, json.dumps(call.args)) for call in reply.calls] == [
        (call.tool, call.args) for call in SPEECH.calls
    ]
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (SPEECH.read, SPEECH.written)


def _without_the_last_line(stream: bytes) -> bytes:
    return stream.removesuffix(b"data: [DONE]\n\n").rstrip(b"\n")


FORMS: dict[str, Callable[[bytes], Answer]] = {
    "lines that end with both": lambda stream: Answer(sliced(stream.replace(b"\n", b"\r\n"), 3)),
    "lines that end the old way": lambda stream: Answer(sliced(stream.replace(b"\n", b"\r"), 3)),
    "a mark at the beginning": lambda stream: Answer(sliced(b"\xef\xbb\xbf" + stream, 1)),
    "no spaces": lambda stream: Answer([re.sub(rb"^(data|event): ", rb"\1:", stream, flags=re.M)]),
    "names and numbers": lambda stream: Answer([stream.replace(b"data: {", b"id: 5\nretry: 3000\ndata: {")]),
    "no empty line at the end": lambda stream: Answer([_without_the_last_line(stream)]),
    "packed": lambda stream: Answer(sliced(gzip.compress(stream), 7), headers={"content-encoding": "gzip"}),
    "until it closes": lambda stream: Answer([stream], chunked=False),
    "called JSON": lambda stream: Answer([stream], content_type="application/json"),
    "called nothing": lambda stream: Answer([stream], content_type=""),
    "nothing between": lambda stream: Answer([b"data: null\n\ndata: {}\n\ndata: []\n\n" + stream]),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
async def test_the_form_of_a_stream_does_not_matter(stage: Stage, form: Callable[[bytes], Answer]) -> None:
    await _is_understood(stage, form(stage.speaker.stream(SPEECH).replace(b"\r\n", b"\n")))


AFTERWARDS: dict[str, Callable[[bytes], Answer]] = {
    "stays": lambda stream: Answer([stream, b""], pause=30),
    "stays and gives signs of life": lambda stream: Answer([stream, *[b": ping\n\n"] * 1_000], pause=0.03),
    "breaks off": lambda stream: Answer([stream, b"x"], cut=len(stream)),
    "goes on": lambda stream: Answer([stream, b"data: {nonsense\n\n<html>"]),
}


@pytest.mark.parametrize("afterwards", AFTERWARDS.values(), ids=AFTERWARDS.keys())
async def test_what_a_server_does_after_its_last_word_does_not_matter(
    stage: Stage, afterwards: Callable[[bytes], Answer]
) -> None:
    if stage.speaker.provider == "gemini":
        pytest.skip("has no last word")
    await _is_understood(stage, afterwards(stage.speaker.stream(SPEECH)))


async def test_one_connection_is_enough_for_many_turns(stage: Stage) -> None:
    stage.says(SPEECH)
    model = stage.model()
    for _ in range(20):
        _, reply = await stage.ask(model=model)
        assert reply.failure is None
    assert len({seen.connection for seen in stage.server.seen}) == 1


async def test_whoever_stops_listening_leaves_no_connection_behind(stage: Stage) -> None:
    begun = stage.speaker.stream(SPEECH).partition(b"message_delta")[0]
    left = asyncio.Event()
    loop = asyncio.get_running_loop()
    heard = asyncio.Event()

    async def listen() -> None:
        async for part in stage.alone().stream(Request("coder", "You are a test.", [SAY], TOOLS)):
            assert isinstance(part, Delta)
            heard.set()

    stage.server.on_gone = lambda: loop.call_soon_threadsafe(left.set)
    slices = [begun[: begun.index("世".encode())], *[b": ping\n\n"] * 1_000]
    stage.server.plays(Answer(slices, pause=0.05))
    listening = asyncio.create_task(listen())
    async with asyncio.timeout(SECONDS):
        await heard.wait()
        left.clear()
        listening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await listening
        await left.wait()
    assert stage.server.connected == 0
