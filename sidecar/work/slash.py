"""Slash commands at the start of a task, and suggestions for mistyped ones.

A sentence may start with a path or an address too ("/etc is not readable", "/reviews answers 500"), so only words that
can hardly be anything else get a suggestion.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from sidecar.wire.intents import SLASH_PATTERN

_SLASH = re.compile(SLASH_PATTERN)
#: Shorter names resemble too many words, so only their own letters count: swapped, doubled or left out.
_SHORT = 5
_SHORT_SIMILARITY = 0.65
_SIMILARITY = 0.8


class Slash(NamedTuple):
    word: str
    rest: str


def parse_slash(task: str) -> Slash | None:
    text = task.lstrip()
    found = _SLASH.match(text)
    return Slash(found[1], text[found.end() :]) if found else None


def suggest_command(task: str, names: Iterable[str]) -> str | None:
    """The error for a task that starts with a misspelling of one of these commands; `None` for any other task."""
    slash, known = parse_slash(task), frozenset(names)
    if slash is None or slash.word in known or (nearest := _nearest(slash.word.lower(), known)) is None:
        return None
    return (
        f"There is no command /{slash.word[:50]}. Did you mean /{nearest}? Nothing was started. If you meant a "
        "sentence, start it with another word."
    )


def _nearest(word: str, names: Iterable[str]) -> str | None:
    from difflib import SequenceMatcher

    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(word)
    similar: list[tuple[float, str]] = []
    for name in sorted(names):
        # People rarely mistype the first letter, and a plural is a name of its own.
        swapped = sorted(word) == sorted(name)
        if not swapped and (word[0] != name[0] or word == f"{name}s"):
            continue
        short = len(name) < _SHORT
        if short and not set(word) <= set(name):
            continue
        matcher.set_seq1(name)
        if (ratio := matcher.ratio()) >= (_SHORT_SIMILARITY if short else _SIMILARITY):
            similar.append((ratio, name))
    return max(similar, key=lambda pair: pair[0])[1] if similar else None
