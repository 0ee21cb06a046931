"""Parses mentions: files, lines of files, folders and names in the code that you write with an @."""

import re
from collections.abc import Iterator
from typing import NamedTuple

_MENTION = re.compile(r"""(?<![\w@])@(?:"([^"\n]{1,500})"|'([^'\n]{1,500})'|([^\s"'`,;!?<>|]{1,500}))""")
_LINES = re.compile(r"(?::|#L)(\d{1,7})(?:-L?(\d{1,7}))?$")
_NAME = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
_BRACKETS = {")": "(", "]": "[", "}": "{"}
_MAX_MENTIONS = 20


class Mention(NamedTuple):
    """`path` as written, and the lines that follow it."""

    path: str
    first: int | None = None
    last: int | None = None

    @property
    def name(self) -> str | None:
        """The name of a function or class, if it may be one; for `Parser.read`, the last part."""
        return self.path.rpartition(".")[2] if _NAME.fullmatch(self.path) else None

    def lines_of(self, text: str) -> str:
        if self.first is None:
            return text
        lines = text.splitlines()[max(self.first, 1) - 1 : self.last or self.first]
        return "\n".join(lines)

    def __str__(self) -> str:
        last = f"-{self.last}" if self.last else ""
        return f"{self.path}:{self.first}{last}" if self.first else self.path


def parse_mentions(text: str) -> list[Mention]:
    return list(dict.fromkeys(_find(text)))[:_MAX_MENTIONS]


def _find(text: str) -> Iterator[Mention]:
    for match in _MENTION.finditer(text):
        written = match[1] or match[2] or _strip_sentence(match[3])
        lines = _LINES.search(written)
        if lines is not None:
            yield Mention(written[: lines.start()], int(lines[1]), int(lines[2]) if lines[2] else None)
        elif written:
            yield Mention(written)


def _strip_sentence(word: str) -> str:
    """Strips punctuation and brackets that belong to the sentence."""
    while word and (
        word[-1] in ".:*_~" or (word[-1] in _BRACKETS and word.count(word[-1]) > word.count(_BRACKETS[word[-1]]))
    ):
        word = word[:-1]
    return word
