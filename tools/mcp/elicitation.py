"""What a server asks during a call, put to you as questions. Field by field, and you may always decline."""

import json
from collections.abc import Awaitable, Callable
from typing import Any

from tools.ledger import Question
from tools.mcp.listing import clean

DECLINE = "decline"
_DONE = "done"
_YES, _NO = "yes", "no"
_MAX_FIELDS = 12
_MAX_CHOICES = 20
_MAX_TEXT = 1_000
_MAX_TRIES = 3

Choose = Callable[[Question], Awaitable[str]]


class Elicitation:
    """Answers the elicitations of one call. `call_id` makes the questions' ids stable."""

    def __init__(self, server: str, call_id: str, choose: Choose | None) -> None:
        self._server = server
        self._call_id = call_id
        self._choose = choose
        self._asked = 0

    async def answer(self, params: Any) -> Any:
        from mcp_types import ElicitResult

        if self._choose is None:
            return ElicitResult(action="decline")
        message = f"The MCP server {self._server} asks: {clean(str(params.message))[:_MAX_TEXT]}"
        url = getattr(params, "url", None)
        if url is not None:
            text = f"{message}\nIt wants you to open {clean(str(url))[:_MAX_TEXT]} yourself. Answer when you have."
            done = await self._ask(text, (_DONE, DECLINE)) == _DONE
            return ElicitResult(action="accept" if done else "decline")
        schema = params.requested_schema if isinstance(params.requested_schema, dict) else {}
        fields = list((schema.get("properties") or {}).items())[:_MAX_FIELDS]
        content: dict[str, Any] = {}
        for name, field in fields:
            try:
                value = await self._field(message, str(name), field if isinstance(field, dict) else {})
            except _Declined:
                return ElicitResult(action="decline")
            if value is not None:
                content[name] = value
        if not fields and await self._ask(message, (_YES, DECLINE)) == DECLINE:
            return ElicitResult(action="decline")
        return ElicitResult(action="accept", content=content)

    async def _field(self, message: str, name: str, field: dict[str, Any]) -> Any:
        label = clean(str(field.get("title") or field.get("description") or name))[:200]
        text = f"{message}\n{label}" if label else message
        kind = field.get("type")
        choices = _choices(field)
        if kind == "boolean":
            answer = await self._ask(text, (_YES, _NO, DECLINE))
            _check(answer)
            return answer == _YES if answer else field.get("default", False)
        if choices and kind == "array":
            answer = await self._ask(f"{text}\nChoose from {', '.join(choices)}; commas between.", ())
            _check(answer)
            return [choices[each.strip()] for each in answer.split(",") if each.strip() in choices]
        if choices:
            answer = await self._ask(text, (*choices, DECLINE))
            _check(answer)
            return choices.get(answer, field.get("default"))
        if "default" in field:
            text += f"\nWith no answer: {clean(json.dumps(field['default']))[:200]}"
        for _ in range(_MAX_TRIES):
            answer = await self._ask(text, ())
            _check(answer)
            if not answer.strip():
                return field.get("default")
            if kind not in ("number", "integer"):
                return answer
            try:
                return int(answer) if kind == "integer" else float(answer)
            except ValueError:
                text = f"{text}\n{answer[:50]!r} is not a number."
        raise _Declined

    async def _ask(self, text: str, choices: tuple[str, ...]) -> str:
        assert self._choose is not None
        self._asked += 1
        return await self._choose(Question(f"{self._call_id}:mcp{self._asked}", text, DECLINE, choices))


class _Declined(Exception):
    pass


def _check(answer: str) -> None:
    if answer.strip() == DECLINE:
        raise _Declined


def _choices(field: dict[str, Any]) -> dict[str, str]:
    """The allowed values by what you see of them."""
    source = field.get("items") if isinstance(field.get("items"), dict) else field
    assert isinstance(source, dict)
    options = source.get("oneOf") or source.get("anyOf")
    if isinstance(options, list):
        named = [each for each in options if isinstance(each, dict) and isinstance(each.get("const"), str)]
        return {clean(str(each.get("title") or each["const"]))[:80]: each["const"] for each in named[:_MAX_CHOICES]}
    values = source.get("enum")
    names = source.get("enumNames")
    if not isinstance(values, list):
        return {}
    shown = names if isinstance(names, list) and len(names) == len(values) else values
    return {clean(str(name))[:80]: str(value) for name, value in list(zip(shown, values, strict=True))[:_MAX_CHOICES]}
