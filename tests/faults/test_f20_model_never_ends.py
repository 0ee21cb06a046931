"""F20: an endless stream, one byte a minute, empty turns, the same call again and again. Limits stop each of them."""

import asyncio
import gzip
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from sidecar.models.calls import ABORT_CALLS
from sidecar.models.limits import MAX_REPEATS
from sidecar.models.port import ModelTurn, Reply, Stop, ToolReturn, ToolTurn, Turn
from tests.contract.servers.http import Answer
from tests.contract.servers.speech import Call, Speaker, Speech
from tests.contract.servers.stage import SAY, SPEAKERS, Stage, a_stage
from tests.waiting import SECONDS

LIMITS = {"model_idle_seconds": 0.2, "model_reply_seconds": 1.0, "model_reply_tokens": 100}


@pytest.fixture(params=SPEAKERS, ids=lambda speaker: speaker.provider)
async def stage(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Stage]:
    async with a_stage(request.param, tmp_path, **LIMITS) as stage:
        yield stage


async def _failure(stage: Stage, *history: Turn) -> Any:
    model: Any = stage.alone()
    model.limits = _same_patience(model.limits)
    async with asyncio.timeout(SECONDS):
        _, reply = await stage.ask(*history, model=model)
    assert (reply.stop, reply.calls) == (Stop.FAILED, [])
    return reply.failure


def _same_patience(limits: Any) -> Any:
    """A server on this machine may read a long prompt first; not here."""
    return type(limits)(limits.idle_seconds, limits.reply_seconds, limits.reply_tokens, limits.idle_seconds)


def _begun(stage: Stage) -> list[bytes]:
    """A stream that has begun well, and one more word of it, again and again."""
    whole = stage.speaker.stream(Speech(text="abcdefgh" * 8, unfinished=True))
    separator = b"\r\n\r\n" if b"\r\n\r\n" in whole else b"\n\n"
    events = [event + separator for event in whole.split(separator) if event]
    spoken = [index for index, event in enumerate(events) if b"abcdefgh" in event]
    return [*events[: spoken[-1]], events[spoken[-1]]]


async def test_an_endless_stream_is_ended_by_its_length(stage: Stage) -> None:
    stage.server.plays(Answer(_begun(stage), endless=True))
    failure = await _failure(stage)
    assert failure.code == "reply_too_long"


@pytest.fixture(params=SPEAKERS, ids=lambda speaker: speaker.provider)
async def patient(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Stage]:
    """With all the time and the tokens that are usual: what ends it here is how much comes."""
    async with a_stage(request.param, tmp_path) as stage:
        yield stage


async def _ended(stage: Stage, answer: Answer) -> Any:
    stage.server.plays(answer)
    async with asyncio.timeout(SECONDS):
        _, reply = await stage.ask(model=stage.alone())
    assert (reply.stop, reply.calls) == (Stop.FAILED, [])
    assert reply.failure and (reply.failure.code, reply.failure.retry) == ("reply_too_long", False)
    return reply.failure


async def test_calls_without_end_are_not_gathered(patient: Stage) -> None:
    many = Speech(calls=tuple(Call("list_dir", id=f"c{number}") for number in range(ABORT_CALLS + 1)))
    failure = await _ended(patient, Answer([patient.speaker.stream(many)]))
    assert "calls in one reply" in failure.message


async def test_arguments_without_end_are_not_gathered(patient: Stage) -> None:
    if patient.speaker.provider == "gemini":
        pytest.skip("sends a call as a whole")
    call = Speech(calls=(Call("read_file", json.dumps({"path": "x" * 20_000})),))
    head = patient.speaker.stream(call).rpartition(b"xxx")[0]
    events = head.split(b"\n\n")
    begun, piece = b"\n\n".join(events[:-2]) + b"\n\n", events[-2] + b"\n\n"
    assert b"x" * 9_000 in piece
    failure = await _ended(patient, Answer([begun, piece * 10], endless=True))
    assert "of arguments" in failure.message


ENDLESS = {
    "a line": Answer([b"data: ", b"x" * 262_144], endless=True),
    "an event of many lines": Answer([b"data: " + b"x" * 8_000 + b"\n"], endless=True),
    "a reply in one piece": Answer([b"{", b'"x": "' + b"x" * 8_000 + b'",\n'], endless=True),
    "a line that is packed": Answer(
        [gzip.compress(b"data: " + b"x" * 30_000_000)], headers={"content-encoding": "gzip"}
    ),
    "an error": Answer([b"x" * 262_144], status=500, endless=True, content_type="text/plain"),
    "an error of many lines": Answer([b"x" * 8_000 + b"\n"], status=500, endless=True, content_type="text/plain"),
}


