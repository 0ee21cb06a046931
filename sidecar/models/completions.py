"""The Chat Completions dialect, which OpenAI, Groq and the local servers share."""

from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing
from typing import Any

from sidecar.models.calls import Calls, Draft, safe
from sidecar.models.errors import Unusable
from sidecar.models.history import Fragments, encoded, results
from sidecar.models.port import Delta, Failure, ModelTurn, Reply, Request, Stop, ToolTurn, Turn, UserTurn
from sidecar.models.prices import Price
from sidecar.models.remote import Head, counted, cut, declined, too_long
from sidecar.wire.base import JsonObject


class Completions:
    def __init__(
        self, provider: str, name: str, client: Any, stream_class: Any, price: Price | None, more: JsonObject
    ) -> None:
        self._provider = provider
        self._name = name
        self._client = client
        self._stream_class = stream_class
        self._price = price
        self._more = more
        #: More than this is not sent; none if nobody knows.
        self.most_bytes: int | None = None
        self._head = Head()
        self._calls = Calls()
        self._fragments = Fragments(_messages)

    async def parts(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        head = self._head.written(request, self._fields)
        system = encoded({"role": "system", "content": request.system})
        messages = b",".join(part for part in (system, self._fragments.joined(request.history)) if part)
        reading = Reading()
        async with aclosing(self.chunks(b"".join((head, b',"messages":[', messages, b"]}")))) as chunks:
            async for chunk in chunks:
                for delta in reading.take(chunk):
                    yield delta
        yield self._reply(reading, request)

    async def chunks(self, body: bytes) -> AsyncGenerator[Any, None]:
        if self.most_bytes is not None and len(body) > self.most_bytes:
            message = (
                f"The conversation is too long for {self._provider}/{self._name}: its server would cut off a part. "
                "Start the server with a larger context, or choose another model."
            )
            raise Unusable(Failure(code="context_overflow", message=message, retry=False))
        stream = await self._client.post(
            self._path, content=body, cast_to=object, stream=True, stream_cls=self._stream_class
        )
        async with stream:
            async for chunk in stream:
                yield chunk

    @property
    def _path(self) -> str:
        return "/openai/v1/chat/completions" if self._provider == "groq" else "/chat/completions"

    def fields(self) -> JsonObject:
        return {"model": self._name, "stream": True, "stream_options": {"include_usage": True}, **self._more}

    def _fields(self, request: Request) -> JsonObject:
        fields: dict[str, Any] = self.fields()
        if request.tools:
            fields["tools"] = [
                {
                    "type": "function",
                    "function": {"name": tool.name, "description": tool.description, "parameters": tool.parameters},
                }
                for tool in request.tools
            ]
        return fields

    def _reply(self, reading: "Reading", request: Request) -> Reply:
        usage = reading.usage(self._price)
        if reading.finish is None:
            return cut(self._provider)
        if reading.finish == "content_filter" or reading.refusal:
            return declined(self._provider, usage, reading.refusal, reading.text)
        if reading.finish == "length":
            return too_long(usage, reading.text, reading.thinking)
        calls = self._calls.finished(reading.drafts, request.history)
        stop = Stop.TOOL_USE if calls else Stop.END
        return Reply(text=reading.text, thinking=reading.thinking, calls=calls, stop=stop, usage=usage)


class Reading:
    """What has come of a reply so far."""

    def __init__(self) -> None:
        self.text = ""
        self.thinking = ""
        self.refusal = ""
        self.drafts: list[Draft] = []
        self.finish: str | None = None
        self._by_index: dict[int, Draft] = {}
        self._usage: dict[str, Any] = {}

    def take(self, chunk: Any) -> Iterable[Delta]:
        self._usage = chunk.get("usage") or (chunk.get("x_groq") or {}).get("usage") or self._usage
        for choice in (chunk.get("choices") or [])[:1]:
            delta = choice.get("delta") or {}
            thought = delta.get("reasoning_content") or delta.get("reasoning")
            if isinstance(thought, str) and thought:
                self.thinking += thought
                yield Delta(thought, "thinking")
            text = delta.get("content")
            if isinstance(text, str) and text:
                self.text += text
                yield Delta(text)
            self.refusal += delta.get("refusal") or ""
            for piece in delta.get("tool_calls") or []:
                self._call(piece)
                yield Delta("")
            self.finish = choice.get("finish_reason") or self.finish

    def _call(self, piece: dict[str, Any]) -> None:
        function = piece.get("function") or {}
        index = piece.get("index") or 0
        draft = self._by_index.get(index)
        # Some servers send each call whole, and all of them with the same index, or none.
        if draft is None or (function.get("name") and piece.get("id") not in (None, "", draft.id)):
            draft = Draft(piece.get("id") or "call")
            self._by_index[index] = draft
            self.drafts.append(draft)
        if function.get("name") and not draft.tool:
            draft.tool = function["name"]
        arguments = function.get("arguments")
        if arguments:
            draft.add(arguments if isinstance(arguments, str) else encoded(arguments).decode())

    def usage(self, price: Price | None) -> Any:
        details = self._usage.get("prompt_tokens_details") or {}
        cached, writes = details.get("cached_tokens") or 0, details.get("cache_write_tokens") or 0
        read, written = self._usage.get("prompt_tokens") or 0, self._usage.get("completion_tokens") or 0
        return counted(price, read=read, written=written, cached=cached, cache_writes=writes)


def _messages(turn: Turn, before: Turn | None) -> Iterable[object]:
    match turn:
        case UserTurn(text=text, images=[]):
            yield {"role": "user", "content": text}
        case UserTurn():
            shown: list[Any] = [
                {"type": "image_url", "image_url": {"url": f"data:{each.media_type};base64,{each.data}"}}
                for each in turn.images
            ]
            yield {"role": "user", "content": [*shown, {"type": "text", "text": turn.text}]}
        case ModelTurn(calls=[]):
            if turn.text:
                yield {"role": "assistant", "content": turn.text}
        case ModelTurn():
            calls = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {"name": safe(call.tool), "arguments": encoded(call.args).decode()},
                }
                for call in turn.calls
            ]
            yield {"role": "assistant", "content": turn.text or None, "tool_calls": calls}
        case ToolTurn():
            calls_before = before.calls if isinstance(before, ModelTurn) else []
            for result in results(calls_before, turn):
                yield {"role": "tool", "tool_call_id": result.id, "content": result.content or "(no output)"}
