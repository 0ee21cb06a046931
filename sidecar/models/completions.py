"""The Chat Completions dialect, which OpenAI, Groq and the local servers share."""

from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing
from typing import Any

from sidecar.models import sse
from sidecar.models.calls import CallIds, safe_name
from sidecar.models.chunks import ReplyReader
from sidecar.models.encoding import encode_json
from sidecar.models.errors import Failure, ModelFailed
from sidecar.models.failures import refusal_text
from sidecar.models.history import Fragments, results_in_order
from sidecar.models.port import Delta, ModelTurn, NativeTurn, Reply, Request, Stop, ToolTurn, Turn, UserTurn
from sidecar.models.prices import Price
from sidecar.models.quirks import OptionalFields, TemplateDemands
from sidecar.models.remote import RequestPrefix, cut_reply, declined_reply, length_reply, visible_deltas
from sidecar.wire.base import JsonObject

#: Finish reasons of Mistral, DeepSeek and vLLM that mean an error.
_BROKEN_OFF = frozenset({"error", "insufficient_system_resource", "abort"})


class Completions:
    """`optional` are fields that a server may refuse: how long a reply may be, how much to think.

    `returns_reasoning`: send the thinking before a tool call back to the model, as some servers demand.
    """

    def __init__(
        self,
        provider: str,
        name: str,
        client: Any,
        stream_class: Any,
        price: Price | None,
        optional: JsonObject,
        *,
        returns_reasoning: bool = False,
    ) -> None:
        self._provider = provider
        self._name = name
        self._client = client
        self._stream_class = stream_class
        self._price = price
        self._optional = OptionalFields({"stream_options": {"include_usage": True}, **optional})
        self._template = TemplateDemands()
        self._returns_reasoning = returns_reasoning
        #: Largest request body, if known.
        self.max_bytes: int | None = None
        self._prefix = RequestPrefix()
        self._call_ids = CallIds()
        self._fragments = Fragments(self._messages)

    async def parts(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        head = self._prefix.render(request, self._fields)
        system = encode_json({"role": "system", "content": request.system})
        messages = b",".join(part for part in (system, self._fragments.render(request.history)) if part)
        reader = ReplyReader(len(head) + len(messages))
        async with aclosing(self.chunks(head, messages)) as pieces:
            async for chunks in pieces:
                for delta in visible_deltas(delta for chunk in chunks for delta in reader.take(chunk)):
                    yield delta
        yield self._reply(reader, request)

    async def chunks(
        self, head: bytes, messages: bytes, more: JsonObject | None = None
    ) -> AsyncGenerator[Iterable[Any], None]:
        """`more`: additional fields that the server may refuse."""
        stream = await self._send(head, messages, more or {})
        async with stream, aclosing(sse.chunks(stream.response.aiter_bytes())) as pieces:
            async for chunks in pieces:
                yield chunks

    async def _send(self, head: bytes, messages: bytes, more: JsonObject) -> Any:
        while True:
            optional, fitted = self._optional.sent(more), self._template.apply(messages)
            fields = b"," + encode_json(optional)[1:-1] if optional else b""
            body = b"".join((head, fields, b',"messages":[', fitted, b"]}"))
            self._check_size(body)
            try:
                return await self._client.post(
                    self._path, content=body, cast_to=object, stream=True, stream_cls=self._stream_class
                )
            except Exception as error:
                objection = refusal_text(error)
                if not self._optional.drop_refused(objection, optional) and not self._template.learn(objection):
                    raise

    def _check_size(self, body: bytes) -> None:
        if self.max_bytes is not None and len(body) > self.max_bytes:
            message = (
                f"The conversation is too long for {self._provider}/{self._name}: its server would truncate it. "
                "Start the server with a larger context, or choose another model."
            )
            raise ModelFailed(Failure(code="context_overflow", message=message, retry=False))

    @property
    def _path(self) -> str:
        return "/openai/v1/chat/completions" if self._provider == "groq" else "/chat/completions"

    def fields(self) -> JsonObject:
        return {"model": self._name, "stream": True}

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

    def _reply(self, reader: ReplyReader, request: Request) -> Reply:
        broken = self.unusable(reader)
        if broken is not None:
            return broken
        calls = self._call_ids.finish(reader.drafts, request.history)
        kept = None
        if calls and self._returns_reasoning and reader.thoughts:
            kept = NativeTurn(provider=self._provider, model=self._name, content=[{reader.thoughts: reader.thinking}])
        return Reply(
            text=reader.text,
            thinking=reader.thinking,
            calls=calls,
            stop=Stop.TOOL_USE if calls else Stop.END,
            usage=reader.usage(self._price),
            kept=kept,
        )

    def unusable(self, reader: ReplyReader) -> Reply | None:
        """A failed reply if the stream was cut, refused or too long."""
        if reader.finish is None:
            return cut_reply(self._provider)
        usage = reader.usage(self._price)
        if reader.finish == "content_filter" or reader.refusal:
            return declined_reply(self._provider, usage, reader.refusal, reader.text)
        if reader.finish in _BROKEN_OFF:
            message = f"{self._provider} aborted its reply ({reader.finish})."
            return Reply(stop=Stop.FAILED, usage=usage, failure=Failure(code="model_unavailable", message=message))
        if reader.finish in ("length", "model_length"):
            return length_reply(usage, reader.text, reader.thinking)
        return None

    def _messages(self, turn: Turn, before: Turn | None) -> Iterable[object]:
        match turn:
            case UserTurn():
                yield user_message(turn)
            case ModelTurn(calls=[]):
                if turn.text:
                    yield {"role": "assistant", "content": turn.text}
            case ModelTurn():
                calls = [
                    {
                        "id": call.id,
                        "type": "function",
                        "function": {"name": safe_name(call.tool), "arguments": encode_json(call.args).decode()},
                    }
                    for call in turn.calls
                ]
                yield {"role": "assistant", "content": turn.text or None, "tool_calls": calls, **self._thoughts(turn)}
            case ToolTurn():
                calls_before = before.calls if isinstance(before, ModelTurn) else []
                for result in results_in_order(calls_before, turn):
                    yield {"role": "tool", "tool_call_id": result.id, "content": result.content or "(no output)"}

    def _thoughts(self, turn: ModelTurn) -> JsonObject:
        kept = turn.kept
        return kept.content[0] if kept and (kept.provider, kept.model) == (self._provider, self._name) else {}


def reasoning_effort(effort: str) -> JsonObject:
    """The field that asks for it; a server that refuses the field doesn't get it again."""
    return {"reasoning_effort": effort} if effort else {}


def user_message(turn: UserTurn) -> JsonObject:
    if not turn.images:
        return {"role": "user", "content": turn.text}
    shown: list[Any] = [
        {"type": "image_url", "image_url": {"url": f"data:{each.media_type};base64,{each.data}"}}
        for each in turn.images
    ]
    fitted: list[Any] = [{"type": "text", "text": turn.text}] if turn.text.strip() else []
    return {"role": "user", "content": [*shown, *fitted]}
