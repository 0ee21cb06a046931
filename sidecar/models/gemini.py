"""Gemini, over `streamGenerateContent`."""

import re
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import aclosing
from typing import Any

from sidecar.models import sse
from sidecar.models.access import Access
from sidecar.models.calls import Calls, Draft, another, safe
from sidecar.models.errors import Unusable
from sidecar.models.failures import complaint
from sidecar.models.history import Fragments, results
from sidecar.models.port import Delta, Failure, Kept, ModelTurn, Reply, Request, Stop, ToolTurn, Turn, UserTurn
from sidecar.models.prices import Price
from sidecar.models.remote import Head, Words, counted, cut, declined, lively, too_long
from sidecar.wire.base import JsonObject

PROVIDER = "gemini"
_PLACE = re.compile(r"(models|tunedModels)/\w[\w.-]*")
_THINKS = re.compile(r"(models/)?gemini-(2\.5|[3-9])")
#: What a model may refuse, and how that is said.
_OPTIONAL = {
    "maxOutputTokens": re.compile(r"max_?output_?tokens", re.I),
    "thinkingConfig": re.compile(r"thinking( is not|_?config| not supported)", re.I),
}
_GARBLED = frozenset({"MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "MALFORMED_RESPONSE", "TOO_MANY_TOOL_CALLS"})
#: What the API takes for a call that another model made, and that therefore has no signature.
_NO_SIGNATURE = "skip_thought_signature_validator"


def client(access: Access) -> Any:
    from google import genai

    options = genai.types.HttpOptions(base_url=access.base_url, async_client_args=access.http)
    return genai.Client(api_key=access.key, vertexai=False, http_options=options)


class Contents:
    def __init__(self, name: str, client: Any, price: Price | None, reply_tokens: int) -> None:
        self._name = name
        self._place = _place(name)
        self._api = client._api_client
        self._price = price
        self._generation: dict[str, Any] = {"maxOutputTokens": reply_tokens}
        if _THINKS.match(name):
            self._generation["thinkingConfig"] = {"includeThoughts": True}
        self._head = Head()
        self._calls = Calls()
        self._fragments = Fragments(self._contents)

    async def parts(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        try:
            response = await self._asked(request)
        except Exception as error:
            if not self._gives_way(complaint(error)):
                raise
            response = await self._asked(request)
        reading = _Reading()
        async with aclosing(sse.chunks(_pieces(response.response_stream))) as pieces:
            async for chunks in pieces:
                for delta in lively(delta for chunk in chunks for delta in reading.take(chunk)):
                    yield delta
        yield self._reply(reading, request)

    async def _asked(self, request: Request) -> Any:
        head = self._head.written(request, self._fields)
        # The typed call would build and check the whole history again each turn; this is the one underneath it.
        http = self._api._build_request("post", f"{self._place}:streamGenerateContent?alt=sse", {})
        http.data = b"".join((head, b',"contents":[', self._fragments.joined(request.history), b"]}"))
        return await self._api._async_request(http_request=http, stream=True)

    def _gives_way(self, complaint: str) -> bool:
        """Not every model thinks, and not every one may be allowed so long a reply: then it is not asked for."""
        named = [name for name, words in _OPTIONAL.items() if words.search(complaint)]
        refused = [name for name in named if self._generation.pop(name, None) is not None]
        self._head = Head()
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
                said = self._said(turn)
                if said:
                    yield {"role": "model", "parts": said}
            case ToolTurn():
                calls = before.calls if isinstance(before, ModelTurn) else []
                names = self._call_ids(before) if isinstance(before, ModelTurn) else []
                answers = zip(results(calls, turn), names, strict=True)
                yield {"role": "user", "parts": [_response(result, name) for result, name in answers]}

    def _own(self, turn: ModelTurn) -> list[JsonObject] | None:
        kept = turn.kept
        return kept.content if kept and (kept.provider, kept.model) == (PROVIDER, self._name) else None

    def _said(self, turn: ModelTurn) -> list[Any]:
        own = self._own(turn)
        if own is not None:
            return _signed(own)
        said: list[Any] = [{"text": turn.text}] if turn.text.strip() else []
        calls: list[Any] = [{"functionCall": {"name": safe(call.tool), "args": call.args}} for call in turn.calls]
        return _signed([*said, *calls])

    def _call_ids(self, turn: ModelTurn) -> list[str]:
        """The ids that Gemini itself gave to its calls; often it gives none."""
        found: list[str] = []
        for part in self._own(turn) or []:
            call = part.get("functionCall")
            if isinstance(call, dict):
                found.append(str(call.get("id") or ""))
        return found or [""] * len(turn.calls)

    def _reply(self, reading: "_Reading", request: Request) -> Reply:
        usage = reading.usage(self._price)
        match reading.finish:
            case None:
                return cut(PROVIDER)
            case "STOP":
                calls = self._calls.finished(reading.drafts, request.history)
                stop = Stop.TOOL_USE if calls else Stop.END
                kept = reading.kept(self._name)
                return Reply(
                    text=reading.text, thinking=reading.thinking, calls=calls, stop=stop, usage=usage, kept=kept
                )
            case "MAX_TOKENS":
                return too_long(usage, reading.text, reading.thinking)
            case reason if reason in _GARBLED:
                raise Unusable(
                    Failure(code="garbled_reply", message=f"The reply of {PROVIDER} was garbled ({reason}).")
                )
            case reason:
                return declined(PROVIDER, usage, reason.lower().replace("_", " "), reading.text)


def _signed(parts: Sequence[JsonObject]) -> list[Any]:
    """The first call of a turn is taken back only with a signature."""
    first = next((number for number, part in enumerate(parts) if "functionCall" in part), None)
    return [
        {"thoughtSignature": _NO_SIGNATURE, **part} if number == first else part for number, part in enumerate(parts)
    ]


class _Reading(Words):
    """What has come of a reply so far."""

    def __init__(self) -> None:
        super().__init__()
        self.drafts: list[Draft] = []
        self.finish: str | None = None
        #: What is nothing but text is kept as its pieces.
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
            another(self.drafts)
            self.drafts.append(Draft(call.get("id") or "call", call.get("name", ""), _arguments(call)))
        text = part.get("text") or ""
        if part.get("thought"):
            self._thought.append(text)
            yield from [Delta(text, "thinking")] if text else []
        else:
            # A call, or something else that is not shown, is a sign of life too.
            self._said.append(text)
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

    def kept(self, model: str) -> Kept | None:
        """The parts as they came. Without a signature among them, the turn says the same in everybody's words."""
        if not any("thoughtSignature" in part for part in self._parts if isinstance(part, dict)):
            return None
        parts: list[JsonObject] = [part if isinstance(part, dict) else {"text": "".join(part)} for part in self._parts]
        return Kept(provider=PROVIDER, model=model, content=[part for part in parts if part != {"text": ""}])

    def usage(self, price: Price | None) -> Any:
        counts = {name: count for name, count in self._usage.items() if isinstance(count, int)}
        written = counts.get("candidatesTokenCount", 0) + counts.get("thoughtsTokenCount", 0)
        read, cached = counts.get("promptTokenCount", 0), counts.get("cachedContentTokenCount", 0)
        return counted(price, read=read, written=written, cached=cached)


async def _pieces(response: Any) -> AsyncGenerator[bytes, None]:
    """Over whichever library the SDK asked."""
    over_httpx = hasattr(response, "aiter_bytes")
    try:
        async for piece in response.aiter_bytes() if over_httpx else response.content.iter_any():
            yield piece
    finally:
        if over_httpx:
            await response.aclose()
        else:
            response.release()


def _place(name: str) -> str:
    """Where a model of that name is asked. The name becomes a part of the address, and must not be more than that."""
    place = name if "/" in name else f"models/{name}"
    if not _PLACE.fullmatch(place):
        message = f"{PROVIDER} has no model {name!r}: that is no name. `brain models` lists what is configured."
        raise Unusable(Failure(code="unknown_model", message=message, retry=False))
    return place


def _arguments(call: dict[str, Any]) -> JsonObject | None:
    args = call.get("args") or {}
    return args if isinstance(args, dict) else None


def _response(result: Any, name: str) -> dict[str, Any]:
    kind = "output" if result.status == "success" else "error"
    answer: dict[str, Any] = {"name": safe(result.tool), "response": {kind: result.content}}
    return {"functionResponse": answer | ({"id": name} if name else {})}