@pytest.mark.parametrize("answer", ENDLESS.values(), ids=ENDLESS.keys())
async def test_what_has_no_end_is_not_gathered(patient: Stage, answer: Answer) -> None:
    failure = await _ended(patient, answer)
    assert "without end" in failure.message


async def test_a_stream_that_never_ends_is_ended_by_the_clock(stage: Stage) -> None:
    stage.server.plays(Answer(_begun(stage), endless=True, pause=0.05))
    failure = await _failure(stage)
    assert failure.code == "model_too_slow"


async def test_a_server_that_says_nothing_is_given_up(stage: Stage) -> None:
    stage.server.plays(Answer(silent=True))
    failure = await _failure(stage)
    assert (failure.code, failure.retry) == ("model_silent", True)


async def test_a_byte_now_and_then_is_not_a_word(stage: Stage) -> None:
    whole = stage.speaker.stream(Speech(text="Hello."))
    stage.server.plays(Answer([bytes([byte]) for byte in whole], pause=0.1))
    failure = await _failure(stage)
    assert failure.code == "model_silent"


async def test_keep_alives_alone_do_not_keep_it_alive(stage: Stage) -> None:
    alive = {"anthropic": b'event: ping\ndata: {"type": "ping"}\n\n', "gemini": b"\r\n"}
    ping = alive.get(stage.speaker.provider, b": keep-alive\n\n")
    stage.server.plays(Answer([ping], endless=True, pause=0.05))
    failure = await _failure(stage)
    assert failure.code == "model_silent"


async def test_empty_turns_are_asked_again_and_then_said(stage: Stage) -> None:
    stage.says(Speech(text=""))
    async with asyncio.timeout(SECONDS):
        _, reply = await stage.ask()
    assert reply.failure and (reply.stop, reply.failure.code) == (Stop.FAILED, "empty_reply")
    assert len(stage.server.seen) == 3


async def test_the_same_call_again_and_again_is_a_loop(stage: Stage) -> None:
    stage.says(Speech(calls=(Call("read_file", '{"path": "a.py"}'),)))
    replies = await _going_round(stage, lambda number: "the same")
    assert len(replies) == MAX_REPEATS
    assert replies[-1].failure and replies[-1].failure.code == "repeats_itself"
    assert replies[-1].calls == []


async def test_waiting_for_something_that_changes_is_no_loop(stage: Stage) -> None:
    stage.says(Speech(calls=(Call("read_file", '{"path": "a.py"}'),)))
    replies = await _going_round(stage, lambda number: f"line {number}")
    assert len(replies) == 12
    assert all(reply.stop is Stop.TOOL_USE for reply in replies)


async def _going_round(stage: Stage, result: Any) -> list[Reply]:
    history: list[Turn] = [SAY]
    replies: list[Reply] = []
    model = stage.model()
    for number in range(12):
        _, reply = await stage.ask(*history, model=model)
        replies.append(reply)
        if reply.stop is not Stop.TOOL_USE:
            break
        assert json.dumps(reply.calls[0].args) == '{"path": "a.py"}'
        history.append(ModelTurn(text=reply.text, calls=reply.calls, kept=reply.kept))
        answer = ToolReturn(id=reply.calls[0].id, tool="read_file", status="success", content=result(number))
        history.append(ToolTurn(returns=[answer]))
    return replies


@pytest.mark.parametrize(
    "speaker", [each for each in SPEAKERS if each.provider != "gemini"], ids=lambda each: each.provider
)
async def test_long_arguments_are_a_sign_of_life(speaker: Speaker, tmp_path: Path) -> None:
    """Nothing of them is shown while they come, and yet the model is at work. Gemini sends them whole."""
    args = json.dumps({"path": "a.py", "content": "x" * 200})
    events = speaker.stream(Speech(calls=tuple(Call("write_file", args) for _ in range(6))))
    slices = [event + b"\n\n" for event in events.split(b"\n\n") if event]
    async with a_stage(
        speaker, tmp_path, **{**LIMITS, "model_idle_seconds": 1.0, "model_reply_seconds": 30.0}
    ) as stage:
        stage.server.plays(Answer(slices, pause=1.5 / len(slices)))
        _, reply = await stage.ask()
    assert len(reply.calls) == 6
