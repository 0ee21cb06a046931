"""The Chat Completions dialect as its many servers really speak it. Each quirk was seen in one of them."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from sidecar.models.port import Image, ModelTurn, Stop, ToolReturn, ToolTurn, ToolUse, UserTurn
from tests.contract.servers.completions import Completions
from tests.contract.servers.http import Answer, failing
from tests.contract.servers.speech import Speech
from tests.contract.servers.stage import SAY, Stage, a_stage

A, B = '{"path": "a.py"}', '{"path": "b.py"}'


@pytest.fixture(params=["openai", "groq"])
async def stage(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Stage]:
    async with a_stage(Completions(request.param), tmp_path) as stage:
        yield stage


def streamed(stage: Stage, *deltas: dict[str, Any], finish: str | None = "tool_calls", **last: Any) -> Answer:
    chunks: list[dict[str, Any]] = [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    if finish:
        chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}], **last})
    return Answer([stage.speaker.event(chunk) for chunk in chunks])


def calls(*pieces: dict[str, Any]) -> dict[str, Any]:
    return {"tool_calls": list(pieces)}


def piece(arguments: Any, name: str | None = "read_file", **more: Any) -> dict[str, Any]:
    return {**more, "function": {"arguments": arguments} | ({"name": name} if name else {})}


TWO_CALLS = {
    "without id and index": [calls(piece(A), piece(B))],
    "without id and index, one by one": [calls(piece(A)), calls(piece(B))],
    "all with the same index": [calls(piece(A, index=0, id="x")), calls(piece(B, index=0, id="y"))],
    "with empty ids": [calls(piece(A, index=0, id=""), piece(B, index=0, id=""))],
    "interleaved": [
        calls(piece("", index=0, id="x"), piece("", index=1, id="y")),
        calls(piece(B[:5], None, index=1)),
        calls(piece(A[:3], None, index=0)),
        calls(piece(B[5:], None, index=1), piece(A[3:], None, index=0)),
    ],
    "by their ids alone": [
        calls(piece("", id="x"), piece("", id="y")),
        calls(piece(B[:5], None, id="y"), piece(A[:3], None, id="x")),
        calls(piece(B[5:], None, id="y"), piece(A[3:], None, id="x")),
    ],
    "by nothing but their order": [
        calls(piece(A[:3])),
        calls(piece(A[3:], None)),
        calls(piece(B[:3])),
        calls(piece(B[3:], None)),
    ],
    "with their names in pieces": [
        calls(piece("", "read", index=0, id="x"), piece("", "read_", index=1, id="y")),
        calls(piece("", "_file", index=0), piece("", "file", index=1)),
        calls(piece(A, None, index=0), piece(B, None, index=1)),
    ],
    "with frills": [
        calls(piece(A, "functions.read_file", index=0, id="x")),
        calls(piece(B, "read_file<|channel|>commentary", index=1, id="y")),
    ],
    "as objects": [calls(piece(json.loads(A), index=0, id="x"), piece(json.loads(B), index=1, id="y"))],
    "as strings of strings": [calls(piece(json.dumps(A), index=0, id="x"), piece(json.dumps(B), index=1, id="y"))],
    "with the name again and again": [
        calls(piece("", index=0, id="x"), piece("", index=1, id="y")),
        calls(piece(A[:5], index=0), piece(B[:5], index=1, id="y")),
        calls(piece(A[5:], index=0), piece(B[5:], index=1, id="y")),
    ],
}


@pytest.mark.parametrize("deltas", TWO_CALLS.values(), ids=TWO_CALLS.keys())
@pytest.mark.parametrize("finish", ["tool_calls", "stop"])
async def test_two_calls_are_two_calls_however_they_come(
    stage: Stage, deltas: list[dict[str, Any]], finish: str
) -> None:
    stage.server.plays(streamed(stage, {"role": "assistant", "content": None}, *deltas, finish=finish))
    _, reply = await stage.ask()
    assert reply.stop is Stop.TOOL_USE
    assert [(call.tool, call.args["path"], call.problem) for call in reply.calls] == [
        ("read_file", "a.py", None),
        ("read_file", "b.py", None),
    ]
    assert len({call.id for call in reply.calls}) == 2


async def test_no_arguments_at_all_are_an_empty_object(stage: Stage) -> None:
    stage.server.plays(streamed(stage, calls(piece(None, "list_dir", index=0, id="x"))))
    _, reply = await stage.ask()
    assert [(call.args, call.problem) for call in reply.calls] == [({}, None)]


@pytest.mark.parametrize(
    "usage",
    [
        {"prompt_tokens": 7, "completion_tokens": 3, "prompt_tokens_details": None},
        {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10},
    ],
)
async def test_what_was_used_may_come_with_the_last_words(stage: Stage, usage: dict[str, Any]) -> None:
    stage.server.plays(streamed(stage, {"content": "Yes."}, finish="stop", usage=usage))
    _, reply = await stage.ask()
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (7, 3)


@pytest.mark.parametrize("usage", [None, {}])
async def test_who_does_not_count_is_counted_roughly(stage: Stage, usage: Any) -> None:
    """Else a limit of tokens would be no limit."""
    stage.server.plays(streamed(stage, {"content": "word " * 400}, finish="stop", usage=usage))
    _, reply = await stage.ask()
    assert 300 < reply.usage.output_tokens < 700
    assert 50 < reply.usage.input_tokens < 1_000


async def test_nothing_ever_costs_less_than_nothing(stage: Stage) -> None:
    details = {"prompt_tokens": 10, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 1_000}}
    stage.server.plays(streamed(stage, {"content": "Yes."}, finish="stop", usage=details))
    _, reply = await stage.ask()
    assert (reply.usage.input_tokens, reply.usage.cached_tokens) == (1_010, 1_000)
    assert reply.usage.cost_usd >= 0
    details = {"prompt_tokens": -1, "completion_tokens": -1, "prompt_tokens_details": {"cached_tokens": -1}}
    stage.server.plays(streamed(stage, {"content": "Yes."}, finish="stop", usage=details))
    _, reply = await stage.ask()
    usage = reply.usage
    assert (usage.input_tokens, usage.output_tokens, usage.cached_tokens, usage.cost_usd) == (0, 0, 0, 0)


async def test_what_was_thought_on_the_way_to_a_call_goes_back_where_it_is_wanted(tmp_path: Path) -> None:
    async with a_stage(Completions("openai"), tmp_path) as stage:
        thought = {"reasoning_content": "Hm."}
        stage.server.plays(streamed(stage, thought, calls(piece(A, index=0, id="x"))))
        _, reply = await stage.ask()
        done = ToolTurn(returns=[ToolReturn(id="x", tool="read_file", status="success", content="x = 1")])
        await stage.ask(SAY, ModelTurn(text="", calls=reply.calls, kept=reply.kept), done)
        assert stage.server.seen[-1].json["messages"][2]["reasoning_content"] == "Hm."


@pytest.mark.parametrize(
    "said",
    [
        "`tool calling` is not supported with this model",
        "registry/x does not support tools",
        "x does not support Function Calling",
        "No endpoints found that support tool use.",
        '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
        "tools param requires --jinja flag",
    ],
)
async def test_a_model_without_tools_is_driven_by_a_schema(stage: Stage, said: str) -> None:
    refusal = failing(400, {"error": {"message": said}})
    form = json.dumps({"say": "I look.", "calls": [{"tool": "read_file", "args": {"path": "a.py"}}]})
    stage.server.plays(refusal, Answer([stage.speaker.stream(Speech(text=form))]))
    _, reply = await stage.ask(UserTurn(text="What is it?", images=[Image(media_type="image/png", data="aW1n")]))
    assert (reply.text, [call.args for call in reply.calls]) == ("I look.", [{"path": "a.py"}])
    sent = stage.server.seen[-1].json
    assert "tools" not in sent and sent["response_format"]["type"] == "json_schema"
    assert ("image", "aW1n") in stage.asked, "it may see all the same"


async def test_a_server_that_knows_no_schema_either_is_told_the_form_in_words(stage: Stage) -> None:
    form = 'I will look.\n```json\n{"say": "I look.", "calls": [{"tool": "read_file", "args": {"path": "a.py"}}]}\n```'
    stage.server.plays(
        failing(400, {"error": {"message": "this model does not support tools"}}),
        failing(400, {"error": {"message": "This response_format type is unavailable now"}}),
        Answer([stage.speaker.stream(Speech(text=form))]),
    )
    _, reply = await stage.ask()
    assert (reply.text, [call.args for call in reply.calls]) == ("I look.", [{"path": "a.py"}])


async def test_half_a_form_is_asked_for_again(stage: Stage) -> None:
    stage.server.plays(
        failing(400, {"error": {"message": "this model does not support tools"}}),
        Answer([stage.speaker.stream(Speech(text='{"say": "half'))]),
        Answer([stage.speaker.stream(Speech(text='{"say": "Whole.", "calls": []}'))]),
    )
    _, reply = await stage.ask()
    assert (reply.text, reply.stop) == ("Whole.", Stop.END)


@pytest.mark.parametrize("status", [400, 500])
async def test_a_template_that_wants_the_roles_to_take_turns_gets_it(stage: Stage, status: int) -> None:
    demand = "Error rendering prompt: Conversation roles must alternate user/assistant/user/assistant/..."
    fine = Answer([stage.speaker.stream(Speech(text="Yes."))])
    stage.server.plays(failing(status, {"error": {"message": demand, "type": "invalid_request_error"}}), fine)
    seen = UserTurn(text="And this?", images=[Image(media_type="image/png", data="aW1n")])
    history = [SAY, UserTurn(text="Go on."), ModelTurn(text="Yes."), UserTurn(text="More."), seen]
    model = stage.model()
    _, reply = await stage.ask(*history, model=model)
    assert reply.text == "Yes."
    roles = [message["role"] for message in stage.server.seen[-1].json["messages"]]
    assert roles == ["system", "user", "assistant", "user"]
    assert [what for _, what in stage.asked] == ["Say something.\n\nGo on.", "Yes.", "More.", "aW1n", "And this?"]
    await stage.ask(*history, model=model)
    assert len(stage.server.seen) == 3, "it is not refused again"


async def test_a_template_without_a_system_gets_it_from_the_user(stage: Stage) -> None:
    fine = Answer([stage.speaker.stream(Speech(text="Yes."))])
    stage.server.plays(failing(400, {"error": {"message": "System role not supported"}}), fine)
    await stage.ask(SAY)
    (message,) = stage.server.seen[-1].json["messages"]
    assert message == {"role": "user", "content": "You are a test.\n\nSay something."}


THOUGHT = "<think>\nHm, <b> or </thi..\n</think>\n\nYes, <think> is a tag."


@pytest.mark.parametrize("size", [1, 3, 5, 100])
async def test_what_a_server_leaves_in_the_text_is_distinguished_from_it(stage: Stage, size: int) -> None:
    pieces = [{"content": THOUGHT[start : start + size]} for start in range(0, len(THOUGHT), size)]
    stage.server.plays(streamed(stage, *pieces, finish="stop"))
    deltas, reply = await stage.ask()
    assert reply.text == "Yes, <think> is a tag."
    assert reply.thinking.strip() == "Hm, <b> or </thi.."
    for kind, whole in (("text", reply.text), ("thinking", reply.thinking)):
        assert "".join(delta.text for delta in deltas if delta.kind == kind) == whole


@pytest.mark.parametrize("text", ["<", "<thin", " <b>bold</b>", "1 < 2", "\n\nYes."])
@pytest.mark.parametrize("size", [1, 100])
async def test_what_only_begins_like_a_thought_is_said(stage: Stage, text: str, size: int) -> None:
    pieces = [{"content": text[start : start + size]} for start in range(0, len(text), size)]
    stage.server.plays(streamed(stage, *pieces, finish="stop"))
    deltas, reply = await stage.ask()
    assert reply.text == text == "".join(delta.text for delta in deltas)
    assert reply.thinking == ""


async def test_what_is_said_may_come_in_parts(stage: Stage) -> None:
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}
    deltas = [{"content": [thought]}, {"content": [{"type": "text", "text": "Yes"}]}, {"content": "."}]
    stage.server.plays(streamed(stage, *deltas, finish="stop"))
    _, reply = await stage.ask()
    assert (reply.thinking, reply.text) == ("Hm.", "Yes.")


async def test_who_wants_short_names_for_calls_gets_them(stage: Stage) -> None:
    demand = "Tool call id was call_abc-1 but must be a-z, A-Z, 0-9, with a length of 9."
    fine = Answer([stage.speaker.stream(Speech(text="Yes."))])
    stage.server.plays(failing(400, {"error": {"message": demand}}), fine)
    stage_calls = [ToolUse(id=name, tool="read_file", args={}) for name in ("call_abc-1", "abcdefgh9")]
    done = [ToolReturn(id=call.id, tool="read_file", status="success", content="x") for call in stage_calls]
    _, reply = await stage.ask(SAY, ModelTurn(text="", calls=stage_calls), ToolTurn(returns=done))
    assert reply.text == "Yes."
    names = [what[0] for kind, what in stage.asked if kind == "call"]
    assert names == [what[0] for kind, what in stage.asked if kind == "result"]
    assert names[1] == "abcdefgh9" and all(len(name) == 9 and name.isalnum() for name in names)


@pytest.mark.parametrize(
    "demand",
    ["messages.2.reasoning_content: Extra inputs are not permitted", "property 'reasoning_content' is unsupported"],
)
async def test_who_does_not_want_back_what_was_thought_does_not_get_it(demand: str, tmp_path: Path) -> None:
    async with a_stage(Completions("openai"), tmp_path) as stage:
        call = streamed(stage, {"reasoning_content": "Hm."}, calls(piece(A, index=0, id="x")))
        fine = Answer([stage.speaker.stream(Speech(text="Yes."))])
        stage.server.plays(call, failing(400, {"error": {"message": demand}}), fine)
        model = stage.model()
        _, reply = await stage.ask(model=model)
        done = ToolTurn(returns=[ToolReturn(id="x", tool="read_file", status="success", content="x = 1")])
        _, last = await stage.ask(SAY, ModelTurn(text="", calls=reply.calls, kept=reply.kept), done, model=model)
        assert last.text == "Yes."
        assert b"Hm." in stage.server.seen[1].body and b"Hm." not in stage.server.seen[2].body


async def test_a_server_that_knows_no_streams_answers_in_one_piece(stage: Stage) -> None:
    called = {"content": "I look.", "tool_calls": [piece(A, id="one"), piece(B, id="two")]}
    body = {"choices": [{"index": 0, "message": called, "finish_reason": "tool_calls"}], "usage": {"prompt_tokens": 7}}
    stage.server.plays(Answer([json.dumps(body, indent=2).encode()], content_type="application/json; charset=utf-8"))
    deltas, reply = await stage.ask()
    assert [delta.text for delta in deltas] == ["I look."]
    assert (reply.text, reply.stop, reply.usage.input_tokens) == ("I look.", Stop.TOOL_USE, 7)
    assert [call.args for call in reply.calls] == [json.loads(A), json.loads(B)]


async def test_an_error_in_one_piece_is_an_error_though_the_status_says_that_all_is_well(stage: Stage) -> None:
    body = {"error": {"message": "the model is gone", "code": "model_not_found"}}
    stage.server.plays(Answer([json.dumps(body).encode()], content_type="application/json"))
    _, reply = await stage.ask()
    assert reply.failure is not None and reply.failure.code == "unknown_model"


@pytest.mark.parametrize("name", ["text/event-stream", "text/plain", "application/octet-stream"])
async def test_what_comes_in_one_piece_may_be_called_anything(stage: Stage, name: str) -> None:
    body = {"choices": [{"index": 0, "message": {"content": "Yes."}, "finish_reason": "stop"}]}
    stage.server.plays(Answer([json.dumps(body, indent=2).encode()], content_type=name))
    _, reply = await stage.ask()
    assert (reply.text, reply.failure) == ("Yes.", None)


async def test_who_says_it_all_again_at_the_end_is_heard_once(stage: Stage) -> None:
    again = {"content": "I look.", "tool_calls": [piece(A, index=0, id="one")]}
    said = [{"content": "I "}, {"content": "look."}, calls(piece(A, index=0, id="one"))]
    answer = streamed(stage, *said, finish=None)
    last = {"choices": [{"index": 0, "message": again, "finish_reason": "tool_calls"}], "usage": {"prompt_tokens": 7}}
    stage.server.plays(Answer([*answer.slices, stage.speaker.event(last)]))
    deltas, reply = await stage.ask()
    assert "".join(delta.text for delta in deltas) == reply.text == "I look."
    assert [call.args for call in reply.calls] == [json.loads(A)]
    assert reply.usage.input_tokens == 7


@pytest.mark.parametrize("finish", ["error", "insufficient_system_resource", "abort"])
async def test_a_reply_that_ended_for_no_good_reason_is_no_reply(stage: Stage, finish: str) -> None:
    said = streamed(stage, {"content": "Half a sen"}, calls(piece(A, index=0, id="x")), finish=finish)
    stage.server.plays(said)
    _, reply = await stage.ask(model=stage.alone())
    assert (reply.stop, reply.calls) == (Stop.FAILED, [])
    assert reply.failure and (reply.failure.code, reply.failure.retry) == ("model_unavailable", True)
    assert finish in reply.failure.message
