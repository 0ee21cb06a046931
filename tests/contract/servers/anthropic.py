"""The Messages API: named events, blocks with an index, cumulative usage, `message_stop` at the end."""

import json
from typing import Any

from tests.contract.servers.http import Answer, failing
from tests.contract.servers.speech import Speech, Trouble


class Anthropic:
    provider = "anthropic"
    key = "ANTHROPIC_API_KEY"
    base_url = "ANTHROPIC_BASE_URL"
    model = "claude-sonnet-5-5"

    def prefix(self) -> str:
        return ""

    def stream(self, speech: Speech) -> bytes:
        cached = speech.cached
        usage = {"input_tokens": speech.read - cached, "cache_read_input_tokens": cached, "output_tokens": 1}
        usage["cache_creation_input_tokens"] = 0
        message = {"id": "msg_1", "type": "message", "role": "assistant", "content": [], "model": self.model}
        events: list[dict[str, Any]] = [{"type": "message_start", "message": {**message, "usage": usage}}]
        index = 0
        if speech.thinking:
            events += self._block(
                index,
                {"type": "thinking", "thinking": "", "signature": ""},
                [
                    {"type": "thinking_delta", "thinking": speech.thinking},
                    {"type": "signature_delta", "signature": "c2lnbmF0dXJl"},
                ],
            )
            index += 1
        if speech.text:
            half = len(speech.text) // 2
            pieces = [speech.text[:half], speech.text[half:]]
            deltas: list[dict[str, Any]] = [{"type": "text_delta", "text": piece} for piece in pieces]
            events += self._block(index, {"type": "text", "text": ""}, deltas)
            index += 1
        for number, call in enumerate(speech.calls):
            half = len(call.args) // 2
            block = {"type": "tool_use", "id": call.id or f"toolu_{number}", "name": call.tool, "input": {}}
            pieces = [call.args[:half], call.args[half:]]
            events += self._block(index, block, [{"type": "input_json_delta", "partial_json": each} for each in pieces])
            index += 1
        reason = "tool_use" if speech.calls else "end_turn"
        reason = {"length": "max_tokens", "refusal": "refusal"}.get(speech.stop, reason)
        delta = {"stop_reason": reason, "stop_sequence": None}
        events.append({"type": "message_delta", "delta": delta, "usage": {"output_tokens": speech.written}})
        if not speech.unfinished:
            events.append({"type": "message_stop"})
        written = [self.event(each) for each in events]
        ping = self.event({"type": "ping"}) + b": still here\n\n"
        return (ping if speech.keep_alives else b"").join(written)

    def _block(self, index: int, block: dict[str, Any], deltas: list[dict[str, Any]]) -> list[dict[str, Any]]:
        pieces = [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        start = {"type": "content_block_start", "index": index, "content_block": block}
        return [start, *pieces, {"type": "content_block_stop", "index": index}]

    def error(self, trouble: Trouble) -> Answer:
        kinds = {401: "authentication_error", 404: "not_found_error", 429: "rate_limit_error", 529: "overloaded_error"}
        kind = kinds.get(trouble.status, "invalid_request_error" if trouble.status < 500 else "api_error")
        body = {"type": "error", "error": {"type": kind, "message": trouble.message}, "request_id": "req_1"}
        return failing(trouble.status, body, **trouble.headers)

    def error_in_stream(self, speech: Speech) -> bytes:
        error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
        return self.stream(speech).rpartition(b"event: message_delta")[0] + self.event(error)

    def event(self, event: dict[str, Any]) -> bytes:
        return f"event: {event['type']}\ndata: {json.dumps(event, ensure_ascii=False)}\n\n".encode()

    def tools(self, body: Any) -> list[str]:
        return [tool["name"] for tool in body["tools"]]

    def asked(self, body: Any) -> list[tuple[str, Any]]:
        found: list[tuple[str, Any]] = []
        for message in body["messages"]:
            assert message["content"], "an empty message is refused"
            for block in message["content"]:
                match block["type"]:
                    case "text":
                        assert block["text"].strip(), "an empty text is refused"
                        found.append(("user" if message["role"] == "user" else "model", block["text"]))
                    case "image":
                        found.append(("image", block["source"]["data"]))
                    case "tool_use":
                        found.append(("call", (block["id"], block["name"], block["input"])))
                    case "tool_result":
                        found.append(("result", (block["tool_use_id"], block["content"])))
                    case kind:
                        found.append((kind, block))
        return found
