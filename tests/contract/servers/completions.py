"""Chat Completions: unnamed events, deltas of one choice, usage in a chunk of its own, `[DONE]` at the end."""

import json
from typing import Any

from tests.contract.servers.http import Answer, failing
from tests.contract.servers.speech import Speech, Trouble


class Completions:
    def __init__(self, provider: str) -> None:
        self.provider = provider
        self.key = f"{provider.upper()}_API_KEY"
        self.base_url = f"{provider.upper()}_BASE_URL"
        self.model = {"openai": "gpt-6-sol", "groq": "openai/gpt-oss-120b"}[provider]
        self._thoughts = {"openai": "reasoning_content", "groq": "reasoning"}[provider]

    def prefix(self) -> str:
        return "/v1" if self.provider == "openai" else ""

    def stream(self, speech: Speech) -> bytes:
        deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
        if speech.thinking:
            deltas.append({self._thoughts: speech.thinking})
        if speech.text and speech.stop != "refusal":
            half = len(speech.text) // 2
            deltas += [{"content": speech.text[:half]}, {"content": speech.text[half:]}]
        for number, call in enumerate(speech.calls):
            head = {"index": number, "id": call.id or f"call_{number}", "type": "function"}
            half = len(call.args) // 2
            deltas.append({"tool_calls": [{**head, "function": {"name": call.tool, "arguments": ""}}]})
            pieces = [call.args[:half], call.args[half:]]
            deltas += [{"tool_calls": [{"index": number, "function": {"arguments": each}}]} for each in pieces]
        reason = "tool_calls" if speech.calls else "stop"
        reason = {"length": "length", "refusal": "content_filter"}.get(speech.stop, reason)
        chunks = [self._chunk([{"index": 0, "delta": delta, "finish_reason": None}]) for delta in deltas]
        details = {"cached_tokens": speech.cached}
        usage = {"prompt_tokens": speech.read, "completion_tokens": speech.written, "prompt_tokens_details": details}
        if not speech.unfinished:
            chunks.append(self._chunk([{"index": 0, "delta": {}, "finish_reason": reason}]))
            chunks.append(self._chunk([], usage=usage))
        written = [self.event(chunk) for chunk in chunks]
        end = b"" if speech.unfinished else b"data: [DONE]\n\n"
        return (b": keep-alive\n\n" if speech.keep_alives else b"").join([*written, end])

    def _chunk(self, choices: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
        same = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": self.model}
        return {**same, "choices": choices, **more}

    def error(self, trouble: Trouble) -> Answer:
        codes = {401: "invalid_api_key", 404: "model_not_found", 429: "rate_limit_exceeded"}
        error = {"message": trouble.message, "type": "invalid_request_error", "code": codes.get(trouble.status)}
        return failing(trouble.status, {"error": error}, **trouble.headers)

    def error_in_stream(self, speech: Speech) -> bytes:
        whole = self.stream(Speech(**{**speech.__dict__, "unfinished": True}))
        error = {"error": {"message": "The server had an error", "type": "server_error", "code": None}}
        return whole + self.event(error)

    def event(self, event: dict[str, Any]) -> bytes:
        return f"data: {json.dumps(event, ensure_ascii=False)}\n\n".encode()

    def tools(self, body: Any) -> list[str]:
        return [tool["function"]["name"] for tool in body["tools"]]

    def asked(self, body: Any) -> list[tuple[str, Any]]:
        found: list[tuple[str, Any]] = []
        for message in body["messages"]:
            match message["role"]:
                case "user" if isinstance(message["content"], list):
                    for part in message["content"]:
                        if part["type"] == "image_url":
                            found.append(("image", part["image_url"]["url"].partition("base64,")[2]))
                        else:
                            found.append(("user", part["text"]))
                case "user":
                    found.append(("user", message["content"]))
                case "assistant":
                    if message["content"]:
                        found.append(("model", message["content"]))
                    for call in message.get("tool_calls", []):
                        function = call["function"]
                        found.append(("call", (call["id"], function["name"], json.loads(function["arguments"]))))
                case "tool":
                    found.append(("result", (message["tool_call_id"], message["content"])))
        return found
