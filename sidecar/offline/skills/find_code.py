"""Answers where something is done, from the memory's search."""

import re

from sidecar.models.port import ToolReturn
from sidecar.offline.parsed_request import ParsedRequest
from sidecar.offline.results import records
from sidecar.offline.skill import OneCall
from sidecar.wire.base import JsonObject

_WHERE = re.compile(
    r"^(?:please\s+)?(?:(?:can|could)\s+you\s+)?(?:tell\s+me\s+|show\s+me\s+|find\s+out\s+)?(?:"
    r"where(?:\s+(?:in\s+(?:the|this|our)\s+(?:code|project|repo|repository)))?\s+(?:is|are|do|does|did|can|would|should|"
    r"we|the)\b.+"
    r"|which\s+(?:file|function|class|method|code|part)s?\s+.+"
    r"|(?:find|show\s+me)\s+(?:the\s+)?(?:code|function|place|method|class)s?\s+(?:that|which|where)\s+.+"
    r")$",
    re.IGNORECASE | re.DOTALL,
)
#: Questions about people, not about code.
_PERSONAL = re.compile(r"\b(?:my|mine|your|yours|you|am\s+i|i\s+am)\b", re.IGNORECASE)
_LONGEST = 300
_SHOWN = 6


class FindPlace(OneCall):
    example = "where are expired sessions removed?"
    tool = "find_code"
    tools = frozenset({"find_code"})

    def parse(self, question: ParsedRequest) -> JsonObject | None:
        words = question.words.strip()
        if len(words) > _LONGEST or _WHERE.match(words) is None or _PERSONAL.search(words):
            return None
        return {"query": words.rstrip(" ?!."), "limit": _SHOWN}

    def answer(self, args: JsonObject, last: ToolReturn) -> str:
        found = records(last, "hits")
        if not found:
            return last.content
        lines = [f"- `{each['path']}:{each['line']}` {each['kind']} {each['symbol']}".rstrip() for each in found]
        return "\n".join(["The best matches in this workspace:", "", *lines])
