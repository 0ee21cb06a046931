"""Claude, over the Messages API."""

import re
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import aclosing
from typing import Any, TypeGuard

from sidecar.models import sse
from sidecar.models.access import Access
from sidecar.models.calls import Calls, Draft, another, safe
from sidecar.models.failures import complaint, thinking_is_bound
from sidecar.models.history import Fragments, encoded, results
from sidecar.models.port import (
    Delta,
    Kept,
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
from sidecar.models.prices import Price
from sidecar.models.remote import Head, counted, cut, declined, lively, no_room, too_long
from sidecar.wire.base import JsonObject
from sidecar.wire.tools import ToolInfo

PROVIDER = "anthropic"
#: These think by themselves, and say what they think only if they are asked to.
_THINKS = re.compile(r"claude-[a-z]+-([5-9]|\d\d)")
_MOST_TOKENS = re.compile(r"max_tokens: \d+ > (\d+)")
#: These take back what they thought only if everything before it is the same, the tools included.
_BINDS = re.compile(r"claude-(fable|mythos)-5-[1-9]|claude-[a-z]+-(5-[5-9]|[6-9]|\d\d)")


def client(access: Access) -> Any:
    from anthropic import AsyncAnthropic, DefaultAsyncHttpxClient, Timeout

    timeout = Timeout(access.timeout, connect=access.connect_timeout)
    # Asking again is ours, so that it can be told and bounded in one place for all providers.
    http = DefaultAsyncHttpxClient(timeout=timeout, **access.http)
    return AsyncAnthropic(
        api_key=access.key, base_url=access.base_url, max_retries=0, timeout=timeout, http_client=http
    )


class Messages:
    def __init__(self, name: str, client: Any, price: Price | None, reply_tokens: int) -> None:
        self._name = name
        self._client = client
        self._price = price
        self._reply_tokens = reply_tokens
        self._head = Head()
        self._calls = Calls()
        self._fragments = Fragments(self._messages)
        #: What was thought on the way to turns that have changed since, or what stood before them.
        self._gone: list[Kept] = []
        self._tools: Sequence[ToolInfo] | None = None

    async def parts(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        if _BINDS.match(self._name) and self._has_other(request.tools):
            self._let_go(request)
        self._tools = request.tools
        try:
            stream = await self._asked(request)
        except Exception as error:
            if not self._says_less(error) and not (thinking_is_bound(error) and self._let_go(request)):
                raise
            stream = await self._asked(request)
        reading = _Reading()
        async with stream, aclosing(sse.chunks(stream.response.aiter_bytes())) as pieces:
            async for events in pieces:
                for delta in lively(delta for event in events if (delta := reading.take(event)) is not None):
                    yield delta
        yield self._reply(reading, request)

    async def _asked(self, request: Request) -> Any:
        from anthropic import AsyncStream

        body = self._head.written(request, self._fields)
        body = b"".join((body, b',"messages":[', self._fragments.joined(request.history), b"]}"))
        return await self._client.post(
            "/v1/messages", content=body, cast_to=object, stream=True, stream_cls=AsyncStream[object]
        )

    def _says_less(self, error: Exception) -> bool:
        """Older models write less at once than is allowed here, and refuse to be allowed more."""
        most = _MOST_TOKENS.search(complaint(error))
        if most is None or int(most[1]) >= self._reply_tokens:
            return False
        self._reply_tokens = int(most[1])
        self._head = Head()
        return True

    def _has_other(self, tools: Sequence[ToolInfo]) -> bool:
        return self._tools is not None and self._tools is not tools and list(self._tools) != list(tools)

    def _let_go(self, request: Request) -> bool:
        """What was thought belongs to exactly what came before it. If that was shortened, or tools were added since, it
        is not taken back any more: the same turns are then said without it."""
        thought = [turn.kept for turn in request.history if isinstance(turn, ModelTurn) and self._is_own(turn.kept)]
        self._gone += thought
        self._fragments = Fragments(self._messages)
        return bool(thought)

    def _is_own(self, kept: Kept | None) -> TypeGuard[Kept]:
        own = kept is not None and (kept.provider, kept.model) == (PROVIDER, self._name)
        return own and all(kept is not each for each in self._gone)

    def _fields(self, request: Request) -> JsonObject:
        fields: dict[str, Any] = {
            "model": self._name,
            "max_tokens": self._reply_tokens,
            "stream": True,
            # What comes before this point is the same for every task of the agent; what follows is cached turn by turn.
            "system": [{"type": "text", "text": request.system, "cache_control": {"type": "ephemeral"}}],
            "cache_control": {"type": "ephemeral"},
        }
        if _THINKS.match(self._name):
            fields["thinking"] = {"type": "adaptive", "display": "summarized"}
        if request.tools:
            fields["tools"] = [
                {"name": tool.name, "description": tool.description, "input_schema": tool.parameters}
                for tool in request.tools
            ]
        return fields

    def _messages(self, turn: Turn, before: Turn | None) -> Iterable[object]:
        match turn:
            case UserTurn():
                content: list[Any] = [
                    {"type": "image", "source": {"type": "base64", "media_type": each.media_type, "data": each.data}}
                    for each in turn.images
                ]
                if turn.text.strip():
                    content.append({"type": "text", "text": turn.text})
                if content:
                    yield {"role": "user", "content": content}
            case ModelTurn():
                blocks = self._blocks(turn)
                if blocks:
                    yield {"role": "assistant", "content": blocks}
            case ToolTurn():
                calls = before.calls if isinstance(before, ModelTurn) else []
                yield {"role": "user", "content": [_result(each) for each in results(calls, turn)]}

    def _blocks(self, turn: ModelTurn) -> list[Any]:
        if self._is_own(turn.kept):
            return list(turn.kept.content)
        said: list[Any] = [{"type": "text", "text": turn.text}] if turn.text.strip() else []
        return said + [_tool_use(call) for call in turn.calls]

    def _reply(self, reading: "_Reading", request: Request) -> Reply:
        usage = reading.usage(self._price)
        if not reading.stopped:
            return cut(PROVIDER)
        match reading.stop_reason:
            case "refusal":
                return declined(PROVIDER, usage, "", reading.text)
            case "max_tokens" | "pause_turn":
                # A turn that takes long may be paused; it goes on when it is told to.
                return too_long(usage, reading.text, reading.thinking)
            case "model_context_window_exceeded":
                return no_room(f"{PROVIDER}/{self._name}", usage)
        calls = self._calls.finished(reading.drafts.values(), request.history)
        return Reply(
            text=reading.text,
            thinking=reading.thinking,
            calls=calls,
            stop=Stop.TOOL_USE if calls else Stop.END,
            usage=usage,
            kept=reading.kept(calls, self._name),
        )


class _Reading:
    """What has come of a reply so far."""

    def __init__(self) -> None:
        self._blocks: dict[int, dict[str, Any]] = {}
        #: What a block's texts are made of, by their names. Joined once: a text that grows word by word would be copied
        #: with every word.
        self._pieces: dict[int, dict[str, list[str]]] = {}
        self.drafts: dict[int, Draft] = {}
        self.stop_reason: str | None = None
        self.stopped = False
        self._counts: dict[str, int] = {}

    def take(self, event: Any) -> Delta | None:
        match event.get("type"):
            case "message_start":
                self._count(event["message"].get("usage"))
            case "content_block_start":
                block = {name: value for name, value in event["content_block"].items() if value is not None}
                self._blocks[event["index"]], self._pieces[event["index"]] = block, {}
                if block["type"] == "tool_use":
                    another(self.drafts)
                    self.drafts[event["index"]] = Draft(block.get("id", ""), block.get("name", ""))
                elif block["type"] == "text" and block.get("text"):
                    return Delta(block["text"])
            case "content_block_delta":
                return self._piece(event["index"], event["delta"])
            case "content_block_stop":
                self._close(event["index"])
            case "message_delta":
                self.stop_reason = event["delta"].get("stop_reason") or self.stop_reason
                self._count(event.get("usage"))
            case "message_stop":
                self.stopped = True
        return None

    def _piece(self, index: int, delta: dict[str, Any]) -> Delta | None:
        match delta["type"]:
            case "text_delta":
                self._add(index, "text", delta["text"])
                return Delta(delta["text"])
            case "thinking_delta":
                self._add(index, "thinking", delta["thinking"])
                return Delta(delta["thinking"], "thinking")
            case "signature_delta":
                self._add(index, "signature", delta["signature"])
            case "input_json_delta":
                self.drafts[index].add(delta["partial_json"])
                return Delta("")
        return None

    def _add(self, index: int, name: str, piece: str) -> None:
        pieces = self._pieces[index].get(name)
        if pieces is None:
            pieces = self._pieces[index][name] = [self._blocks[index].get(name, "")]
        pieces.append(piece)

    @property
    def blocks(self) -> dict[int, dict[str, Any]]:
        for index, texts in self._pieces.items():
            self._blocks[index] |= {name: "".join(pieces) for name, pieces in texts.items()}
        return self._blocks

    def _close(self, index: int) -> None:
        """Some who speak for others send what a call is given whole, with its beginning."""
        draft, given = self.drafts.get(index), self._blocks.get(index, {}).get("input")
        if draft is not None and not draft.size and isinstance(given, dict) and given:
            draft.add(encoded(given).decode())

    def _count(self, usage: dict[str, Any] | None) -> None:
        self._counts |= {name: count for name, count in (usage or {}).items() if isinstance(count, int)}

    def usage(self, price: Price | None) -> Any:
        cached = self._counts.get("cache_read_input_tokens", 0)
        writes = self._counts.get("cache_creation_input_tokens", 0)
        read = self._counts.get("input_tokens", 0) + cached + writes
        written = self._counts.get("output_tokens", 0)
        return counted(price, read=read, written=written, cached=cached, cache_writes=writes)

    @property
    def text(self) -> str:
        return "".join(block.get("text", "") for block in self.blocks.values() if block["type"] == "text")

    @property
    def thinking(self) -> str:
        return "".join(block.get("thinking", "") for block in self.blocks.values() if block["type"] == "thinking")

    def kept(self, calls: list[ToolUse], model: str) -> Kept | None:
        """The blocks as they came. Without thinking in them, the turn says the same in everybody's words."""
        if not any(block["type"] in ("thinking", "redacted_thinking") for block in self.blocks.values()):
            return None
        named = iter(calls)
        content = [
            _tool_use(next(named)) if block["type"] == "tool_use" else block
            for block in self.blocks.values()
            if block["type"] != "text" or block.get("text", "").strip()
        ]
        return Kept(provider=PROVIDER, model=model, content=content)


def _tool_use(call: ToolUse) -> dict[str, Any]:
    return {"type": "tool_use", "id": safe(call.id), "name": safe(call.tool), "input": call.args}


def _result(result: ToolReturn) -> dict[str, Any]:
    content, failed = result.content or "(no output)", result.status != "success"
    return {"type": "tool_result", "tool_use_id": safe(result.id), "content": content, "is_error": failed}
