"""F18: an error event after 200; the stream cut at every byte; no closing event. Half a tool call is never executed."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from sidecar.models.port import Stop
from tests.contract.servers.http import Answer, a_server
from tests.contract.servers.speech import Call, Speaker, Speech
from tests.contract.servers.stage import CANARY, SPEAKERS, Stage, a_stage
from tests.e2e.support import running_sidecar
from tests.faults.scale import scaled
from tests.waiting import SECONDS

Json = dict[str, Any]

SPEECH = Speech(
    text="I tidy up. 🧹", calls=(Call("delete_file", '{"path": "a/b"}'), Call("delete_file", '{"path": "a"}'))
)
WHOLE = [("delete_file", {"path": "a/b"}), ("delete_file", {"path": "a"})]


@pytest.fixture(params=SPEAKERS, ids=lambda speaker: speaker.provider)
async def stage(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Stage]:
    async with a_stage(request.param, tmp_path) as stage:
        yield stage


@pytest.mark.parametrize("chunked", [True, False], ids=["chunked", "until it closes"])
async def test_cut_at_every_byte_it_is_all_or_nothing(stage: Stage, chunked: bool) -> None:
    """Without chunks, a cut looks like an end: only the closing event tells."""
    whole = stage.speaker.stream(SPEECH)
    model = stage.alone()
    acted = 0
    for length in range(1, len(whole), scaled(7, 1)):
        stage.server.plays(Answer([whole], cut=length, chunked=chunked))
        _, reply = await stage.ask(model=model)
        if reply.stop is Stop.TOOL_USE:
            acted += 1
            assert [(call.tool, call.args) for call in reply.calls] == WHOLE
            # Everything that was asked for had been said, and its end too.
            assert length > len(whole) * 0.6
        else:
            assert (reply.stop, reply.calls) == (Stop.FAILED, [])
            assert reply.failure and reply.failure.retry, reply
    stage.server.plays(Answer([whole], chunked=chunked))
    _, reply = await stage.ask(model=model)
    assert [(call.tool, call.args) for call in reply.calls] == WHOLE


async def test_an_error_after_the_calls_takes_them_back(stage: Stage) -> None:
    stage.server.plays(Answer([stage.speaker.error_in_stream(SPEECH)]))
    _, reply = await stage.ask(model=stage.alone())
    assert (reply.stop, reply.calls) == (Stop.FAILED, [])
    assert reply.failure and reply.failure.code in ("model_unavailable", "rate_limited", "stream_cut")
    assert reply.failure.retry


async def test_without_its_closing_event_a_stream_is_no_reply(stage: Stage) -> None:
    whole = stage.speaker.stream(Speech(text=SPEECH.text, calls=SPEECH.calls, unfinished=True))
    stage.server.plays(Answer([whole]))
    _, reply = await stage.ask(model=stage.alone())
    assert (reply.stop, reply.calls) == (Stop.FAILED, [])
    assert reply.failure and reply.failure.code == "stream_cut"


def seen_live(deltas: list[Json]) -> dict[str, str]:
    """What somebody has on the screen who follows the stream."""
    shown: dict[str, str] = {}
    for delta in deltas:
        before = "" if delta.get("whole") else shown.get(delta["kind"], "")
        shown[delta["kind"]] = before + delta["text"]
    return shown


@pytest.mark.parametrize("speaker", SPEAKERS, ids=lambda speaker: speaker.provider)
def test_whoever_watches_does_not_read_it_twice_when_it_is_asked_for_again(tmp_path: Path, speaker: Speaker) -> None:
    speech = Speech(thinking="Hm, let me see.", text="This is the whole answer.")
    whole = speaker.stream(speech)
    cut = Answer([whole], cut=whole.index(b"answer") if b"answer" in whole else len(whole) * 2 // 3)
    with a_server() as server:
        environ = {speaker.key: CANARY, speaker.base_url: server.url + speaker.prefix()}
        with running_sidecar(tmp_path, **environ) as sidecar:
            server.plays(cut, Answer([whole]))
            task = sidecar.execute("answer me", intent="chat")
            with sidecar.stream(task, timeout=SECONDS) as events:
                told = list(events)
    live = [event for event in told if event["type"] == "delta"]
    assert any(event.get("whole") for event in live), "the first try was taken back"
    assert seen_live(live)["text"] == speech.text
    assert seen_live(live)["thinking"] == speech.thinking
    (said,) = [event for event in told if event["type"] == "message" and event["role"] == "assistant"]
    assert (said["text"], said["messageId"]) == (speech.text, live[-1]["messageId"])
