"""`streamGenerateContent?alt=sse`: whole parts in each event, a signature on a call, usage and reason in the last."""

import json
from typing import Any

from tests.contract.servers.http import Answer, failing
from tests.contract.servers.speech import Speech, Trouble


class Gemini:
    provider = "gemini"
    key = "GEMINI_API_KEY"
    base_url = "GOOGLE_GEMINI_BASE_URL"
    model = "gemini-3.8-flash"

    def prefix(self) -> str:
        return ""

    def stream(self, speech: Speech) -> bytes:
        parts: list[dict[str, Any]] = []
        if speech.thinking:
            parts.append({"text": speech.thinking, "thought": True})
        if speech.text:
            half = len(speech.text) // 2
            parts += [{"text": speech.text[:half]}, {"text": speech.text[half:]}]
        for number, call in enumerate(speech.calls):
            part: dict[str, Any] = {"functionCall": {"name": call.tool, "args": json.loads(call.args)}}
            if call.id:
                part["functionCall"]["id"] = call.id
            if speech.thinking and number == 0:
                part["thoughtSignature"] = "c2lnbmF0dXJl"
            parts.append(part)
        chunks = [{"candidates": [{"content": {"role": "model", "parts": [part]}, "index": 0}]} for part in parts]
        reason = {"length": "MAX_TOKENS", "refusal": "SAFETY"}.get(speech.stop, "STOP")
        usage = {"promptTokenCount": speech.read, "candidatesTokenCount": speech.written}
        usage["cachedContentTokenCount"] = speech.cached
        if not speech.unfinished:
            last = {"content": {"role": "model", "parts": [{"text": ""}]}, "finishReason": reason, "index": 0}
            chunks.append({"candidates": [last], "usageMetadata": usage, "modelVersion": self.model})
        written = [self.event(chunk) for chunk in chunks]
        return (b"\r\n" if speech.keep_alives else b"").join(written)

    def error(self, trouble: Trouble) -> Answer:
        names = {401: "UNAUTHENTICATED", 404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED", 503: "UNAVAILABLE"}
        status = names.get(trouble.status, "INVALID_ARGUMENT" if trouble.status < 500 else "INTERNAL")
        error = {"code": trouble.status, "message": trouble.message, "status": status}
        return failing(trouble.status, {"error": error}, **trouble.headers)

    def error_in_stream(self, speech: Speech) -> bytes:
        whole = self.stream(Speech(**{**speech.__dict__, "unfinished": True}))
        error = {"error": {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}}
        return whole + self.event(error)

    def event(self, event: dict[str, Any]) -> bytes:
        return f"data: {json.dumps(event, ensure_ascii=False)}\r\n\r\n".encode()

    def tools(self, body: Any) -> list[str]:
        return [tool["name"] for tool in body["tools"][0]["functionDeclarations"]]

    def asked(self, body: Any) -> list[tuple[str, Any]]:
        found: list[tuple[str, Any]] = []
        names: list[str] = []
        for content in body["contents"]:
            assert content["parts"], "an empty content is refused"
            for part in content["parts"]:
                if "functionCall" in part:
                    call = part["functionCall"]
                    names.append(call.get("id") or f"{call['name']}.{len(names)}")
                    found.append(("call", (names[-1], call["name"], call["args"])))
                elif "functionResponse" in part:
                    answer = part["functionResponse"]
                    (text,) = answer["response"].values()
                    # Without ids, the answers belong to the calls by their order.
                    found.append(("result", (answer.get("id") or names[_answered(found)], text)))
                elif "inlineData" in part:
                    found.append(("image", part["inlineData"]["data"]))
                else:
                    found.append(("user" if content["role"] == "user" else "model", part["text"]))
        return found


def _answered(found: list[tuple[str, Any]]) -> int:
    return sum(kind == "result" for kind, _ in found)
