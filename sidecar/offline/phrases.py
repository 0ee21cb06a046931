"""Phrases as people say them, one a line: a small way to write the patterns that skills recognise."""

import re
from collections.abc import Sequence
from functools import cached_property

from sidecar.offline.wording import name_group, path_group

_SYMBOLS = "function|method|class|symbol|variable|constant|type|interface|component|hook|struct|enum|decorator|fixture"
_PROJECTS = "project|repo|repository|code[ -]?base|code|app|application|package|library|program|workspace|sources"
#: What every phrase may use, between braces.
_PARTS = {
    "the": r"(?:(?:the|my|our|this)\s+)?",
    "show": r"(?:(?:show|give|tell|list|print|draw|make)\s+(?:me\s+)?)",
    "kind": rf"(?:(?:(?:the|my|our)\s+)?(?P<kind>{_SYMBOLS})\s+)?",
    "name": name_group("name"),
    "path": path_group("path"),
    "project": rf"(?:(?:this|the|my|our|that)\s+)?(?:(?:whole|entire|current)\s+)?(?:{_PROJECTS})",
}

#: Nobody says more in one sentence, and no pattern should have to try.
_LONGEST = 400


class Phrases:
    """Patterns that are made when they are first tried: most are never needed."""

    def __init__(self, lines: Sequence[str], parts: dict[str, str]) -> None:
        self._lines = lines
        self._parts = parts

    @cached_property
    def patterns(self) -> list[re.Pattern[str]]:
        return [re.compile(_source(line, self._parts), re.IGNORECASE) for line in self._lines]


def phrases(text: str, **parts: str) -> Phrases:
    """A pattern for each line. A space is any space, brackets only group, and `{name}` is a part."""
    return Phrases([line.strip() for line in text.splitlines() if line.strip()], {**_PARTS, **parts})


def understood(known: Phrases, words: str) -> re.Match[str] | None:
    """The first phrase that is all of the words."""
    if len(words) > _LONGEST:
        return None
    return next((match for pattern in known.patterns if (match := pattern.fullmatch(words)) is not None), None)


def group(match: re.Match[str], name: str) -> str:
    """What stands in a group, or nothing if the phrase has none."""
    return match.groupdict().get(name) or ""


def part(text: str, **parts: str) -> str:
    """A piece of a phrase, for use in others."""
    return f"(?:{_source(text, {**_PARTS, **parts})})"


def _source(line: str, parts: dict[str, str]) -> str:
    text = re.sub(r"(?<!\\)\((?!\?)", "(?:", line).replace(" ?", r"\s?").replace(" ", r"\s+")
    return re.sub(r"\{([a-z]\w*)\}", lambda found: parts[found[1]], text)
