"""The Chat Completions dialect, which OpenAI, Groq and the local servers share."""

from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing
from typing import Any

from sidecar.models import sse
from sidecar.models.calls import Calls, safe
from sidecar.models.chunks import Reading
from sidecar.models.errors import Unusable
from sidecar.models.failures import complaint
from sidecar.models.history import Fragments, encoded, results
from sidecar.models.optional import OptionalFields
from sidecar.models.port import Delta, Failure, Kept, ModelTurn, Reply, Request, Stop, ToolTurn, Turn, UserTurn
from sidecar.models.prices import Price
from sidecar.models.remote import Head, cut, declined, lively, too_long
from sidecar.models.templates import Template
from sidecar.wire.base import JsonObject

#: What some servers give as the reason that a reply ended, when it is none: Mistral, DeepSeek, and vLLM.
_BROKEN_OFF = frozenset({"error", "insufficient_system_resource", "abort"})


class Completions:
    """`limit` is how long a reply may be, by the name that is tried first.

    A model that `thinks_on` is given back what it thought on the way to its calls, as some servers demand it.
    """

    def __init__(
        self,
        provider: str,
        name: str,
        client: Any,
        stream_class: Any,
        price: Price | None,
        limit: JsonObject,
        *,
        thinks_on: bool = False,
    ) -> None:
        self._provider = provider
        self._name = name
        self._client = client
        self._stream_class = stream_class
        self._price = price
        self._optional = OptionalFields({"stream_options": {"include_usage": True}, **limit})
        self._template = Template()
        self._thinks_on = thinks_on
        #: More than this is not sent; none if nobody knows.
        self.most_bytes: int | None = None
        self._head = Head()
        self._calls = Calls()
        self._fragments = Fragments(self._messages)

    async def parts(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        head = self._head.written(request, self._fields)
        system = encoded({"role": "system", "content": request.system})
        messages = b",".join(part for part in (system, self._fragments.joined(request.history)) if part)
        reading = Reading(len(head) + len(messages))
        async with aclosing(self.chunks(head, messages)) as pieces:
            async for chunks in pieces:
                for delta in lively(delta for chunk in chunks for delta in reading.take(chunk)):
                    yield delta
        yield self._reply(reading, request)

    async def chunks(
        self, head: bytes, messages: bytes, more: JsonObject | None = None
    ) -> AsyncGenerator[Iterable[Any], None]:
        """`more` are fields that a server may refuse, beside those that are always sent."""
        stream = await self._asked(head, messages, more or {})
        async with stream, aclosing(sse.chunks(stream.response.aiter_bytes())) as pieces:
            async for chunks in pieces:
                yield chunks

    async def _asked(self, head: bytes, messages: bytes, more: JsonObject) -> Any:
        while True:
            optional, said = self._optional.sent(more), self._template.fitted(messages)
            fields = b"," + encoded(optional)[1:-1] if optional else b""
            body = b"".join((head, fields, b',"messages":[', said, b"]}"))
            self._check_size(body)
            try:
                return await self._client.post(
                    self._path, content=body, cast_to=object, stream=True, stream_cls=self._stream_class
                )
            except Exception as error:
                said_against = complaint(error)
                if not self._optional.give_way(said_against, optional) and not self._template.learns(said_against):
                    raise

    def _check_size(self, body: bytes) -> None:
        if self.most_bytes is not None and len(body) > self.most_bytes:
            message = (
                f"The conversation is too long for {self._provider}/{self._name}: its server would cut off a part. "
                "Start the server with a larger context, or choose another model."
            )
            raise Unusable(Failure(code="context_overflow", message=message, retry=False))

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

    def _reply(self, reading: Reading, request: Request) -> Reply:
        broken = self.unusable(reading)
        if broken is not None:
            return broken
        calls = self._calls.finished(reading.drafts, request.history)
        kept = None
        if calls and self._thinks_on and reading.thoughts:
            kept = Kept(provider=self._provider, model=self._name, content=[{reading.thoughts: reading.thinking}])
        return Reply(
            text=reading.text,
            thinking=reading.thinking,
            calls=calls,
            stop=Stop.TOOL_USE if calls else Stop.END,
            usage=reading.usage(self._price),
            kept=kept,
        )

    def unusable(self, reading: Reading) -> Reply | None:
        """What came, if it is nothing to act upon: it was cut, refused or too long."""
        if reading.finish is None:
            return cut(self._provider)
        usage = reading.usage(self._price)
        if reading.finish == "content_filter" or reading.refusal:
            return declined(self._provider, usage, reading.refusal, reading.text)
        if reading.finish in _BROKEN_OFF:
            message = f"{self._provider} broke off its reply ({reading.finish})."
            return Reply(stop=Stop.FAILED, usage=usage, failure=Failure(code="model_unavailable", message=message))
        if reading.finish in ("length", "model_length"):
            return too_long(usage, reading.text, reading.thinking)
        return None

    def _messages(self, turn: Turn, before: Turn | None) -> Iterable[object]:
        match turn:
            case UserTurn():
                yield asked(turn)
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
                yield {"role": "assistant", "content": turn.text or None, "tool_calls": calls, **self._thoughts(turn)}
            case ToolTurn():
                calls_before = before.calls if isinstance(before, ModelTurn) else []
                for result in results(calls_before, turn):
                    yield {"role": "tool", "tool_call_id": result.id, "content": result.content or "(no output)"}

    def _thoughts(self, turn: ModelTurn) -> JsonObject:
        kept = turn.kept
        return kept.content[0] if kept and (kept.provider, kept.model) == (self._provider, self._name) else {}


def asked(turn: UserTurn) -> JsonObject:
    if not turn.images:
        return {"role": "user", "content": turn.text}
    shown: list[Any] = [
        {"type": "image_url", "image_url": {"url": f"data:{each.media_type};base64,{each.data}"}}
        for each in turn.images
    ]
    said: list[Any] = [{"type": "text", "text": turn.text}] if turn.text.strip() else []
    return {"role": "user", "content": [*shown, *said]}
