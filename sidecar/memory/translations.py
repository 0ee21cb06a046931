"""Which words names are made of, given the words of a description: learned from documented functions.

A description says "whether" where the name says `is`, and "retrieve" where it says `get`. `packaging/learn_names.py`
writes the table.
"""

import math
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

TABLE = Path(__file__).with_name("translations.tsv")
#: The table has probabilities in percent, and frequencies in millionths.
PERCENT = 100
MILLION = 1_000_000
#: How likely a word that the table doesn't know is a part of the name as it is.
_SAME = 0.25
#: The share of a name that its description explains.
_EXPLAINED = 0.7
#: How often a part occurs in names if the table doesn't know it.
_RARE = 2e-5
#: What an unexplained part adds to the evidence for a name.
UNEXPLAINED = math.log(1 - _EXPLAINED)
_LEAST = 0.05


class Translations(NamedTuple):
    #: For a word, the parts of names that mean it, each with a probability.
    parts: Mapping[str, Mapping[str, float]]
    #: How often each part occurs in names.
    frequencies: Mapping[str, float]

    def evidence(self, words: Iterable[str]) -> dict[str, float]:
        """For each part of a name that the words explain, the logarithm of how much likelier they make it."""
        asked = list(dict.fromkeys(words))
        found: dict[str, float] = {}
        for word in asked:
            row = self.parts.get(word, {})
            for part, probability in row.items():
                found[part] = found.get(part, 0.0) + probability
            same = row.get(word, 0.0)
            if same < _SAME:
                found[word] = found.get(word, 0.0) + _SAME - same
        return {
            part: math.log(_EXPLAINED * total / len(asked) / self.frequencies.get(part, _RARE) + 1 - _EXPLAINED)
            for part, total in found.items()
        }

    def related(self, word: str) -> list[tuple[str, float]]:
        """Other words that names have for this one, each with a weight below 1."""
        row = self.parts.get(word, {})
        return [
            (part, min(2 * probability, 0.6))
            for part, probability in row.items()
            if part != word and probability >= _LEAST
        ]


@cache
def translations() -> Translations:
    """The first line explains the table; a line is a part and its frequency, or a word and the parts for it."""
    parts: dict[str, dict[str, float]] = {}
    frequencies: dict[str, float] = {}
    for line in TABLE.read_text(encoding="utf-8").split("\n")[1:]:
        word, frequency, *row = line.split()
        if frequency != "-":
            frequencies[word] = int(frequency) / MILLION
        if row:
            parts[word] = {part: int(share) / PERCENT for part, share in zip(row[::2], row[1::2], strict=True)}
    return Translations(parts, frequencies)
