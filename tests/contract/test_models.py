"""Every provider is the same model: the real SDKs against servers that speak each wire format."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from sidecar.models.port import (
    Image,
    ModelTurn,
    Reply,
    Request,
    Stop,
    ToolReturn,
    ToolTurn,
    ToolUse,
    Turn,
    UserTurn,
)
from tests.contract.servers.http import Answer, failing
from tests.contract.servers.speech import Call, Speech, Trouble
from tests.contract.servers.stage import CANARY, SAY, SPEAKERS, TOOLS, Stage, a_stage, answers, tool

TWO = (Call("read_file", '{"path": "a.py"}'), Call("list_dir", '{"path": "src/ünï"}'))


@pytest.fixture(params=SPEAKERS, ids=lambda speaker: speaker.provider)
async def stage(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Stage]:
    async with a_stage(request.param, tmp_path) as stage:
        yield stage


async def test_text_comes_as_it_is_said_and_then_whole(stage: Stage) -> None:
    stage.says(Speech(text="Hello, world."))
    deltas, reply = await stage.ask()
    assert [delta.text for delta in deltas] == ["Hello,", " world."]
    assert (reply.text, reply.stop, reply.calls) == ("Hello, world.", Stop.END, [])


async def test_several_calls_come_in_one_turn_in_their_order(stage: Stage) -> None:
    stage.says(Speech(text="I look.", calls=TWO))
    _, reply = await stage.ask()
    assert reply.stop is Stop.TOOL_USE
    assert [(call.tool, call.args) for call in reply.calls] == [
        ("read_file", {"path": "a.py"}),
        ("list_dir", {"path": "src/ünï"}),
    ]
    assert len({call.id for call in reply.calls}) == 2


async def test_thinking_is_shown_apart_from_what_is_said(stage: Stage) -> None:
    stage.says(Speech(thinking="Hm, let me see.", text="Yes."))
    deltas, reply = await stage.ask()
    assert "".join(delta.text for delta in deltas if delta.kind == "thinking") == "Hm, let me see."
    assert (reply.thinking, reply.text) == ("Hm, let me see.", "Yes.")


async def test_tokens_are_counted_the_cached_ones_too_and_have_their_price(stage: Stage) -> None:
    stage.says(Speech(text="Yes.", read=1_000_000, cached=400_000, written=1_000))
    _, reply = await stage.ask()
    usage = reply.usage
    assert (usage.input_tokens, usage.cached_tokens, usage.output_tokens) == (1_000_000, 400_000, 1_000)
    if stage.speaker.provider != "openai":
        # A server on this machine costs nothing.
        assert usage.cost_usd > 0
    else:
        assert usage.cost_usd == 0


@pytest.mark.parametrize("size", [1, 2, 3, 7])
async def test_characters_and_lines_may_be_split_anywhere(stage: Stage, size: int) -> None:
    text = "Grüße, 世界 🌧️🧠, \u2028 and \\n\nmore"
    stage.says(Speech(thinking="ä🌧", text=text, calls=TWO, keep_alives=True), size=size)
    deltas, reply = await stage.ask()
    assert reply.text == text == "".join(delta.text for delta in deltas if delta.kind == "text")
    assert reply.calls[1].args == {"path": "src/ünï"}


async def test_a_character_that_was_cut_in_two_is_put_together(stage: Stage) -> None:
    """Some servers name each half by itself; what is half for good is no character at all."""
    speech = Speech(text="half 1<> and <", calls=(Call("read_file", '{"path": "a<"}'),))
    named = stage.speaker.stream(speech).replace(b"<", rb"\ud83c").replace(b">", rb"\udf27")
    stage.server.plays(Answer([named]))
    deltas, reply = await stage.ask()
    assert reply.text == "half 1🌧 and \ufffd"
    assert "".join(delta.text for delta in deltas) == "half 1🌧 and "
    assert reply.calls[0].args == {"path": "a\ufffd"}
    await stage.ask(SAY, ModelTurn(text=reply.text, calls=reply.calls, kept=reply.kept), answers(reply.calls))
    assert stage.server.seen[-1].json


@pytest.mark.parametrize(
    "args", ['{"path": NaN}', '{"path": 1e999}', '{"path": -Infinity}', '{"path": ' + "[" * 300 + "]" * 300 + "}"]
)
async def test_arguments_that_no_provider_would_take_back_are_refused_and_not_repeated(stage: Stage, args: str) -> None:
    stage.says(Speech(calls=(Call("read_file", args),)), Speech(text="Done."))
    _, reply = await stage.ask()
    (call,) = reply.calls
    assert call.args == {} and call.problem and "Nothing was done" in call.problem
    await stage.ask(SAY, ModelTurn(text="", calls=reply.calls, kept=reply.kept), answers(reply.calls))
    sent = json.loads(stage.server.seen[-1].body, parse_constant=pytest.fail)
    assert ("call", {}) in [(kind, what[2]) for kind, what in stage.speaker.asked(sent) if kind == "call"]


async def test_a_long_name_of_a_call_is_cut_to_what_everybody_takes(stage: Stage) -> None:
    stage.says(Speech(calls=(Call("read_file", id="x" * 90), Call("list_dir", id="x" * 90))))
    _, reply = await stage.ask()
    assert len({call.id for call in reply.calls}) == 2
    assert all(len(call.id) <= 40 for call in reply.calls)


async def test_keep_alives_are_no_words(stage: Stage) -> None:
    stage.says(Speech(text="Hello.", calls=TWO, keep_alives=True))
    deltas, reply = await stage.ask()
    assert "".join(delta.text for delta in deltas) == "Hello."
    assert len(reply.calls) == 2


async def test_results_go_back_to_their_calls_and_the_conversation_goes_on(stage: Stage) -> None:
    stage.says(Speech(thinking="Hm.", text="I look.", calls=TWO), Speech(text="Done."))
    model = stage.model()
    _, first = await stage.ask(model=model)
    history: list[Turn] = [SAY, ModelTurn(text=first.text, calls=first.calls, kept=first.kept), answers(first.calls)]
    _, second = await stage.ask(*history, UserTurn(text="And then?"), model=model)
    assert second.text == "Done."
    kinds = [kind for kind, _ in stage.asked if kind != "thinking"]
    assert kinds == ["user", "model", "call", "call", "result", "result", "user"]
    names = [what[0] for kind, what in stage.asked if kind == "call"]
    assert [what for kind, what in stage.asked if kind == "result"] == [
        (names[0], "result of read_file"),
        (names[1], "result of list_dir"),
    ]


async def test_reasoning_that_the_provider_signed_goes_back_as_it_came(stage: Stage) -> None:
    if stage.speaker.provider not in ("anthropic", "gemini"):
        pytest.skip("signs nothing")
    stage.says(Speech(thinking="Hm.", calls=TWO), Speech(text="Done."))
    _, first = await stage.ask()
    turns = [SAY, ModelTurn(text=first.text, calls=first.calls, kept=first.kept), answers(first.calls)]
    await stage.ask(*turns)
    assert b"c2lnbmF0dXJl" in stage.server.seen[-1].body
    # What a person, a journal or another model made of it in between is the same.
    again = ModelTurn.model_validate_json(turns[1].to_json())
    await stage.ask(SAY, again, turns[2])
    assert stage.server.seen[-1].body == stage.server.seen[-2].body


async def test_what_another_provider_signed_is_left_out(stage: Stage) -> None:
    stage.says(Speech(text="Done."))
    kept = {"provider": "other", "model": "x", "content": [{"secret": "c2lnbmVkIGJ5IG90aGVycw"}]}
    calls = [ToolUse(id="weird id/!", tool="read_file", args={"path": "a"})]
    turn = ModelTurn.model_validate({"text": "", "calls": [call.model_dump() for call in calls], "kept": kept})
    _, reply = await stage.ask(SAY, turn, answers(calls))
    assert reply.text == "Done."
    assert b"c2lnbmVkIGJ5IG90aGVycw" not in stage.server.seen[-1].body
    assert [kind for kind, _ in stage.asked] == ["user", "call", "result"]


async def test_a_call_without_its_result_gets_one_and_a_result_without_its_call_is_left_out(stage: Stage) -> None:
    stage.says(Speech(text="Done."))
    calls = [ToolUse(id="a", tool="read_file", args={}), ToolUse(id="b", tool="list_dir", args={})]
    half = ToolTurn(returns=[ToolReturn(id="b", tool="list_dir", status="success", content="files")])
    lost = ToolTurn(returns=[ToolReturn(id="zzz", tool="list_dir", status="success", content="nobody asked")])
    history = [
        SAY,
        ModelTurn(text="", calls=calls),
        half,
        UserTurn(text="x"),
        lost,
        ModelTurn(text="", calls=calls[:1]),
    ]
    await stage.ask(*history)
    results = [what[1] for kind, what in stage.asked if kind == "result"]
    assert results == ["This call did not run.", "files", "This call did not run."]


async def test_images_are_sent(stage: Stage) -> None:
    stage.says(Speech(text="A cat."))
    await stage.ask(UserTurn(text="What is it?", images=[Image(media_type="image/png", data="aW1hZ2U=")]))
    assert ("image", "aW1hZ2U=") in stage.asked
    assert ("user", "What is it?") in stage.asked


async def test_the_request_says_who_asks_what_may_be_used_and_how_much_may_be_said(stage: Stage) -> None:
    stage.says(Speech(text="Yes."))
    await stage.ask()
    seen = stage.server.seen[-1]
    assert CANARY in {seen.headers.get(name, "").removeprefix("Bearer ") for name in _AUTHORISATIONS}
    assert CANARY not in seen.path and CANARY.encode() not in seen.body
    assert seen.headers["content-type"] == "application/json"
    text = seen.body.decode()
    assert "You are a test." in text
    assert "16000" in text
    for name in ("read_file", "list_dir"):
        assert f'"name":"{name}"' in text


async def test_an_empty_turn_of_a_model_is_no_message(stage: Stage) -> None:
    stage.says(Speech(text="Yes."))
    await stage.ask(SAY, ModelTurn(text=""), UserTurn(text="Go on."))
    assert [what for _, what in stage.asked] == ["Say something.", "Go on."]


async def test_a_reply_cut_off_at_its_limit_asks_for_nothing(stage: Stage) -> None:
    stage.says(Speech(text="Once upon", calls=(Call("read_file", '{"path": "a"}'),), stop="length"))
    _, reply = await stage.ask()
    assert (reply.stop, reply.calls) == (Stop.LENGTH, [])
    assert reply.failure and reply.failure.code == "reply_too_long"


async def test_a_refusal_is_said_as_one(stage: Stage) -> None:
    stage.says(Speech(text="I cannot", stop="refusal"))
    _, reply = await stage.ask()
    assert reply.stop is Stop.DECLINED
    assert reply.failure and (reply.failure.code, reply.failure.retry) == ("model_declined", False)


@pytest.mark.parametrize(
    ("status", "message", "code", "retry"),
    [
        (401, f"Incorrect API key provided: {CANARY}", "bad_key", False),
        (403, "Your key may not do this.", "bad_key", False),
        (404, f"The model does not exist for {CANARY}.", "unknown_model", False),
        (400, "prompt is too long: 300000 tokens > 200000 maximum context length", "context_overflow", False),
        (400, f"messages.0: something is wrong with {CANARY}", "bad_request", False),
        (429, f"Slow down, {CANARY}.", "rate_limited", True),
        (500, f"Oops: {CANARY}", "model_unavailable", True),
        (503, "Later.", "model_unavailable", True),
        (529, "Overloaded.", "model_unavailable", True),
    ],
)
async def test_every_error_has_its_code(stage: Stage, status: int, message: str, code: str, retry: bool) -> None:
    stage.server.plays(stage.speaker.error(Trouble(status, message=message, headers={"retry_after": "7"})))
    _, reply = await stage.ask(model=stage.alone())
    assert reply.stop is Stop.FAILED
    assert reply.failure is not None
    assert (reply.failure.code, reply.failure.retry) == (code, retry)
    assert CANARY not in reply.to_json()
    if retry:
        assert reply.failure.retry_after == 7
    if code == "bad_key":
        assert f"brain keys set {stage.speaker.provider}" in reply.failure.message


async def test_a_key_that_the_server_repeats_in_what_the_model_says_is_shown_to_no_one(stage: Stage) -> None:
    """It comes in two pieces, as the text does; and so does what only begins like it."""
    calls = (Call("read_file", json.dumps({"path": CANARY})),)
    said = Speech(thinking=f"So {CANARY}.", text=f"Yes, {CANARY}, says canary", calls=calls)
    stage.says(said, Speech(text="Done."))
    deltas, reply = await stage.ask()
    shown = "".join(delta.text for delta in deltas if delta.kind == "text")
    assert shown == reply.text == said.text.replace(CANARY, f"[redacted:{stage.speaker.provider}-key]")
    assert CANARY not in "".join(delta.text for delta in deltas) + reply.to_json()
    await stage.ask(SAY, ModelTurn(text=reply.text, calls=reply.calls, kept=reply.kept), answers(reply.calls))
    assert CANARY.encode() not in stage.server.seen[-1].body


async def test_no_one_there_is_said_as_such(stage: Stage) -> None:
    model = stage.alone()
    stage.server.stop()
    _, reply = await stage.ask(model=model)
    assert reply.failure and (reply.failure.code, reply.failure.retry) == ("model_unreachable", True)


async def test_a_server_on_this_machine_is_asked_without_a_proxy(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    stage.says(Speech(text="Yes."))
    _, reply = await stage.ask()
    assert reply.text == "Yes."


@pytest.mark.parametrize("status", [301, 307, 308])
async def test_a_place_that_sends_its_callers_elsewhere_is_not_followed(stage: Stage, status: int) -> None:
    moved = failing(status, {}, location=f"{stage.server.url}/elsewhere/messages")
    stage.server.plays(moved)
    _, reply = await stage.ask()
    assert reply.failure and (reply.failure.code, reply.failure.retry) == ("model_unreachable", False)
    assert "base URL" in reply.failure.message
    assert len(stage.server.seen) == 1


async def test_what_is_no_stream_at_all_is_a_failure(stage: Stage) -> None:
    stage.server.plays(Answer([b"<html>a proxy says hello</html>"], content_type="text/html"))
    _, reply = await stage.ask(model=stage.alone())
    assert reply.stop is Stop.FAILED


async def test_a_long_history_is_written_once(stage: Stage) -> None:
    """What is sent the second time begins with the very bytes of the first, as caching by prefix needs it."""
    stage.says(Speech(text="Yes."))
    model = stage.model()
    history: list[Turn] = [SAY, ModelTurn(text="Yes."), UserTurn(text="Go on.")]
    await stage.ask(*history, model=model)
    await stage.ask(*history, ModelTurn(text="Yes."), UserTurn(text="More."), model=model)
    first, second = (seen.body for seen in stage.server.seen)
    assert second.startswith(first.rstrip(b"]}"))
    assert json.loads(second)


_AUTHORISATIONS = ("x-api-key", "authorization", "x-goog-api-key")


async def test_claude_goes_on_without_what_it_thought_when_that_is_not_accepted(tmp_path: Path) -> None:
    """What it thought belongs to exactly what came before; a conversation that was shortened is another one."""
    refusal = (
        "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different "
        'conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block".'
    )
    async with a_stage(SPEAKERS[0], tmp_path) as stage:
        model = stage.model()
        first, second = Speech(thinking="Hm.", calls=TWO[:1]), Speech(thinking="Aha.", calls=TWO[:1])
        stage.says(first)
        _, reply = await stage.ask(model=model)
        history: list[Turn] = [SAY, ModelTurn(text="", calls=reply.calls, kept=reply.kept), answers(reply.calls)]
        again = [Answer([stage.speaker.stream(speech)]) for speech in (second, Speech(text="Done."))]
        stage.server.plays(stage.speaker.error(Trouble(400, message=refusal)), *again)
        _, reply = await stage.ask(*history, model=model)
        assert reply.stop is Stop.TOOL_USE
        assert '"thinking":"Hm."' in stage.server.seen[1].body.decode()
        assert '"thinking":"Hm."' not in stage.server.seen[2].body.decode()
        history += [ModelTurn(text="", calls=reply.calls, kept=reply.kept), answers(reply.calls)]
        _, reply = await stage.ask(*history, model=model)
        assert reply.text == "Done."
        sent = stage.server.seen[3].body.decode()
        assert '"thinking":"Hm."' not in sent
        assert '"thinking":"Aha."' in sent, "what it thought since is still good"


async def test_claude_is_not_given_back_what_it_thought_before_it_got_more_tools(tmp_path: Path) -> None:
    async with a_stage(SPEAKERS[0], tmp_path) as stage:
        model = stage.model()
        stage.says(Speech(thinking="Hm.", calls=TWO[:1]), Speech(text="Done."))
        _, reply = await stage.ask(model=model)
        history = [SAY, ModelTurn(text="", calls=reply.calls, kept=reply.kept), answers(reply.calls)]
        request = Request("coder", "You are a test.", history, [*TOOLS, tool("git_blame")])
        parts = [part async for part in model.stream(request)]
        assert isinstance(parts[-1], Reply) and parts[-1].text == "Done."
        assert len(stage.server.seen) == 2
        assert '"thinking":"Hm."' not in stage.server.seen[1].body.decode()


async def test_gemini_takes_a_call_back_only_with_a_signature(tmp_path: Path) -> None:
    """Also if it signed only what it said before it."""
    async with a_stage(SPEAKERS[1], tmp_path) as stage:
        parts = [{"text": "I look.", "thoughtSignature": "c2ln"}, {"functionCall": {"name": "read_file", "args": {}}}]
        chunk = {"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}]}
        stage.server.plays(Answer([stage.speaker.event(chunk)]))
        _, reply = await stage.ask()
        await stage.ask(SAY, ModelTurn(text="", calls=reply.calls, kept=reply.kept), answers(reply.calls))
        said = stage.server.seen[-1].json["contents"][1]["parts"]
        assert said[0] == parts[0]
        assert said[1] == {**parts[1], "thoughtSignature": "skip_thought_signature_validator"}


async def test_what_claude_says_with_the_beginning_of_a_block_is_shown_too(tmp_path: Path) -> None:
    async with a_stage(SPEAKERS[0], tmp_path) as stage:
        whole = stage.speaker.stream(Speech(text="lo, world."))
        begun = whole.replace(b'{"type": "text", "text": ""}', b'{"type": "text", "text": "Hel"}')
        assert begun != whole
        stage.server.plays(Answer([begun]))
        deltas, reply = await stage.ask()
        assert "".join(delta.text for delta in deltas) == reply.text == "Hello, world."


async def test_what_claude_says_turn_and_turn_about_in_two_blocks_is_distinguished(tmp_path: Path) -> None:
    async with a_stage(SPEAKERS[0], tmp_path) as stage:
        blocks = [{"type": "tool_use", "id": f"t{each}", "name": "read_file", "input": {}} for each in range(2)]
        pieces = [(0, '{"pa'), (1, '{"path"'), (0, 'th": "a.py"}'), (1, ': "b.py"}')]
        events = [
            {"type": "message_start", "message": {"usage": {"input_tokens": 7, "output_tokens": 1}}},
            *({"type": "content_block_start", "index": each, "content_block": blocks[each]} for each in range(2)),
            *(
                {
                    "type": "content_block_delta",
                    "index": each,
                    "delta": {"type": "input_json_delta", "partial_json": text},
                }
                for each, text in pieces
            ),
            *({"type": "content_block_stop", "index": each} for each in range(2)),
            {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 20}},
            {"type": "message_stop"},
        ]
        stage.server.plays(Answer([stage.speaker.event(event) for event in events]))
        _, reply = await stage.ask()
        assert [call.args for call in reply.calls] == [{"path": "a.py"}, {"path": "b.py"}]
        assert (reply.usage.input_tokens, reply.usage.output_tokens) == (7, 20)
