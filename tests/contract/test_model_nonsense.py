"""Streams in which something is missing, there twice, or something else than it should be."""

import json
import random
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from sidecar.models.port import ModelTurn, NativeTurn, Reply, Stop
from tests.contract.servers.http import Answer
from tests.contract.servers.speech import Call, Speech
from tests.contract.servers.stage import SAY, SPEAKERS, Stage, a_stage, answers

TWO = (Call("read_file", '{"path": "a.py"}'), Call("list_dir", '{"path": "src/ünï"}'))
ODD = (None, "", 0, -1, 1.5, True, [], {}, [None], {"a": None}, "x", "\ud800", 10**30, "<think>", "</think>")


@pytest.fixture(params=SPEAKERS, ids=lambda speaker: speaker.provider)
async def stage(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Stage]:
    async with a_stage(request.param, tmp_path) as stage:
        yield stage


def _mangled(value: Any, by: random.Random) -> Any:
    """The same, but one of its parts is gone, there twice, or something else."""
    if isinstance(value, dict | list) and value and by.random() < 0.85:
        changed: Any = dict(value) if isinstance(value, dict) else dict(enumerate(value))
        part = by.choice(list(changed))
        if by.random() < 0.2:
            del changed[part]
        else:
            changed[part] = _mangled(changed[part], by)
        return changed if isinstance(value, dict) else list(changed.values())
    return by.choice(ODD)


def _disturbed(events: list[str], by: random.Random) -> list[str]:
    disturbed = list(events)
    for _ in range(by.choice((1, 1, 2, 3))):
        place = by.randrange(len(disturbed))
        head, found, data = disturbed[place].partition("data: {")
        disturbed[place : place + 1] = by.choice(
            [
                [],
                [disturbed[place]] * 2,
                *[[f"{head}data: {json.dumps(_mangled(json.loads('{' + data), by))}"] if found else [head]] * 6,
            ]
        )
    return disturbed


@pytest.mark.parametrize("seed", range(3))
async def test_whatever_comes_it_is_a_reply_or_a_failure_and_the_conversation_stays_sound(
    stage: Stage, seed: int
) -> None:
    by = random.Random(seed)
    whole = stage.speaker.stream(Speech(thinking="Hm.", text="Grüße 🌧", calls=TWO, cached=5)).decode()
    events = [event for event in re.split(r"(?:\r?\n){2}", whole) if event]
    for _ in range(40):
        stage.server.plays(Answer(["".join(f"{event}\n\n" for event in _disturbed(events, by)).encode()]))
        _, reply = await stage.ask(model=stage.alone())
        assert (reply.stop is Stop.FAILED) == (reply.failure is not None) or reply.stop is Stop.DECLINED
        if reply.failure is None and (reply.calls or reply.text.strip()):
            turn = ModelTurn.model_validate_json(
                ModelTurn(text=reply.text, calls=reply.calls, kept=_signed(reply)).to_json()
            )
            stage.says(Speech(text="Done."))
            _, last = await stage.ask(SAY, turn, answers(reply.calls), SAY)
            assert last.text == "Done."


def _signed(reply: Reply) -> NativeTurn | None:
    """What Claude thought and did not sign, as that was lost on the way, it would refuse; that is met elsewhere."""
    unsigned = reply.kept is not None and '"signature":""' in reply.kept.to_json()
    return None if unsigned else reply.kept
