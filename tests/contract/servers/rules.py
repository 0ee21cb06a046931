"""What each provider refuses: a request that breaks one of these is answered with 400 by the real server."""

import json
import re
from typing import Any

import pytest

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_SIZE_OF_AN_ID = 40


def check(path: str, body: bytes) -> None:
    request = json.loads(body, parse_constant=pytest.fail)
    if path.endswith("/chat/completions"):
        _completions(request["messages"])
    elif path.endswith("/messages"):
        _anthropic(request)
    else:
        _gemini(request["contents"])


def _completions(messages: list[Any]) -> None:
    waiting: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            assert message["tool_call_id"] in waiting, "a result without its call"
            waiting.remove(message["tool_call_id"])
            assert message["content"]
            continue
        assert not waiting, f"calls without results: {waiting}"
        assert message["content"] or message.get("tool_calls"), "an empty message"
        for call in message.get("tool_calls", ()):
            assert call["type"] == "function" and _NAME.fullmatch(call["function"]["name"])
            assert isinstance(json.loads(call["function"]["arguments"], parse_constant=pytest.fail), dict)
            assert 0 < len(call["id"]) <= _SIZE_OF_AN_ID
            waiting.append(call["id"])
        assert len(waiting) == len(set(waiting)), "two calls with one id"
    assert not waiting, f"calls without results: {waiting}"
    assert messages[-1]["role"] in ("user", "tool")


def _anthropic(request: dict[str, Any]) -> None:
    assert json.dumps(request).count('"cache_control"') <= 4
    messages = request["messages"]
    assert messages[0]["role"] == messages[-1]["role"] == "user"
    open_calls: list[str] = []
    for message in messages:
        assert message["content"], "an empty message"
        results = [block["tool_use_id"] for block in message["content"] if block["type"] == "tool_result"]
        assert sorted(results) == sorted(open_calls), "every call has its result in the very next message"
        kinds = [block["type"] for block in message["content"]]
        assert kinds[: len(results)] == ["tool_result"] * len(results), "results come first"
        open_calls = []
        for block in message["content"]:
            match block["type"]:
                case "text":
                    assert block["text"].strip(), "an empty text"
                case "thinking":
                    assert block["signature"]
                case "tool_use":
                    assert _NAME.fullmatch(block["id"]) and _NAME.fullmatch(block["name"])
                    assert isinstance(block["input"], dict)
                    open_calls.append(block["id"])
        assert len(open_calls) == len(set(open_calls)), "two calls with one id"


def _gemini(contents: list[Any]) -> None:
    assert contents[0]["role"] == contents[-1]["role"] == "user"
    calls: list[dict[str, Any]] = []
    for content in contents:
        assert content["parts"], "an empty content"
        answers = [part["functionResponse"] for part in content["parts"] if "functionResponse" in part]
        assert [(each["name"], each.get("id")) for each in answers] == [
            (each["functionCall"]["name"], each["functionCall"].get("id")) for each in calls
        ], "as many responses as calls, in the very next content"
        calls = [part for part in content["parts"] if "functionCall" in part]
        assert not calls or content["role"] == "model"
        assert not calls or calls[0].get("thoughtSignature"), "the first call of a turn has a signature"
    assert not calls
