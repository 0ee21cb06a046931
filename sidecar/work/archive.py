"""What was left out of a conversation to make room: its agent can search it with `recall`, which is no tool of ours.

It is offered once there is something to find. What it answers is read off the conversation, as everything else is: a
resumed task is answered the same.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache

from sidecar.models.port import ToolReturn, ToolUse
from sidecar.wire.tools import ToolInfo

#: Lines around each that is found, and the characters that one answer may have.
_AROUND = 2
_ANSWER = 3_000
_LINE = 300
#: Which argument of a call says what it was about.
_ABOUT = ("path", "command", "query", "pattern", "paths", "target", "ref", "message", "from", "patch")

RECALL = "recall"


@cache
def recall() -> ToolInfo:
    return ToolInfo(
        name=RECALL,
        description="Search what was left out of this conversation to make room, by words (none: list it).",
        parameters={"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
        executor="local",
        timeout=1,
        retryable=False,
        parallel=True,
        effects="none",
    )


@dataclass(slots=True)
class Archive:
    """Everything that was said or brought, by what it was about. The newest of what is about the same comes last."""

    kept: list[tuple[str, str]] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.kept)

    def add(self, about: str, text: str) -> None:
        if text:
            self.kept.append((about, text))

    def answer(self, call: ToolUse, most: int = _ANSWER) -> ToolReturn:
        if not self.kept:
            content = "Nothing was left out of this conversation."
            return ToolReturn(id=call.id, tool=call.tool, status="success", content=content)
        query = call.args.get("query")
        found = self._found(str(query), most) if query else ""
        if found:
            return ToolReturn(id=call.id, tool=call.tool, status="success", content=found)
        listed = "\n".join(f"- {about}" for about in dict.fromkeys(about for about, _ in self.kept))
        none = f"Nothing that was left out has {str(query)[:100]!r} in it.\n" if query else ""
        content = f"{none}Left out were:\n{listed}"[:most]
        return ToolReturn(id=call.id, tool=call.tool, status="success", content=content)

    def _found(self, query: str, most: int) -> str:
        """The lines that have the whole query; else all of its words; else a long one of them. The newest first."""
        words = query.lower().split()
        long = [word for word in words if len(word) > 3]
        matches: tuple[Callable[[str], bool], ...] = (
            lambda line: " ".join(words) in line,
            lambda line: all(word in line for word in words),
            lambda line: any(word in line for word in long),
        )
        for matching in matches:
            parts: list[str] = []
            for about, text in reversed(self.kept):
                lines = text.splitlines()
                hits = [place for place, line in enumerate(lines) if matching(line.lower())]
                if hits:
                    parts.append("\n".join((f"{about}:", *_shown(lines, hits))))
                if sum(map(len, parts)) > most:
                    break
            if parts:
                found = "\n\n".join(dict.fromkeys(parts))
                return found if len(found) <= most else f"{found[:most]}\n… more is found; ask for less"
        return ""


def about(call: ToolUse) -> str:
    """A call in a few words: its tool, and what it was about."""
    subject = next((str(call.args[name]) for name in _ABOUT if call.args.get(name)), "")
    return f"{call.tool} {' '.join(subject.split())[:80]}".rstrip()


def _shown(lines: Sequence[str], hits: Sequence[int]) -> Iterator[str]:
    last = -1
    for hit in hits:
        first = max(hit - _AROUND, last + 1, 0)
        if last >= 0 and first > last + 1:
            yield "…"
        for place in range(first, min(hit + _AROUND + 1, len(lines))):
            yield lines[place][:_LINE]
            last = place
