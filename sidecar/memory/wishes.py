"""Tells a wish for a change ("Fix the crash when …") from a description of code ("Returns the path of a …").

Learned from subjects of commits and first sentences of documentation: `packaging/ranking_wishes.py`. In repositories
that it did not learn from it is right for nine of ten.
"""

import math
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

TABLE = Path(__file__).with_name("wishes.tsv")
#: Instead of a word: as the first one, any in the third person ("returns"), and anywhere, any question at all.
ANY = "*"
_WORD = re.compile(r"[A-Za-z']+")
_THIRD_PERSON = re.compile(r".*[^s]s")


class Feature(NamedTuple):
    """A word as the first of a question, or anywhere in it."""

    word: str
    first: bool


def features(question: str) -> list[Feature]:
    words = _WORD.findall(question.lower())
    found = [Feature(word, first=False) for word in (ANY, *dict.fromkeys(words))]
    if words:
        found.append(Feature(words[0], first=True))
        if _THIRD_PERSON.fullmatch(words[0]):
            found.append(Feature(ANY, first=True))
    return found


def wish(question: str) -> float:
    """How likely it asks for a change, from 0 to 1."""
    return share(math.fsum(weights().get(feature, 0.0) for feature in features(question)))


def share(score: float) -> float:
    return 1 / (1 + math.exp(-max(-30.0, min(score, 30.0))))


@cache
def weights() -> Mapping[Feature, float]:
    """The first line explains the table."""
    found: dict[Feature, float] = {}
    for line in TABLE.read_text(encoding="utf-8").splitlines()[1:]:
        word, *row = line.split()
        found |= {Feature(word, first): float(each) for first, each in zip((True, False), row, strict=True)}
    return found
