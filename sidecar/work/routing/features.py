"""Features of a sentence: its words, alone and combined, and their positions."""

import re
from itertools import pairwise

_ALONE = "\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af"
#: A word or a sign. In scripts without spaces, each character counts as a word.
_WORD = re.compile(rf"[{_ALONE}]|[^\W{_ALONE}]+(?:'[^\W{_ALONE}]+)*|[^\s\w]")
#: Code in backticks says what a request is about, but little about what is wanted.
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]+`", re.DOTALL)
#: The request is at the beginning of a long text, or at its end.
_CHARACTERS, _FIRST, _LAST = 2_000, 80, 40
_STOPS = frozenset(".,;:!?-")
#: Most languages inflect the end of a word.
_STEM = 5
#: Names in code: `snake_case`, `camelCase`, or anything in backticks.
_NAME = re.compile(r"_|`|[a-z0-9][A-Z]")
_NAMED = "@"


def features(text: str) -> list[str]:
    """Each once, in order."""
    text = _without_code(text)
    words = _words(text.lower())
    found = _combine(words)
    found += [f"{word[:_STEM]}~" for word in words if len(word) > _STEM]
    found += [f">{other}" for word, other in pairwise(words) if word in _STOPS]
    found.append(f"#{min(len(words) // 4, 8)}")
    if _NAME.search(text):
        # Which function it names says nothing; that it names one says much.
        found += _combine([_NAMED if _NAME.search(word) else word.lower() for word in _words(text)])
    return list(dict.fromkeys(found))


def _combine(words: list[str]) -> list[str]:
    """Each word alone, with the next one, and with the one after that."""
    line = ["^", *words, "$"]
    pairs = [f"{word} {other}" for word, other in pairwise(line)]
    return [*line, *pairs, *[f"{word} _ {other}" for word, other in zip(line, line[2:], strict=False)]]


def _words(text: str) -> list[str]:
    words = _WORD.findall(text)
    return words if len(words) <= _FIRST + _LAST else words[:_FIRST] + words[-_LAST:]


def _without_code(text: str) -> str:
    if "`" in text and not _CODE.fullmatch(text.strip()):
        text = _CODE.sub(" ` ", text)
    return text if len(text) <= 2 * _CHARACTERS else f"{text[:_CHARACTERS]} {text[-_CHARACTERS:]}"
