"""The part of a conversation that was left out to make room. Its agent can search it with `recall`.

`recall` is offered once there is something to find. Its answers depend only on the conversation, so a resumed task gets
the same ones.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache

from sidecar.models.port import ToolReturn, ToolUse
from sidecar.wire.tools import ToolInfo

_CONTEXT_LINES = 2
_ANSWER_CHARACTERS = 3_000
_LINE_CHARACTERS = 300
#: The arguments that describe a call, in order of preference.
_SUBJECTS = ("path", "command", "query", "pattern", "paths", "target", "ref", "message", "from", "patch")

RECALL = "recall"


@cache
def recall_tool() -> ToolInfo:
    return ToolInfo(
        name=RECALL,
        description="Search the part of this conversation that was left out to make room, by words (none: list it).",
        parameters={"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
        executor="local",
        timeout=1,
        retryable=False,
        parallel=True,
        effects="none",
    )


@dataclass(slots=True)
class Archive:
    """Texts with a short description each, newest last."""

    entries: list[tuple[str, str]] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.entries)

    def add(self, about: str, text: str) -> None:
        if text:
            self.entries.append((about, text))

    def holds(self, call: ToolUse) -> bool:
        """Whether it can answer this call."""
        query = call.args.get("query")
        return bool(self.entries) and (not query or bool(self._search(str(query), _ANSWER_CHARACTERS)))

    def answer(self, call: ToolUse, most: int = _ANSWER_CHARACTERS) -> ToolReturn:
        if not self.entries:
            content = "Nothing was left out of this conversation."
            return ToolReturn(id=call.id, tool=call.tool, status="success", content=content)
        query = call.args.get("query")
        found = self._search(str(query), most) if query else ""
        if found:
            return ToolReturn(id=call.id, tool=call.tool, status="success", content=found)
        listed = "\n".join(f"- {about}" for about in dict.fromkeys(about for about, _ in self.entries))
        none = f"No matches for {str(query)[:100]!r} in what was left out.\n" if query else ""
        content = f"{none}Left out:\n{listed}"[:most]
        return ToolReturn(id=call.id, tool=call.tool, status="success", content=content)

    def _search(self, query: str, most: int) -> str:
        """Lines with the whole query; else with all its words; else with a long one of them. Newest first."""
        words = query.lower().split()
        long = [word for word in words if len(word) > 3]
        matches: tuple[Callable[[str], bool], ...] = (
            lambda line: " ".join(words) in line,
            lambda line: all(word in line for word in words),
            lambda line: any(word in line for word in long),
        )
        for matching in matches:
            parts: list[str] = []
            for about, text in reversed(self.entries):
                lines = text.splitlines()
                hits = [place for place, line in enumerate(lines) if matching(line.lower())]
                if hits:
                    parts.append("\n".join((f"{about}:", *_with_context(lines, hits))))
                if sum(map(len, parts)) > most:
                    break
            if parts:
                found = "\n\n".join(dict.fromkeys(parts))
                return found if len(found) <= most else f"{found[:most]}\n… more matches; ask for less"
        return ""


def describe_call(call: ToolUse) -> str:
    """A short description of a call: its tool and its subject."""
    subject = next((str(call.args[name]) for name in _SUBJECTS if call.args.get(name)), "")
    return f"{call.tool} {' '.join(subject.split())[:80]}".rstrip()


def _with_context(lines: Sequence[str], hits: Sequence[int]) -> Iterator[str]:
    last = -1
    for hit in hits:
        first = max(hit - _CONTEXT_LINES, last + 1, 0)
        if last >= 0 and first > last + 1:
            yield "…"
        for place in range(first, min(hit + _CONTEXT_LINES + 1, len(lines))):
            yield lines[place][:_LINE_CHARACTERS]
            last = place
