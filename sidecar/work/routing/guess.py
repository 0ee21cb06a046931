"""Guesses a sentence's intent from its words: how sure that is, and which words decided."""

from array import array
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import accumulate
from math import exp
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

from sidecar.wire.intents import INTENTS, Intent
from sidecar.work.routing.features import FOLLOWS, features

#: The weight of each feature for each intent, a letter each, in the order of `crc32`. `packaging/learn.py` writes it.
LEARNED = Path(__file__).with_name("learned.tsv")
#: The letter of weight 0; an intent is e times as likely with each UNIT letters more.
NEUTRAL, UNIT = ord("O"), 16
#: The lower half of a hash.
_LOWER = 0xFFFF
#: So many bytes of the file are read at once.
_BLOCK = 1 << 16
#: Only your own choice is certain.
_MAX_CONFIDENCE = 0.99
#: The words alone never lead to research: you choose it.
GUESSED: tuple[Intent, ...] = tuple(intent for intent in INTENTS if intent != "research")
_WRITING = tuple(GUESSED.index(intent) for intent in ("edit_code", "refactor_code", "create_project", "write_docs"))
_REASONS: dict[Intent, str] = {
    "create_project": "it asks for a new project",
    "edit_code": "it asks for a change",
    "refactor_code": "it asks to restructure code",
    "write_docs": "it asks for documentation",
    "run_command": "it asks to run something",
    "review_code": "it asks for a review",
    "explain_code": "it asks about the code, not for a change",
    "chat": "it is not about code",
}


class Guess(NamedTuple):
    intent: Intent
    confidence: float
    why: str
    #: How likely it wants something changed.
    writes: float = 0.0
    #: The same by the words alone, wherever in the conversation they are.
    writes_alone: float = 0.0


def guess(text: str, *, follows: bool = False, before: Intent | None = None) -> Guess:
    """`follows`: something was said before in this conversation; `before`: the intent of that, if it is known."""
    rows = _learned().find(features(text, follows=follows, before=before))
    odds = _odds(rows.values())
    total, best = sum(odds), odds.index(max(odds))
    writes = alone = sum([odds[place] for place in _WRITING]) / total
    if follows:
        without = _odds([row for feature, row in rows.items() if feature[0] != FOLLOWS])
        alone = sum([without[place] for place in _WRITING]) / sum(without)
    confidence = min(odds[best] / total, _MAX_CONFIDENCE)
    return Guess(GUESSED[best], confidence, _why(best, rows, text.lower()), writes, alone)


def _odds(rows: Iterable[bytes]) -> list[float]:
    letters, width = b"".join(rows), len(GUESSED)
    # Every intent gets as many letters, so the neutral letter adds the same to all.
    scores = [sum(letters[intent::width]) for intent in range(width)]
    highest = max(scores)
    return [exp((score - highest) / UNIT) for score in scores]


def _why(intent: int, rows: dict[str, bytes], text: str) -> str:
    """The reason, with the one or two words of the text that weighed most."""
    most, words = NEUTRAL, ""
    for feature, row in rows.items():
        if row[intent] > most and feature[0].isalnum() and feature[-1].isalnum() and feature in text:
            most, words = row[intent], feature
    reason = _REASONS[GUESSED[intent]]
    return f"{reason} (“{words}”)" if words else reason


class _Learned:
    """The letters by feature. As a dictionary, they'd take a twelfth of the memory of an idle sidecar."""

    def __init__(self, file: Path) -> None:
        hashes, letters, sharing = array("H"), bytearray(), bytearray(_LOWER + 1)
        width = self._width = len(GUESSED)
        with file.open("rb") as text:
            next(text)
            while lines := text.readlines(_BLOCK):
                letters += b"".join([line[-width - 1 : -1] for line in lines])
                values = [crc32(line[: -width - 2]) for line in lines]
                hashes.extend([value & _LOWER for value in values])
                for value in values:
                    sharing[value >> 16] += 1
        #: The lower half of each hash, and where those with the same upper half begin.
        self._hashes, self._starts = hashes, array("H", accumulate(sharing, initial=0))
        self._letters = bytes(letters)

    def find(self, features: Sequence[str]) -> dict[str, bytes]:
        """The letters of those that are known, each once."""
        hashes, starts, letters, width = self._hashes, self._starts, self._letters, self._width
        found: dict[str, bytes] = {}
        for feature, wanted in zip(features, map(crc32, map(str.encode, features)), strict=True):
            place, end = starts[wanted >> 16], starts[(wanted >> 16) + 1]
            # Hashes rarely share their upper half.
            while place < end:
                if hashes[place] == wanted & _LOWER:
                    found[feature] = letters[place * width : (place + 1) * width]
                    break
                place += 1
        return found


@cache
def _learned() -> _Learned:
    return _Learned(LEARNED)
