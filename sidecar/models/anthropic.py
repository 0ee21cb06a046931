"""Claude, over the Messages API."""

import re
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import aclosing
from typing import Any, TypeGuard

from sidecar.models import sse
from sidecar.models.access import Access
from sidecar.models.calls import CallDraft, CallIds, check_call_count, safe_name
from sidecar.models.encoding import encode_json
from sidecar.models.failures import refusal_text, thinking_is_bound
from sidecar.models.history import Fragments, results_in_order
from sidecar.models.port import (
    Delta,
    ModelTurn,
    NativeTurn,
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
from sidecar.models.remote import (
    RequestPrefix,
    count_usage,
    cut_reply,
    declined_reply,
    length_reply,
    overflow_reply,
    visible_deltas,
)
from sidecar.wire.base import JsonObject
from sidecar.wire.tools import ToolInfo

PROVIDER = "anthropic"
#: These models think by default and show it only on request.
_THINKS = re.compile(r"claude-[a-z]+-([5-9]|\d\d)")
_MOST_TOKENS = re.compile(r"max_tokens: \d+ > (\d+)")
#: These accept their earlier thinking only if everything before it is unchanged, tools included.
_BINDS = re.compile(r"claude-(fable|mythos)-5-[1-9]|claude-[a-z]+-(5-[5-9]|[6-9]|\d\d)")


def client(access: Access) -> Any:
    from anthropic import AsyncAnthropic, DefaultAsyncHttpxClient, Timeout

    timeout = Timeout(access.timeout, connect=access.connect_timeout)
    # Retries are ours, in chain.py, for all providers.
    http = DefaultAsyncHttpxClient(timeout=timeout, **access.http)
    return AsyncAnthropic(
        api_key=access.key, base_url=access.base_url, max_retries=0, timeout=timeout, http_client=http
    )


class Messages:
    def __init__(self, name: str, client: Any, price: Price | None, reply_tokens: int, effort: str = "") -> None:
        self._name = name
        self._effort = effort
        self._client = client
        self._price = price
        self._reply_tokens = reply_tokens
        self._prefix = RequestPrefix()
        self._call_ids = CallIds()
        self._fragments = Fragments(self._messages)
        #: Thinking that no longer matches its history.
        self._dropped: list[NativeTurn] = []
        self._tools: Sequence[ToolInfo] | None = None

    async def parts(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        if _BINDS.match(self._name) and self._tools_changed(request.tools):
            self._drop_thinking(request)
        self._tools = request.tools
        try:
            stream = await self._send(request)
        except Exception as error:
            if not self._lower_token_limit(error) and not (thinking_is_bound(error) and self._drop_thinking(request)):
                raise
            stream = await self._send(request)
        reader = _ReplyReader()
        async with stream, aclosing(sse.chunks(stream.response.aiter_bytes())) as pieces:
            async for events in pieces:
                for delta in visible_deltas(delta for event in events if (delta := reader.take(event)) is not None):
                    yield delta
        yield self._reply(reader, request)

    async def _send(self, request: Request) -> Any:
        from anthropic import AsyncStream

        body = self._prefix.render(request, self._fields)
        body = b"".join((body, b',"messages":[', self._fragments.render(request.history), b"]}"))
        return await self._client.post(
            "/v1/messages", content=body, cast_to=object, stream=True, stream_cls=AsyncStream[object]
        )

    def _lower_token_limit(self, error: Exception) -> bool:
        """Lower the limit to the one that an older model names when it refuses ours."""
        most = _MOST_TOKENS.search(refusal_text(error))
        if most is None or int(most[1]) >= self._reply_tokens:
            return False
        self._reply_tokens = int(most[1])
        self._prefix = RequestPrefix()
        return True

    def _tools_changed(self, tools: Sequence[ToolInfo]) -> bool:
        return self._tools is not None and self._tools is not tools and list(self._tools) != list(tools)

    def _drop_thinking(self, request: Request) -> bool:
        """Resend earlier turns without their thinking, which the model rejects once what precedes it changed."""
        thought = [turn.kept for turn in request.history if isinstance(turn, ModelTurn) and self._is_own(turn.kept)]
        self._dropped += thought
        self._fragments = Fragments(self._messages)
        return bool(thought)

    def _is_own(self, kept: NativeTurn | None) -> TypeGuard[NativeTurn]:
        own = kept is not None and (kept.provider, kept.model) == (PROVIDER, self._name)
        return own and all(kept is not each for each in self._dropped)

    def _fields(self, request: Request) -> JsonObject:
        fields: dict[str, Any] = {
            "model": self._name,
            "max_tokens": self._reply_tokens,
            "stream": True,
            # The system prompt is shared by all tasks of the agent; the rest is cached turn by turn.
            "system": [{"type": "text", "text": request.system, "cache_control": {"type": "ephemeral"}}],
            "cache_control": {"type": "ephemeral"},
        }
        if _THINKS.match(self._name):
            fields["thinking"] = {"type": "adaptive", "display": "summarized"}
            if self._effort:
                fields["output_config"] = {"effort": self._effort}
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
                yield {"role": "user", "content": [_result(each) for each in results_in_order(calls, turn)]}

    def _blocks(self, turn: ModelTurn) -> list[Any]:
        if self._is_own(turn.kept):
            return list(turn.kept.content)
        text_blocks: list[Any] = [{"type": "text", "text": turn.text}] if turn.text.strip() else []
        return text_blocks + [_tool_use(call) for call in turn.calls]

    def _reply(self, reader: "_ReplyReader", request: Request) -> Reply:
        usage = reader.usage(self._price)
        if not reader.stopped:
            return cut_reply(PROVIDER)
        match reader.stop_reason:
            case "refusal":
                return declined_reply(PROVIDER, usage, "", reader.text)
            case "max_tokens" | "pause_turn":
                # The API may pause a long turn.
                return length_reply(usage, reader.text, reader.thinking)
            case "model_context_window_exceeded":
                return overflow_reply(f"{PROVIDER}/{self._name}", usage)
        calls = self._call_ids.finish(reader.drafts.values(), request.history)
        return Reply(
            text=reader.text,
            thinking=reader.thinking,
            calls=calls,
            stop=Stop.TOOL_USE if calls else Stop.END,
            usage=usage,
            kept=reader.kept(calls, self._name),
        )


class _ReplyReader:
    """Accumulates a streamed reply."""

    def __init__(self) -> None:
        self._blocks: dict[int, dict[str, Any]] = {}
        #: Text pieces of each block by field, joined once at the end to avoid quadratic copying.
        self._pieces: dict[int, dict[str, list[str]]] = {}
        self.drafts: dict[int, CallDraft] = {}
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
                    check_call_count(self.drafts)
                    self.drafts[event["index"]] = CallDraft(block.get("id", ""), block.get("name", ""))
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
        """Some proxies send the arguments whole, with the start of the block."""
        draft, given = self.drafts.get(index), self._blocks.get(index, {}).get("input")
        if draft is not None and not draft.size and isinstance(given, dict) and given:
            draft.add(encode_json(given).decode())

    def _count(self, usage: dict[str, Any] | None) -> None:
        self._counts |= {name: count for name, count in (usage or {}).items() if isinstance(count, int)}

    def usage(self, price: Price | None) -> Any:
        cached = self._counts.get("cache_read_input_tokens", 0)
        writes = self._counts.get("cache_creation_input_tokens", 0)
        read = self._counts.get("input_tokens", 0) + cached + writes
        written = self._counts.get("output_tokens", 0)
        return count_usage(price, read=read, written=written, cached=cached, cache_writes=writes)

    @property
    def text(self) -> str:
        return "".join(block.get("text", "") for block in self.blocks.values() if block["type"] == "text")

    @property
    def thinking(self) -> str:
        return "".join(block.get("thinking", "") for block in self.blocks.values() if block["type"] == "thinking")

    def kept(self, calls: list[ToolUse], model: str) -> NativeTurn | None:
        """The blocks as received, or None if there is no thinking among them."""
        if not any(block["type"] in ("thinking", "redacted_thinking") for block in self.blocks.values()):
            return None
        named = iter(calls)
        content = [
            _tool_use(next(named)) if block["type"] == "tool_use" else block
            for block in self.blocks.values()
            if block["type"] != "text" or block.get("text", "").strip()
        ]
        return NativeTurn(provider=PROVIDER, model=model, content=content)


def _tool_use(call: ToolUse) -> dict[str, Any]:
    return {"type": "tool_use", "id": safe_name(call.id), "name": safe_name(call.tool), "input": call.args}


def _result(result: ToolReturn) -> dict[str, Any]:
    content, failed = result.content or "(no output)", result.status != "success"
    return {"type": "tool_result", "tool_use_id": safe_name(result.id), "content": content, "is_error": failed}
