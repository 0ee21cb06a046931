"""Models that know no tools: told in words what there is, and held by a JSON schema to a form that can be read."""

import json
import re
from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing
from typing import Any

from sidecar.models.calls import Calls, Draft
from sidecar.models.chunks import Reading
from sidecar.models.completions import Completions, asked
from sidecar.models.errors import Unusable
from sidecar.models.history import Fragments, encoded, results
from sidecar.models.port import Delta, Failure, ModelTurn, Reply, Request, Stop, ToolTurn, Turn, UserTurn
from sidecar.models.prices import Price
from sidecar.models.remote import Head, lively
from sidecar.wire.base import JsonObject
from sidecar.wire.tools import ToolInfo

_FENCED = re.compile(r"```(?:json)?\s*(\{.*\})\s*```", re.S)
_HOW = """

You answer with one JSON object: {"say": "...", "calls": [{"tool": "...", "args": {...}}]}.
`say` is what the person reads. `calls` are the tools that you want to use now; you are then told what came of them.
When nothing more is to be done, `calls` is empty. The tools, with their arguments (? may be left out):
"""


class Plain:
    def __init__(self, completions: Completions, price: Price | None) -> None:
        self._completions = completions
        self._price = price
        self._head = Head()
        self._calls = Calls()
        self._fragments = Fragments(_messages)

    async def parts(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        head = self._head.written(request, lambda _: self._completions.fields())
        system = encoded({"role": "system", "content": request.system + _HOW + _listed(request.tools)})
        messages = b",".join(part for part in (system, self._fragments.joined(request.history)) if part)
        reading = Reading(len(head) + len(messages))
        async with aclosing(self._completions.chunks(head, messages, _form(request.tools))) as pieces:
            async for chunks in pieces:
                for delta in lively(delta for chunk in chunks for delta in reading.take(chunk)):
                    # What is written is JSON, which nobody wants to watch; that something comes is still to be known.
                    yield delta if delta.kind == "thinking" else Delta("")
        broken = self._completions.unusable(reading)
        if broken is not None:
            # Half of a form is nothing to show.
            yield broken.model_copy(update={"text": ""})
            return
        text, drafts = _read(reading.text)
        calls = self._calls.finished(drafts, request.history)
        if text:
            yield Delta(text)
        stop = Stop.TOOL_USE if calls else Stop.END
        usage = reading.usage(self._price)
        yield Reply(text=text, thinking=reading.thinking, calls=calls, stop=stop, usage=usage)


def _form(tools: Iterable[ToolInfo]) -> JsonObject:
    schema: dict[str, Any] = {"name": "answer", "schema": _schema(tools)}
    return {"response_format": {"type": "json_schema", "json_schema": schema}}


def _schema(tools: Iterable[ToolInfo]) -> JsonObject:
    calls = [
        {
            "type": "object",
            "properties": {"tool": {"const": tool.name}, "args": _arguments(tool)},
            "required": ["tool", "args"],
        }
        for tool in tools
    ]
    properties: dict[str, Any] = {"say": {"type": "string"}, "calls": {"type": "array", "items": {"anyOf": calls}}}
    return {"type": "object", "properties": properties, "required": ["say", "calls"]}


def _arguments(tool: ToolInfo) -> JsonObject:
    # A reference has no meaning once the schema stands inside another; the tool checks the arguments in any case.
    return {"type": "object"} if "$defs" in tool.parameters else tool.parameters


def _listed(tools: Iterable[ToolInfo]) -> str:
    return "\n".join(f"- {tool.name} {_named(tool)}: {tool.description}" for tool in tools)


def _named(tool: ToolInfo) -> str:
    """The arguments by name; of which kind each is, the schema sees to."""
    properties, required = tool.parameters.get("properties"), tool.parameters.get("required")
    needed = required if isinstance(required, list) else []
    names = [name if name in needed else f"{name}?" for name in (properties if isinstance(properties, dict) else {})]
    return f"{{{', '.join(names)}}}"


def _read(text: str) -> tuple[str, list[Draft]]:
    """What is said and which calls are asked for. What is not in the form is taken as said, unless it is half of it."""
    found = _filled_in(text)
    if found is None:
        return text, []
    drafts = []
    for call in found.get("calls") or []:
        if isinstance(call, dict) and isinstance(call.get("tool"), str):
            args = call.get("args")
            drafts.append(Draft("call", call["tool"], args if isinstance(args, dict) else {}))
    return str(found.get("say") or ""), drafts


def _filled_in(text: str) -> dict[str, Any] | None:
    """A server that knows no schemas lets the model put the form into a block of code, with words around it."""
    fenced = _FENCED.search(text)
    form = (fenced[1] if fenced else text).strip()
    try:
        found = json.loads(form)
    except (ValueError, RecursionError) as error:
        if form.startswith(('{"say"', '{"calls"')):
            raise Unusable(
                Failure(code="garbled_reply", message=f"The model's reply was garbled ({error}).")
            ) from error
        return None
    known = isinstance(found, dict) and isinstance(found.get("calls") or [], list) and found.keys() & {"say", "calls"}
    return found if known else None


def _messages(turn: Turn, before: Turn | None) -> Iterable[object]:
    match turn:
        case UserTurn():
            yield asked(turn)
        case ModelTurn():
            calls = [{"tool": call.tool, "args": call.args} for call in turn.calls]
            answer = json.dumps({"say": turn.text, "calls": calls}, ensure_ascii=False)
            yield {"role": "assistant", "content": answer}
        case ToolTurn():
            calls_before = before.calls if isinstance(before, ModelTurn) else []
            told = "\n\n".join(f"{each.tool} ({each.status}):\n{each.content}" for each in results(calls_before, turn))
            yield {"role": "user", "content": f"What came of it:\n\n{told}"}
