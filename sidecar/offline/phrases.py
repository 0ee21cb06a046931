"""Request patterns, one phrase per line, with named parts for code names, paths and projects."""

import re
from collections.abc import Sequence
from functools import cached_property

from sidecar.offline.parsed_request import ParsedRequest

#: A name in the code, perhaps qualified, perhaps in quotes.
NAME = r"(?:[`\"'“‘])?(?P<{0}>[#$]?[^\W\d][\w$]*(?:(?:\.|::)[#$]?[^\W\d][\w$]*)*)(?:\(\))?(?:[`\"'”’])?"
#: A path, perhaps with a line or several. In quotes it may have spaces.
PATH = (
    r"(?P<{0}_quote>[`\"'“‘])?(?P<{0}>(?:\.{{1,2}}/)?"
    r"(?({0}_quote)[\w@+.()&, -]+(?:/[\w@+.()&, -]+)*|[\w@+.-]+(?:/[\w@+.-]+)*)/?)"
    r"(?::(?P<{0}_line>\d+)(?:[-–](?P<{0}_end>\d+))?)?(?:[`\"'”’])?"
)
#: The file open in the editor.
HERE = r"(?P<here>this\s+file|the\s+(?:current|open)\s+file|here)"
_SUFFIX = re.compile(
    r"\.(py|pyi|ts|tsx|mts|cts|js|jsx|mjs|cjs|go|rs|java|c|h|cpp|hpp|md|txt|json|toml|ya?ml|css|html)$"
)
_THIS_FILE = frozenset({"this file", "the current file", "the open file", "current file", "here", "it", "this"})
_SELECTED = re.compile(
    r"\s*(?:export\s+)?(?:default\s+)?(?:async\s+)?(?:def|class|function\*?|const|let|var|interface|type|enum)\s+([\w$]+)"
)
_IDENTIFIER = re.compile(r"\s*([#$]?[^\W\d][\w$]*)\s*")


def name_group(group: str) -> str:
    return NAME.format(group)


def path_group(group: str) -> str:
    return PATH.format(group)


def is_path(word: str) -> bool:
    return "/" in word or bool(_SUFFIX.search(word))


def is_member(old: str, new: str) -> bool:
    """Whether it is a member of a class that gets a new name, and no file: `Stack.go` and `walk`."""
    return re.fullmatch(r"[A-Z]\w*\.\w+", old) is not None and "." not in new and "/" not in new


def this_file(words: str) -> bool:
    return words.lower().strip() in _THIS_FILE


def selected_name(question: ParsedRequest) -> str | None:
    """The selected name, or the name that the selected code defines."""
    code = question.brief.selected_code or ""
    found = _IDENTIFIER.fullmatch(code) or _SELECTED.match(code)
    return found[1] if found else None


_SYMBOLS = "function|method|class|symbol|variable|constant|type|interface|component|hook|struct|enum|decorator|fixture"
_PROJECTS = "project|repo|repository|code[ -]?base|code|app|application|package|library|program|workspace|sources"
#: Parts that every phrase may use, in braces.
_PARTS = {
    "the": r"(?:(?:the|my|our|this)\s+)?",
    "show": r"(?:(?:show|give|tell|list|print|draw|make)\s+(?:me\s+)?)",
    "kind": rf"(?:(?:(?:the|my|our)\s+)?(?P<kind>{_SYMBOLS})\s+)?",
    "name": name_group("name"),
    "path": path_group("path"),
    "project": rf"(?:(?:this|the|my|our|that)\s+)?(?:(?:whole|entire|current)\s+)?(?:{_PROJECTS})",
}

#: A group or a set of characters without others inside, and what repeats it.
_INNERMOST = re.compile(r"(?:\\.|\((?:\\.|[^()\[\]\\])*\)|\[(?:\\.|[^\]\\])*\])(?:[?*+]|\{[\d,]+\})*")
#: A word as written; a letter that may be missing isn't part of it.
_LITERAL = re.compile(r"[a-z]{2,}(?![a-z]*[?*{])|[a-z]{2,}(?=[a-z][?*{])")

#: Longer requests match nothing; this bounds the time that patterns take.
_LONGEST = 400


class Phrase:
    """A pattern that compiles on first use: most are never needed, and compiling takes a millisecond."""

    def __init__(self, line: str, parts: dict[str, str]) -> None:
        self._line = line
        self._parts = parts

    @cached_property
    def _needed(self) -> list[str]:
        """Words that every match contains: those outside of groups and parts."""
        text = re.sub(r"\{\w+\}", " ", self._line)
        while (outside := _INNERMOST.sub(" ", text)) != text:
            text = outside
        return [] if "|" in text else _LITERAL.findall(text)

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        return re.compile(_source(self._line, self._parts), re.IGNORECASE)

    def match(self, words: str, folded: str) -> re.Match[str] | None:
        """The match of all words; `folded` are the same without case."""
        return self.pattern.fullmatch(words) if all(word in folded for word in self._needed) else None


class Phrases:
    def __init__(self, lines: Sequence[str], parts: dict[str, str]) -> None:
        self._phrases = [Phrase(line, parts) for line in lines]

    def match(self, words: str) -> re.Match[str] | None:
        """The match of the first phrase that covers all words."""
        if len(words) > _LONGEST:
            return None
        folded = words.casefold()
        return next((match for phrase in self._phrases if (match := phrase.match(words, folded)) is not None), None)


def phrases(text: str, **parts: str) -> Phrases:
    """One pattern per line. A space matches any space, brackets only group, and `{name}` is a part."""
    return Phrases([line.strip() for line in text.splitlines() if line.strip()], {**_PARTS, **parts})


def group(match: re.Match[str], name: str) -> str:
    """The text of a group, or "" if the phrase has none."""
    return match.groupdict().get(name) or ""


def part(text: str, **parts: str) -> str:
    """A part for use in other phrases."""
    return f"(?:{_source(text, {**_PARTS, **parts})})"


def _source(line: str, parts: dict[str, str]) -> str:
    text = re.sub(r"(?<!\\)\((?!\?)", "(?:", line).replace(" ?", r"\s?").replace(" ", r"\s+")
    return re.sub(r"\{([a-z]\w*)\}", lambda found: parts[found[1]], text)
