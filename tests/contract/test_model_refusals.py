"""What providers really say when they do not answer, and what is made of it: each in its own words and its own form."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from sidecar.models.errors import Failure
from tests.contract.servers.http import Answer, failing
from tests.contract.servers.speech import Speech
from tests.contract.servers.stage import CANARY, SPEAKERS, Stage, a_stage

BY_NAME = {speaker.provider: speaker for speaker in SPEAKERS}


@asynccontextmanager
async def on(provider: str, tmp_path: Path) -> AsyncIterator[Stage]:
    async with a_stage(BY_NAME[provider], tmp_path) as stage:
        yield stage


def body(provider: str, message: str, code: str | None = None, **more: Any) -> dict[str, Any]:
    if provider == "anthropic":
        return {"type": "error", "error": {"type": code or "invalid_request_error", "message": message}}
    if provider == "gemini":
        return {"error": {"message": message, "status": code or "INVALID_ARGUMENT", **more}}
    return {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": code, **more}}


async def failed(stage: Stage, *answers: Answer) -> Failure:
    """What is said of the first answer, without anybody asking again."""
    stage.server.plays(*answers)
    _, reply = await stage.ask(model=stage.alone())
    assert reply.failure is not None
    return reply.failure


TIER = "Need more tokens? Upgrade to Dev Tier today at https://console.example/settings/billing"
TOO_LONG = [
    ("anthropic", 400, "prompt is too long: 208310 tokens > 200000 maximum", None),
    ("anthropic", 400, "input length and `max_tokens` exceed context limit: 195000 + 16000 > 200000", None),
    ("anthropic", 413, "Request exceeds the maximum size", "request_too_large"),
    ("gemini", 400, "The input token count (1048580) exceeds the maximum number of tokens allowed (1048576).", None),
    (
        "groq",
        413,
        f"Request too large for model `x` on tokens per minute (TPM): Limit 6000. {TIER}",
        "rate_limit_exceeded",
    ),
    ("groq", 400, "Please reduce the length of the messages or completion.", "context_length_exceeded"),
    ("openai", 400, "This model's maximum context length is 8192 tokens.", "context_length_exceeded"),
    (
        "openai",
        429,
        "Request too large for x on tokens per min (TPM): Limit 30000, Requested 40000.",
        "rate_limit_exceeded",
    ),
    ("openai", 400, "the request exceeds the available context size. try increasing it", "exceed_context_size_error"),
    ("openai", 400, "The decoder prompt (length 5000) is longer than the maximum model length of 4096.", None),
    ("openai", 400, "Your input exceeds the context window of this model.", "context_length_exceeded"),
]


@pytest.mark.parametrize(("provider", "status", "message", "code"), TOO_LONG)
async def test_too_long_is_understood_in_everybodys_words(
    provider: str, status: int, message: str, code: str | None, tmp_path: Path
) -> None:
    async with on(provider, tmp_path) as stage:
        failure = await failed(stage, failing(status, body(provider, message, code)))
        assert (failure.code, failure.retry) == ("context_overflow", False)


async def test_who_only_has_to_wait_has_not_run_out_of_credit(tmp_path: Path) -> None:
    """Both say where more can be bought, in the very words of those who have none left."""
    async with on("groq", tmp_path) as stage:
        said = body(
            "groq", f"Rate limit reached for model `x`. Please try again in 7.66s. {TIER}", "rate_limit_exceeded"
        )
        failure = await failed(stage, failing(429, said, retry_after="8"))
        assert (failure.code, failure.retry, failure.retry_after) == ("rate_limited", True, 8)
    quota = "You exceeded your current quota, please check your plan and billing details."
    async with on("gemini", tmp_path) as stage:
        info = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.07s"}
        failure = await failed(stage, failing(429, body("gemini", quota, "RESOURCE_EXHAUSTED", details=[info])))
        assert (failure.code, failure.retry, failure.retry_after) == ("rate_limited", True, 34.07)
    async with on("openai", tmp_path) as stage:
        failure = await failed(stage, failing(429, body("openai", quota, "insufficient_quota")))
        assert (failure.code, failure.retry) == ("no_credit", False)


@pytest.mark.parametrize(
    ("headers", "least", "most"),
    [
        ({"retry_after_ms": "1500", "retry_after": "2"}, 1.5, 1.5),
        ({"retry_after": "Wed, 21 Oct 2199 07:28:00 GMT"}, 1e9, 1e10),
        ({"retry_after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0, 0),
        ({"retry_after": "-3"}, 0, 0),
    ],
)
async def test_a_pause_may_be_asked_for_in_several_ways(
    headers: dict[str, str], least: float, most: float, tmp_path: Path
) -> None:
    async with on("openai", tmp_path) as stage:
        failure = await failed(stage, failing(429, body("openai", "Slow down."), **headers))
        assert failure.retry_after is not None and least <= failure.retry_after <= most


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("Please try again in 7.66s. Visit us.", 7.66),
        ("Please try again in 1m7.5s.", 67.5),
        ("Please retry in 820ms", 0.82),
        ("Try again in 2h3m.", 7380),
        ("You have exceeded the token rate limit. Please retry after 20 seconds.", 20),
        ("Try again in 2 minutes.", 120),
        ("Try again in 1 hour 30 seconds.", 3630),
        ("Try again in a while.", None),
        ("Slow down.", None),
    ],
)
async def test_a_pause_may_be_asked_for_in_words(said: str, seconds: float | None, tmp_path: Path) -> None:
    async with on("openai", tmp_path) as stage:
        failure = await failed(stage, failing(429, body("openai", said, "rate_limit_exceeded")))
        assert (failure.code, failure.retry_after) == ("rate_limited", seconds)


@pytest.mark.parametrize("given", ["soon", "inf", "nan"])
async def test_a_pause_that_is_none_is_left_to_us(given: str, tmp_path: Path) -> None:
    async with on("openai", tmp_path) as stage:
        failure = await failed(stage, failing(429, body("openai", "Slow down."), retry_after=given))
        assert (failure.code, failure.retry_after) == ("rate_limited", None)


async def test_a_key_that_expired_and_a_model_that_may_not_be_used_are_distinguished(tmp_path: Path) -> None:
    async with on("gemini", tmp_path) as stage:
        reason = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}
        failure = await failed(stage, failing(400, body("gemini", "It is no good any more.", details=[reason])))
        assert failure.code == "bad_key"
    async with on("openai", tmp_path) as stage:
        said = body("openai", "Project `p` does not have access to model `m`", "model_not_found")
        failure = await failed(stage, failing(403, said))
        assert failure.code == "unknown_model" and "Project `p`" in failure.message


async def test_whoever_is_refused_for_something_else_than_the_key_is_told_so(tmp_path: Path) -> None:
    async with on("openai", tmp_path) as stage:
        said = body("openai", f"Country not supported, says {CANARY}.", "unsupported_country_region_territory")
        failure = await failed(stage, failing(403, said))
        assert failure.code == "bad_key" and "Country not supported" in failure.message
        assert CANARY not in failure.message


@pytest.mark.parametrize("provider", BY_NAME)
async def test_what_a_server_of_another_make_says_is_shown_too(provider: str, tmp_path: Path) -> None:
    async with on(provider, tmp_path) as stage:
        for said in ({"detail": "No such field."}, {"error": "No such field"}, {"message": "No such field."}):
            failure = await failed(stage, failing(422, said))
            assert failure.code == "bad_request" and "(422): No such field." in failure.message
        failure = await failed(stage, failing(422, {"detail": [{"loc": ["body"], "msg": "field required"}]}))
        assert "field required" in failure.message


async def test_a_call_that_the_provider_could_not_read_is_asked_for_again(tmp_path: Path) -> None:
    async with on("groq", tmp_path) as stage:
        said = body("groq", "Failed to call a function.", "tool_use_failed", failed_generation="<function=x>")
        failure = await failed(stage, failing(400, said))
        assert (failure.code, failure.retry) == ("garbled_reply", True)


IN_STREAM = [
    (
        "anthropic",
        {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
        "model_unavailable",
    ),
    ("anthropic", {"type": "error", "error": {"type": "timeout_error", "message": "Slow"}}, "model_unavailable"),
    ("anthropic", {"type": "error", "error": {"type": "rate_limit_error", "message": "Many"}}, "rate_limited"),
    (
        "anthropic",
        {"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long"}},
        "context_overflow",
    ),
    ("gemini", {"error": {"code": 503, "message": "Overloaded.", "status": "UNAVAILABLE"}}, "model_unavailable"),
    ("gemini", {"error": {"code": 429, "message": "Many.", "status": "RESOURCE_EXHAUSTED"}}, "rate_limited"),
    ("openai", {"error": {"code": 400, "message": "It exceeds the available context size."}}, "context_overflow"),
    ("openai", {"error": {"code": "context_length_exceeded", "message": "Too long."}}, "context_overflow"),
    ("openai", {"error": {"type": "server_error", "message": "Oops."}}, "model_unavailable"),
    ("openai", {"error": "unexpected EOF"}, "model_unavailable"),
    ("openai", {"error": {"type": "new", "code": "never_heard_of", "message": "Oops."}}, "model_unavailable"),
    ("openai", {"error": {"code": 502, "message": "Provider returned error"}}, "model_unavailable"),
    ("openai", {"error": {"code": "429", "message": "Many."}}, "rate_limited"),
    ("gemini", {"error": {"message": "Many.", "status": "RESOURCE_EXHAUSTED"}}, "rate_limited"),
    ("groq", {"error": {"code": "tool_use_failed", "message": "Failed to call.", "status_code": 400}}, "garbled_reply"),
    ("groq", {"choices": [], "x_groq": {"error": "over capacity"}}, "model_unavailable"),
]


@pytest.mark.parametrize(("provider", "event", "code"), IN_STREAM)
async def test_an_error_inside_a_stream_is_what_it_says_it_is(
    provider: str, event: dict[str, Any], code: str, tmp_path: Path
) -> None:
    async with on(provider, tmp_path) as stage:
        begun = stage.speaker.stream(Speech(text="Half a sen", unfinished=True)).split(b"event: message_delta")[0]
        stage.server.plays(Answer([begun, stage.speaker.event(event)]))
        failure = await failed(stage, *stage.server.answers)
        assert failure.code == code
        assert failure.retry is (code != "context_overflow")
        inner = event.get("error") or event["x_groq"]["error"]
        assert (inner if isinstance(inner, str) else inner["message"]).rstrip(".") in failure.message


@pytest.mark.parametrize("provider", BY_NAME)
@pytest.mark.parametrize("listed", [False, True])
async def test_an_error_may_come_instead_of_a_stream_though_the_status_says_that_all_is_well(
    provider: str, listed: bool, tmp_path: Path
) -> None:
    async with on(provider, tmp_path) as stage:
        info = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "7s"}
        error = {"error": {"code": 429, "message": "Many.", "details": [info]}}
        said = json.dumps([error] if listed else error, indent=2).encode()
        failure = await failed(stage, Answer([said], content_type="application/json"))
        assert (failure.code, failure.retry_after) == ("rate_limited", 7)


@pytest.mark.parametrize("provider", BY_NAME)
async def test_an_error_in_a_list_is_read_like_any_other(provider: str, tmp_path: Path) -> None:
    """As Gemini sends it to those who ask in the dialect of others."""
    async with on(provider, tmp_path) as stage:
        info = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34s"}
        error = {"code": 429, "message": "You exceeded your quota.", "status": "RESOURCE_EXHAUSTED", "details": [info]}
        failure = await failed(stage, failing(429, [{"error": error}]))
        assert (failure.code, failure.retry_after) == ("rate_limited", 34)
        assert failure.message.endswith(": You exceeded your quota.")


PAGE = b"<!DOCTYPE html>\n<html><head><style>h1 {color: red}</style></head><body><h1>502 Bad Gateway</h1></body></html>"


@pytest.mark.parametrize("provider", BY_NAME)
async def test_of_a_page_the_words_are_shown(provider: str, tmp_path: Path) -> None:
    async with on(provider, tmp_path) as stage:
        failure = await failed(stage, Answer([PAGE], status=502, content_type="text/html"))
        assert failure.code == "model_unavailable" and failure.message.endswith("(502): 502 Bad Gateway.")


@pytest.mark.parametrize("provider", BY_NAME)
async def test_a_page_instead_of_a_reply_is_called_a_page(provider: str, tmp_path: Path) -> None:
    async with on(provider, tmp_path) as stage:
        failure = await failed(stage, Answer([PAGE], content_type="text/html"))
        assert failure.code == "model_unreachable"
        assert "web page" in failure.message and "base URL" in failure.message


async def test_an_error_may_have_a_line_of_its_own_kind(tmp_path: Path) -> None:
    """As llama.cpp said it for a long time."""
    async with on("openai", tmp_path) as stage:
        begun = stage.speaker.stream(Speech(text="Half a sen", unfinished=True))
        error = {
            "code": 400,
            "message": "the request exceeds the available context size",
            "type": "invalid_request_error",
        }
        failure = await failed(stage, Answer([begun, f"error: {json.dumps(error)}\n\n".encode()]))
        assert (failure.code, failure.retry) == ("context_overflow", False)


OPTIONAL = [
    (
        "openai",
        "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead.",
        "max_tokens",
    ),
    ("openai", "'max_tokens' or 'max_completion_tokens' is too large: 16000.", "max_tokens"),
    ("openai", "However, you requested 20096 tokens (4096 in the messages, 16000 in the completion).", "max_tokens"),
    ("openai", "Unrecognized request argument supplied: stream_options", "stream_options"),
    ("groq", "`max_completion_tokens` must be less than or equal to `8192`", "max_completion_tokens"),
    ("gemini", "it has a maxOutputTokens value of 16000 but the supported range is to 8193", "maxOutputTokens"),
    ("gemini", "Thinking is not enabled for models/x", "thinkingConfig"),
]


@pytest.mark.parametrize(("provider", "complaint", "field"), OPTIONAL)
async def test_what_a_server_does_not_take_is_left_out_from_then_on(
    provider: str, complaint: str, field: str, tmp_path: Path
) -> None:
    async with on(provider, tmp_path) as stage:
        fine = Answer([stage.speaker.stream(Speech(text="Yes."))])
        stage.server.plays(failing(400, body(provider, complaint)), fine)
        model = stage.model()
        for _ in range(2):
            _, reply = await stage.ask(model=model)
            assert reply.text == "Yes."
        first, second, third = (seen.body.decode() for seen in stage.server.seen)
        assert f'"{field}":' in first
        assert f'"{field}":' not in second + third
        if "Use 'max_completion_tokens'" in complaint:
            assert '"max_completion_tokens":16000' in second


async def test_claude_is_allowed_what_it_can_write(tmp_path: Path) -> None:
    said = "max_tokens: 16000 > 8192, which is the maximum allowed number of output tokens for claude-3-5-sonnet"
    async with on("anthropic", tmp_path) as stage:
        stage.server.plays(failing(400, body("anthropic", said)), Answer([stage.speaker.stream(Speech(text="Yes."))]))
        _, reply = await stage.ask()
        assert reply.text == "Yes."
        assert [seen.json["max_tokens"] for seen in stage.server.seen] == [16000, 8192]


async def test_a_server_that_takes_nothing_is_not_asked_for_ever(tmp_path: Path) -> None:
    async with on("openai", tmp_path) as stage:
        said = "max_tokens, max_completion_tokens and stream_options are not supported"
        failure = await failed(stage, failing(400, body("openai", said)))
        assert failure.code == "bad_request"
        assert len(stage.server.seen) <= 4


@pytest.mark.parametrize("name", ["../../evil", "x?alt=json&key=1", "a b", "models/../x", "a\nb", "x#y"])
async def test_the_name_of_a_model_is_no_way_to_another_address(name: str, tmp_path: Path) -> None:
    async with on("gemini", tmp_path) as stage:
        stage.says(Speech(text="Yes."))
        _, reply = await stage.ask(model=stage.model(f"gemini/{name}"))
        assert reply.failure and reply.failure.code == "unknown_model"
        assert stage.server.seen == []


@pytest.mark.parametrize("name", ["gemini-3.8-flash", "models/gemini-3.8-flash", "tunedModels/mine-1"])
async def test_a_model_of_gemini_may_be_named_with_its_folder(name: str, tmp_path: Path) -> None:
    async with on("gemini", tmp_path) as stage:
        stage.says(Speech(text="Yes."))
        await stage.ask(model=stage.model(f"gemini/{name}"))
        assert name.rpartition("/")[2] + ":" in stage.server.seen[0].path
        assert "models/models" not in stage.server.seen[0].path
