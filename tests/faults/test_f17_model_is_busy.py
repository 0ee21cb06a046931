"""F17: a model answers 429 with Retry-After, 529, 500, a time-out, a reset.

Asked again a bounded number of times; then the next model; the stream says so; no tool runs twice.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from sidecar.models import chain
from sidecar.models.port import ModelTurn, Stop, ToolReturn, ToolTurn
from tests.contract.servers import rules
from tests.contract.servers.http import Answer, a_server, sliced
from tests.contract.servers.speech import Call, Speech, Trouble
from tests.contract.servers.stage import SAY, SPEAKERS, Stage, a_stage
from tests.e2e.support import running_sidecar
from tests.waiting import SECONDS


@pytest.fixture(params=SPEAKERS, ids=lambda speaker: speaker.provider)
async def stage(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Stage]:
    async with a_stage(request.param, tmp_path, model_idle_seconds=0.3) as stage:
        yield stage


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[float]]:
    """What is waited between two attempts, without waiting."""
    waited: list[float] = []

    async def at_once(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr(chain, "asyncio", type("Clock", (), {"sleep": staticmethod(at_once)}))
    yield waited


def _fine(stage: Stage) -> Answer:
    return Answer(sliced(stage.speaker.stream(Speech(text="Here I am.")), 64))


@pytest.mark.parametrize("status", [429, 500, 503, 529])
async def test_a_busy_model_is_asked_again(stage: Stage, pauses: list[float], status: int) -> None:
    stage.server.plays(stage.speaker.error(Trouble(status)), _fine(stage))
    _, reply = await stage.ask()
    assert reply.text == "Here I am."
    assert len(stage.server.seen) == 2
    assert len(stage.switches) == 1 and "2 of 3" in stage.switches[0].reason


async def test_retry_after_is_honoured_with_jitter(stage: Stage, pauses: list[float]) -> None:
    busy = stage.speaker.error(Trouble(429, headers={"retry_after": "3"}))
    stage.server.plays(busy, busy, _fine(stage))
    _, reply = await stage.ask()
    assert reply.text == "Here I am."
    assert all(3 < pause <= 3.5 for pause in pauses) and len(set(pauses)) == 2


async def test_who_asks_for_an_hour_is_not_waited_for(stage: Stage, pauses: list[float]) -> None:
    stage.server.plays(stage.speaker.error(Trouble(429, headers={"retry_after": "3600"})))
    _, reply = await stage.ask()
    assert reply.failure and reply.failure.code == "rate_limited"
    assert "3600" in reply.failure.message
    assert (pauses, len(stage.server.seen)) == ([], 1)


async def test_a_minute_is_waited_for_only_if_no_one_else_is_there(stage: Stage, pauses: list[float]) -> None:
    busy = stage.speaker.error(Trouble(429, headers={"retry_after": "45"}))
    stage.server.plays(busy, _fine(stage))
    _, reply = await stage.ask()
    assert reply.text == "Here I am." and [45 < pause < 46 for pause in pauses] == [True]
    pauses.clear()
    stage.server.plays(busy)
    _, reply = await stage.ask()
    assert reply.failure and len(pauses) == 1, "but not two of them"
    pauses.clear()
    stage.server.plays(busy, _fine(stage))
    name = f"{stage.speaker.provider}/{stage.speaker.model}"
    _, reply = await stage.ask(model=stage.model(name, f"{name}-mini"))
    assert reply.text == "Here I am." and pauses == []
    assert stage.switches[-1].model == f"{stage.speaker.model}-mini"


async def test_what_the_attempts_that_failed_have_cost_is_counted(stage: Stage, pauses: list[float]) -> None:
    empty = Answer([stage.speaker.stream(Speech(read=100, written=1))])
    stage.server.plays(empty, empty, Answer([stage.speaker.stream(Speech(text="Here I am.", read=100, written=20))]))
    _, reply = await stage.ask()
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (300, 22)


async def test_attempts_are_bounded_and_then_it_is_said(stage: Stage, pauses: list[float]) -> None:
    stage.server.plays(stage.speaker.error(Trouble(500)))
    _, reply = await stage.ask()
    assert reply.stop is Stop.FAILED
    assert reply.failure and (reply.failure.code, reply.failure.retry) == ("model_unavailable", False)
    assert len(stage.server.seen) == chain.ATTEMPTS
    assert sum(pauses) < 2


async def test_a_time_out_and_a_reset_are_asked_again(stage: Stage, pauses: list[float]) -> None:
    whole = stage.speaker.stream(Speech(text="Half a sen"))
    stage.server.plays(Answer(silent=True), Answer([whole], cut=len(whole) // 2, reset=True), _fine(stage))
    async with asyncio.timeout(SECONDS):
        _, reply = await stage.ask()
    assert reply.text == "Here I am."


async def test_the_next_model_takes_over_with_the_same_conversation(stage: Stage, pauses: list[float]) -> None:
    """The first provider is busy from its second turn on; the second gets what was said and done until then."""
    second = next(speaker for speaker in SPEAKERS if speaker.provider != stage.speaker.provider)
    with a_server() as other:
        stage.environ |= {second.key: "k", second.base_url: other.url + second.prefix()}
        call = Call("read_file", '{"path": "a.py"}')
        thought = Speech(thinking="Hm.", text="I look.", calls=(call,))
        stage.server.plays(Answer([stage.speaker.stream(thought)]), stage.speaker.error(Trouble(529)))
        other.plays(Answer([second.stream(Speech(text="It is fine."))]))
        first_name, second_name = (f"{each.provider}/{each.model}" for each in (stage.speaker, second))
        model = stage.model(first_name, second_name)
        _, reply = await stage.ask(model=model)
        said = ModelTurn(text=reply.text, calls=reply.calls, kept=reply.kept)
        result = ToolReturn(id=reply.calls[0].id, tool="read_file", status="success", content="x = 1")
        _, last = await stage.ask(SAY, said, ToolTurn(returns=[result]), model=model)
        assert last.text == "It is fine."
        taken_over = [switch for switch in stage.switches if switch.fallback_from]
        assert [(switch.provider, switch.fallback_from) for switch in taken_over] == [(second.provider, first_name)]
        kinds = [kind for kind, _ in second.asked(other.seen[-1].json)]
        assert kinds == ["user", "model", "call", "result"]


async def test_a_model_that_keeps_failing_is_left_alone_for_a_while(stage: Stage, pauses: list[float]) -> None:
    stage.server.plays(stage.speaker.error(Trouble(500)))
    name = f"{stage.speaker.provider}/{stage.speaker.model}"
    (stage.scripts / "spare.json").write_text('[{"text": "I stand in."}]')
    model = stage.model(name, "scripted/spare")
    for _ in range(3):
        _, reply = await stage.ask(model=model)
        assert reply.text == "I stand in."
    assert len(stage.server.seen) == chain.ATTEMPTS


async def test_a_bad_key_is_said_once_and_the_next_model_goes_on(stage: Stage, pauses: list[float]) -> None:
    stage.server.plays(stage.speaker.error(Trouble(401)))
    (stage.scripts / "spare.json").write_text('[{"text": "I stand in."}]')
    model = stage.model(f"{stage.speaker.provider}/{stage.speaker.model}", "scripted/spare")
    for _ in range(2):
        _, reply = await stage.ask(model=model)
        assert reply.text == "I stand in."
    assert len(stage.server.seen) == 1
    assert [switch.reason for switch in stage.switches if "brain keys set" in switch.reason] == [
        stage.switches[0].reason
    ]


def test_in_the_real_process_no_tool_runs_twice_and_the_stream_says_what_happened(tmp_path: Path) -> None:
    first, second = SPEAKERS[0], SPEAKERS[2]
    with a_server() as busy, a_server() as spare:
        write = Call("create_file", '{"path": "made.txt", "content": "once"}')
        whole = first.stream(Speech(text="I write.", calls=(write,)))
        busy.plays(
            first.error(Trouble(429, headers={"retry_after": "0"})),
            Answer([whole], cut=len(whole) - 10),
            Answer([whole]),
            first.error(Trouble(529)),
        )
        spare.plays(Answer([second.stream(Speech(text="Written."))]))
        environ = {first.key: "a", first.base_url: busy.url, second.key: "b", second.base_url: spare.url}
        with running_sidecar(tmp_path, **environ) as sidecar:
            chosen = f"{first.provider}/{first.model},{second.provider}/{second.model}"
            models = dict.fromkeys(("fast", "smart", "instant"), chosen)
            task = sidecar.execute(
                "write it", models=models, agentType="coder", intent="edit_code", approvals="auto", verify="off"
            )
            sidecar.wait_for_end(task)
            events = sidecar.events(task)
    told = [event for event in events if event["type"] == "model"]
    assert told[0].get("fallbackFrom") is None
    assert any("limits the request rate" in event.get("reason", "") for event in told)
    assert any(event.get("fallbackFrom") == f"{first.provider}/{first.model}" for event in told)
    ran = [event["tool"] for event in events if event["type"] == "tool" and event["status"] == "success"]
    assert ran == ["create_file"]
    assert (tmp_path / "workspace" / "made.txt").read_text() == "once"


def test_one_conversation_is_handed_through_all_the_providers(tmp_path: Path) -> None:
    """Each takes two turns, thinks, signs and calls, and is then too busy; each gets all that was said before."""
    with ExitStack() as stack:
        servers = [stack.enter_context(a_server()) for _ in SPEAKERS]
        environ: dict[str, str] = {}
        for number, (speaker, server) in enumerate(zip(SPEAKERS, servers, strict=True)):
            notes = [f"notes{number}{turn}.txt" for turn in (1, 2)]
            calls = [(Call("read_file", json.dumps({"path": note}), note[:7]), Call("list_dir")) for note in notes]
            turns = [Answer([speaker.stream(Speech(thinking="Hm.", text="So.", calls=each))]) for each in calls]
            last = number == len(SPEAKERS) - 1
            end = Answer([speaker.stream(Speech(text="At last."))]) if last else speaker.error(Trouble(529))
            server.plays(*turns, end)
            environ |= {speaker.key: "k", speaker.base_url: server.url + speaker.prefix()}
        with running_sidecar(tmp_path, **environ) as sidecar:
            for number in range(len(SPEAKERS) * 10):
                (sidecar.workspace / f"notes{number:02}.txt").write_text(f"water plant {number}\n")
            names = [f"{speaker.provider}/{speaker.model}" for speaker in SPEAKERS]
            task = sidecar.execute("what do the notes say?", models={"smart": ",".join(names)}, intent="chat")
            ended = sidecar.wait_for_end(task)
            events = sidecar.events(task)
        assert (ended["status"], ended["result"]["summary"]) == ("completed", "At last.")
        for server in servers:
            for seen in server.seen:
                rules.check(seen.path.partition("?")[0], seen.body)
        done = [event["status"] for event in events if event["type"] == "tool" and event["status"] != "running"]
        assert done == ["success"] * 4 * len(SPEAKERS), "none is lost, and none runs twice"
        kinds = [kind for kind, _ in SPEAKERS[-1].asked(servers[-1].seen[-1].json)]
        assert (kinds.count("call"), kinds.count("result")) == (16, 16)
        taken_over = [event["fallbackFrom"] for event in events if event.get("fallbackFrom")]
        assert taken_over == names[:-1]
