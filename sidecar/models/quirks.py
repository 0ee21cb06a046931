"""Adapts requests to what a server refuses: optional fields it rejects, demands of its chat template."""

import json
import re
from hashlib import sha256
from typing import Any

from sidecar.models.encoding import encode_json
from sidecar.wire.base import JsonObject

#: The two names of the reply limit. Some servers know only one of them, and some refuse the number.
_OLD, _NEW = "max_tokens", "max_completion_tokens"
#: Another way servers say that the reply limit is too large.
_TOO_MUCH = "in the completion"


class OptionalFields:
    def __init__(self, fields: JsonObject) -> None:
        self._fields: dict[str, Any] = dict(fields)
        self._refused: set[str] = set()

    def sent(self, more: JsonObject) -> JsonObject:
        return {name: value for name, value in {**self._fields, **more}.items() if name not in self._refused}

    def drop_refused(self, complaint: str, sent: JsonObject) -> bool:
        """Drop the field that the server complains about; False if it names none."""
        refused = next((name for name in sent if name in complaint), None)
        if refused in (None, _OLD, _NEW):
            refused = self._other_limit(complaint, sent)
        if refused is not None:
            self._refused.add(refused)
        return refused is not None

    def _other_limit(self, complaint: str, sent: JsonObject) -> str | None:
        limit = next((name for name in (_OLD, _NEW) if name in sent), None)
        if limit is None or not any(words in complaint for words in (_OLD, _NEW, _TOO_MUCH)):
            return None
        if limit == _OLD and _NEW in complaint and "supported" in complaint:
            self._fields[_NEW] = self._fields[_OLD]
        return limit


_Messages = list[dict[str, Any]]


class TemplateDemands:
    """Demands learned from refusals and met from then on. Most servers make none."""

    def __init__(self) -> None:
        self._made: set[str] = set()

    def learn(self, complaint: str) -> bool:
        """Remember the demands in a refusal; False if none is new."""
        new = {name for name, words in _DEMANDS.items() if words.search(complaint)} - self._made
        self._made |= new
        return bool(new)

    def apply(self, messages: bytes) -> bytes:
        if not self._made:
            return messages
        fitted: _Messages = json.loads(b"[" + messages + b"]")
        for name, meet in _MEET.items():
            if name in self._made:
                fitted = meet(fitted)
        return encode_json(fitted)[1:-1]


def _without_system(messages: _Messages) -> _Messages:
    return _in_turns([{**each, "role": "user"} if each["role"] == "system" else each for each in messages])


def _in_turns(messages: _Messages) -> _Messages:
    fitted: _Messages = []
    for message in messages:
        if fitted and fitted[-1]["role"] == message["role"] == "user":
            fitted[-1] = {"role": "user", "content": _joined(fitted[-1]["content"], message["content"])}
        else:
            fitted.append(message)
    return fitted


def _joined(one: Any, other: Any) -> Any:
    if isinstance(one, str) and isinstance(other, str):
        return f"{one}\n\n{other}"
    return [*_parts(one), *_parts(other)]


def _parts(content: Any) -> list[Any]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def _without_thoughts(messages: _Messages) -> _Messages:
    return [{name: value for name, value in each.items() if not name.startswith("reasoning")} for each in messages]


def _with_short_ids(messages: _Messages) -> _Messages:
    """Mistral accepts only ids of nine letters and digits."""
    for message in messages:
        for call in message.get("tool_calls", ()):
            call["id"] = _nine(call["id"])
        if "tool_call_id" in message:
            message["tool_call_id"] = _nine(message["tool_call_id"])
    return messages


def _nine(name: str) -> str:
    return name if re.fullmatch(r"[a-zA-Z0-9]{9}", name) else sha256(name.encode()).hexdigest()[:9]


_DEMANDS = {
    "no system": re.compile(
        r"system (role|message).{0,20}(not supported|unsupported)|does(n't| not) support system", re.I
    ),
    "turns": re.compile(r"roles must alternate|alternat\w+ (between )?user", re.I),
    "no thoughts": re.compile(
        r"reasoning(_content)?\b.{0,60}(not supported|unsupported|not permitted|unexpected|unknown|not allowed)",
        re.I | re.S,
    ),
    "short ids": re.compile(r"id was .{1,80} but must be .{1,40} length of 9", re.I | re.S),
}
_MEET = {
    "no system": _without_system,
    "turns": _in_turns,
    "no thoughts": _without_thoughts,
    "short ids": _with_short_ids,
}
