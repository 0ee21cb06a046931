"""Gemini, over `streamGenerateContent`."""

import re
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import aclosing
from typing import Any

from sidecar.models import sse
from sidecar.models.access import Access
from sidecar.models.calls import CallDraft, CallIds, check_call_count, safe_name
from sidecar.models.errors import Failure, ModelFailed
from sidecar.models.failures import refusal_text
from sidecar.models.history import Fragments, results_in_order
from sidecar.models.port import Delta, ModelTurn, NativeTurn, Reply, Request, Stop, ToolTurn, Turn, UserTurn
from sidecar.models.prices import Price
from sidecar.models.remote import (
    ReplyText,
    RequestPrefix,
    count_usage,
    cut_reply,
    declined_reply,
    length_reply,
    visible_deltas,
)
from sidecar.wire.base import JsonObject

PROVIDER = "gemini"
_PLACE = re.compile(r"(models|tunedModels)/\w[\w.-]*")
_THINKS = re.compile(r"(models/)?gemini-(2\.5|[3-9]|pro-latest|flash-latest)")
#: Optional fields, and how a model refuses each.
_OPTIONAL = {
    "maxOutputTokens": re.compile(r"max_?output_?tokens", re.I),
    "thinkingConfig": re.compile(r"thinking( is not|_?config| not supported)", re.I),
}
_GARBLED = frozenset({"MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "MALFORMED_RESPONSE", "TOO_MANY_TOOL_CALLS"})
#: Accepted in place of the signature for calls that another model made.
_NO_SIGNATURE = "skip_thought_signature_validator"


def client(access: Access) -> Any:
    import httpx
    from google import genai

    # Without a client of ours the SDK prefers aiohttp if it is installed, which follows redirects with the key.
    http = httpx.AsyncClient(timeout=None, **access.http)  # noqa: S113 - every request has its own limit
    options = genai.types.HttpOptions(base_url=access.base_url, httpx_async_client=http)
    return genai.Client(api_key=access.key, vertexai=False, http_options=options)


async def close(client: Any) -> None:
    await client.aio.aclose()
    await client._api_client._async_httpx_client.aclose()  # ours: the SDK leaves it open


class Contents:
    def __init__(self, name: str, client: Any, price: Price | None, reply_tokens: int, effort: str = "") -> None:
        self._name = name
        self._place = _place(name)
        self._api = client._api_client
        self._price = price
        self._generation: dict[str, Any] = {"maxOutputTokens": reply_tokens}
        if _THINKS.match(name):
            level = {"thinkingLevel": effort.upper()} if effort else {}
            self._generation["thinkingConfig"] = {"includeThoughts": True, **level}
        self._prefix = RequestPrefix()
        self._call_ids = CallIds()
        self._fragments = Fragments(self._contents)

    async def parts(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        try:
            response = await self._send(request)
        except Exception as error:
            if not self._drop_refused(refusal_text(error)):
                raise
            response = await self._send(request)
        reader = _ReplyReader()
        async with aclosing(sse.chunks(_pieces(response.response_stream))) as pieces:
            async for chunks in pieces:
                for delta in visible_deltas(delta for chunk in chunks for delta in reader.take(chunk)):
                    yield delta
        yield self._reply(reader, request)

    async def _send(self, request: Request) -> Any:
        head = self._prefix.render(request, self._fields)
        # The SDK's typed call would validate the whole history again each turn; this is the call underneath.
        http = self._api._build_request("post", f"{self._place}:streamGenerateContent?alt=sse", {})
        http.data = b"".join((head, b',"contents":[', self._fragments.render(request.history), b"]}"))
        return await self._api._async_request(http_request=http, stream=True)

    def _drop_refused(self, complaint: str) -> bool:
        """Drop the optional fields that the model refuses."""
        named = [name for name, words in _OPTIONAL.items() if words.search(complaint)]
        refused = [name for name in named if self._generation.pop(name, None) is not None]
        self._prefix = RequestPrefix()
        return bool(refused)

    def _fields(self, request: Request) -> JsonObject:
        fields: dict[str, Any] = {
            "systemInstruction": {"parts": [{"text": request.system}]},
            "generationConfig": self._generation,
        }
        if request.tools:
            declared = [
                {"name": tool.name, "description": tool.description, "parametersJsonSchema": tool.parameters}
                for tool in request.tools
            ]
            fields["tools"] = [{"functionDeclarations": declared}]
        return fields

    def _contents(self, turn: Turn, before: Turn | None) -> Iterable[object]:
        match turn:
            case UserTurn():
                parts: list[Any] = [
                    {"inlineData": {"mimeType": each.media_type, "data": each.data}} for each in turn.images
                ]
                if turn.text.strip():
                    parts.append({"text": turn.text})
                if parts:
                    yield {"role": "user", "parts": parts}
            case ModelTurn():
                rendered = self._render_turn(turn)
                if rendered:
                    yield {"role": "model", "parts": rendered}
            case ToolTurn():
                calls = before.calls if isinstance(before, ModelTurn) else []
                names = self._native_ids(before) if isinstance(before, ModelTurn) else []
                answers = zip(results_in_order(calls, turn), names, strict=True)
                yield {"role": "user", "parts": [_response(result, name) for result, name in answers]}

    def _own(self, turn: ModelTurn) -> list[JsonObject] | None:
        kept = turn.kept
        return kept.content if kept and (kept.provider, kept.model) == (PROVIDER, self._name) else None

    def _render_turn(self, turn: ModelTurn) -> list[Any]:
        own = self._own(turn)
        if own is not None:
            return _signed(own)
        text_parts: list[Any] = [{"text": turn.text}] if turn.text.strip() else []
        calls: list[Any] = [{"functionCall": {"name": safe_name(call.tool), "args": call.args}} for call in turn.calls]
        return _signed([*text_parts, *calls])

    def _native_ids(self, turn: ModelTurn) -> list[str]:
        """The ids that Gemini gave its calls; often none."""
        found: list[str] = []
        for part in self._own(turn) or []:
            call = part.get("functionCall")
            if isinstance(call, dict):
                found.append(str(call.get("id") or ""))
        return found or [""] * len(turn.calls)

    def _reply(self, reader: "_ReplyReader", request: Request) -> Reply:
        usage = reader.usage(self._price)
        match reader.finish:
            case None:
                return cut_reply(PROVIDER)
            case "STOP":
                calls = self._call_ids.finish(reader.drafts, request.history)
                stop = Stop.TOOL_USE if calls else Stop.END
                kept = reader.kept(self._name)
                return Reply(text=reader.text, thinking=reader.thinking, calls=calls, stop=stop, usage=usage, kept=kept)
            case "MAX_TOKENS":
                return length_reply(usage, reader.text, reader.thinking)
            case reason if reason in _GARBLED:
                raise ModelFailed(
                    Failure(code="garbled_reply", message=f"The reply of {PROVIDER} was garbled ({reason}).")
                )
            case reason:
                return declined_reply(PROVIDER, usage, reason.lower().replace("_", " "), reader.text)


def _signed(parts: Sequence[JsonObject]) -> list[Any]:
    """Gemini requires a signature on the first call of a turn."""
    first = next((number for number, part in enumerate(parts) if "functionCall" in part), None)
    return [
        {"thoughtSignature": _NO_SIGNATURE, **part} if number == first else part for number, part in enumerate(parts)
    ]


class _ReplyReader(ReplyText):
    """Accumulates a streamed reply."""

    def __init__(self) -> None:
        super().__init__()
        self.drafts: list[CallDraft] = []
        self.finish: str | None = None
        #: Runs of plain text are kept as lists of pieces.
        self._parts: list[dict[str, Any] | list[str]] = []
        self._usage: dict[str, Any] = {}

    def take(self, chunk: Any) -> Iterable[Delta]:
        self._usage = chunk.get("usageMetadata") or self._usage
        blocked = (chunk.get("promptFeedback") or {}).get("blockReason")
        if blocked:
            self.finish = str(blocked)
        for candidate in (chunk.get("candidates") or [])[:1]:
            for part in (candidate.get("content") or {}).get("parts") or []:
                yield from self._piece(part)
            self.finish = candidate.get("finishReason") or self.finish

    def _piece(self, part: dict[str, Any]) -> Iterable[Delta]:
        call = part.get("functionCall")
        if call is not None:
            check_call_count(self.drafts)
            self.drafts.append(CallDraft(call.get("id") or "call", call.get("name", ""), _arguments(call)))
        text = part.get("text") or ""
        if part.get("thought"):
            self._thinking.append(text)
            yield from [Delta(text, "thinking")] if text else []
        else:
            # Also yield an empty delta for calls: it keeps the idle timer alive.
            self._text.append(text)
            yield Delta(text)
        self._keep(part)

    def _keep(self, part: dict[str, Any]) -> None:
        last = self._parts[-1] if self._parts else None
        if part.keys() == {"text"}:
            if isinstance(last, list):
                last.append(part["text"] or "")
            else:
                self._parts.append([part["text"] or ""])
        elif "thoughtSignature" in part or not part.get("thought"):
            self._parts.append(dict(part))

    def kept(self, model: str) -> NativeTurn | None:
        """The parts as received, or None if no part is signed."""
        if not any("thoughtSignature" in part for part in self._parts if isinstance(part, dict)):
            return None
        parts: list[JsonObject] = [part if isinstance(part, dict) else {"text": "".join(part)} for part in self._parts]
        return NativeTurn(provider=PROVIDER, model=model, content=[part for part in parts if part != {"text": ""}])

    def usage(self, price: Price | None) -> Any:
        counts = {name: count for name, count in self._usage.items() if isinstance(count, int)}
        written = counts.get("candidatesTokenCount", 0) + counts.get("thoughtsTokenCount", 0)
        read, cached = counts.get("promptTokenCount", 0), counts.get("cachedContentTokenCount", 0)
        return count_usage(price, read=read, written=written, cached=cached)


async def _pieces(response: Any) -> AsyncGenerator[bytes, None]:
    try:
        async for piece in response.aiter_bytes():
            yield piece
    finally:
        await response.aclose()


def _place(name: str) -> str:
    """The model's path in the URL; rejects names that would change the URL."""
    place = name if "/" in name else f"models/{name}"
    if not _PLACE.fullmatch(place):
        message = f"{PROVIDER} has no model {name!r}: invalid name. `brain models` lists what is configured."
        raise ModelFailed(Failure(code="unknown_model", message=message, retry=False))
    return place


def _arguments(call: dict[str, Any]) -> JsonObject | None:
    args = call.get("args") or {}
    return args if isinstance(args, dict) else None


def _response(result: Any, name: str) -> dict[str, Any]:
    kind = "output" if result.status == "success" else "error"
    answer: dict[str, Any] = {"name": safe_name(result.tool), "response": {kind: result.content}}
    return {"functionResponse": answer | ({"id": name} if name else {})}
