"""Chat Completions for models without tool support.

`Chat` learns from the server whether a model supports tools. If not, `Plain` lists the tools in the prompt and asks for
a JSON object instead.
"""

import json
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from contextlib import aclosing
from typing import Any

from sidecar.models.calls import CallDraft, CallIds
from sidecar.models.chunks import ReplyReader
from sidecar.models.completions import Completions, user_message
from sidecar.models.encoding import encode_json
from sidecar.models.errors import Failure, ModelFailed
from sidecar.models.failures import lacks_tools
from sidecar.models.history import Fragments, results_in_order
from sidecar.models.local import LocalModel
from sidecar.models.port import Delta, ModelTurn, Reply, Request, Stop, ToolTurn, Turn, UserTurn
from sidecar.models.prices import Price
from sidecar.models.remote import RequestPrefix, visible_deltas
from sidecar.wire.base import JsonObject
from sidecar.wire.tools import ToolInfo

#: Average for text and code. Requests beyond the server's window are refused here: some servers truncate silently.
BYTES_PER_TOKEN = 4

#: Asks a local server for its context size and tool support. The argument says whether the model is loaded by now.
Probe = Callable[[bool], Awaitable[LocalModel]]


class Chat:
    def __init__(self, completions: Completions, price: Price | None, probe: Probe | None = None) -> None:
        self._probe = probe
        self._completions = completions
        self._plain = PlainChat(completions, price)
        self._supports_tools: bool | None = None
        self._asked_again = False

    async def parts(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        if self._supports_tools is None:
            self._supports_tools = await self._probe_server(loaded=False)
        elif not self._asked_again and self._completions.max_bytes is None:
            # Some servers know their context size only once the model is loaded.
            self._asked_again = True
            await self._probe_server(loaded=True)
        dialect = self._plain if request.tools and not self._supports_tools else self._completions
        try:
            async with aclosing(dialect.parts(request)) as parts:
                async for part in parts:
                    yield part
        except Exception as error:
            if not request.tools or dialect is self._plain or not lacks_tools(error):
                raise
            self._supports_tools = False
            async with aclosing(self._plain.parts(request)) as parts:
                async for part in parts:
                    yield part

    async def _probe_server(self, *, loaded: bool) -> bool:
        """Whether the model supports tools."""
        if self._probe is None:
            return True
        found = await self._probe(loaded)
        if found.context_tokens is not None:
            self._completions.max_bytes = found.context_tokens * BYTES_PER_TOKEN
        return found.tools is not False


_FENCED = re.compile(r"```(?:json)?\s*(\{.*\})\s*```", re.S)
_INSTRUCTIONS = """

Answer with one JSON object: {"say": "...", "calls": [{"tool": "...", "args": {...}}]}.
`say` is shown to the user. `calls` are the tools to run now; you get their results next.
When you are done, leave `calls` empty. The tools with their arguments (? is optional):
"""


class PlainChat:
    def __init__(self, completions: Completions, price: Price | None) -> None:
        self._completions = completions
        self._price = price
        self._prefix = RequestPrefix()
        self._call_ids = CallIds()
        self._fragments = Fragments(_messages)

    async def parts(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        head = self._prefix.render(request, lambda _: self._completions.fields())
        system = encode_json({"role": "system", "content": request.system + _INSTRUCTIONS + _list(request.tools)})
        messages = b",".join(part for part in (system, self._fragments.render(request.history)) if part)
        reader = ReplyReader(len(head) + len(messages))
        async with aclosing(self._completions.chunks(head, messages, _response_format(request.tools))) as pieces:
            async for chunks in pieces:
                for delta in visible_deltas(delta for chunk in chunks for delta in reader.take(chunk)):
                    # The text is JSON, not worth showing; the empty delta keeps the idle timer alive.
                    yield delta if delta.kind == "thinking" else Delta("")
        broken = self._completions.unusable(reader)
        if broken is not None:
            # Don't show half a JSON object.
            yield broken.model_copy(update={"text": ""})
            return
        text, drafts = _read(reader.text)
        calls = self._call_ids.finish(drafts, request.history)
        if text:
            yield Delta(text)
        stop = Stop.TOOL_USE if calls else Stop.END
        usage = reader.usage(self._price)
        yield Reply(text=text, thinking=reader.thinking, calls=calls, stop=stop, usage=usage)


def _response_format(tools: Iterable[ToolInfo]) -> JsonObject:
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
    # References don't resolve inside another schema; the tool validates the arguments anyway.
    return {"type": "object"} if "$defs" in tool.parameters else tool.parameters


def _list(tools: Iterable[ToolInfo]) -> str:
    return "\n".join(f"- {tool.name} {_named(tool)}: {tool.description}" for tool in tools)


def _named(tool: ToolInfo) -> str:
    """The argument names; the schema has the types."""
    properties, required = tool.parameters.get("properties"), tool.parameters.get("required")
    needed = required if isinstance(required, list) else []
    names = [name if name in needed else f"{name}?" for name in (properties if isinstance(properties, dict) else {})]
    return f"{{{', '.join(names)}}}"


def _read(text: str) -> tuple[str, list[CallDraft]]:
    """Text and calls of the reply. Free text counts as the answer, unless it is a truncated JSON object."""
    found = _parse_form(text)
    if found is None:
        return text, []
    drafts = []
    for call in found.get("calls") or []:
        if isinstance(call, dict) and isinstance(call.get("tool"), str):
            args = call.get("args")
            drafts.append(CallDraft("call", call["tool"], args if isinstance(args, dict) else {}))
    return str(found.get("say") or ""), drafts


def _parse_form(text: str) -> dict[str, Any] | None:
    """The JSON object, also inside a code fence with text around it."""
    fenced = _FENCED.search(text)
    form = (fenced[1] if fenced else text).strip()
    try:
        found = json.loads(form)
    except (ValueError, RecursionError) as error:
        if form.startswith(('{"say"', '{"calls"')):
            raise ModelFailed(
                Failure(code="garbled_reply", message=f"The model's reply was garbled ({error}).")
            ) from error
        return None
    known = isinstance(found, dict) and isinstance(found.get("calls") or [], list) and found.keys() & {"say", "calls"}
    return found if known else None


def _messages(turn: Turn, before: Turn | None) -> Iterable[object]:
    match turn:
        case UserTurn():
            yield user_message(turn)
        case ModelTurn():
            calls = [{"tool": call.tool, "args": call.args} for call in turn.calls]
            answer = json.dumps({"say": turn.text, "calls": calls}, ensure_ascii=False)
            yield {"role": "assistant", "content": answer}
        case ToolTurn():
            calls_before = before.calls if isinstance(before, ModelTurn) else []
            returns = results_in_order(calls_before, turn)
            text = "\n\n".join(f"{each.tool} ({each.status}):\n{each.content}" for each in returns)
            yield {"role": "user", "content": f"Results:\n\n{text}"}
