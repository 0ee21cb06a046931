"""Guesses a sentence's intent from its words: how sure that is, and which words decided."""

from functools import cache
from math import exp
from pathlib import Path
from typing import NamedTuple

from sidecar.wire.intents import INTENTS, Intent
from sidecar.work.routing.features import features

#: The weight of each feature for each intent, a letter each. `packaging/learn.py` writes it.
LEARNED = Path(__file__).with_name("learned.tsv")
#: The letter of weight 0; an intent is e times as likely with each UNIT letters more.
NEUTRAL, UNIT = ord("O"), 16
#: Only your own choice is certain.
_MAX_CONFIDENCE = 0.99
#: Nobody is sent to research by the words alone: it is chosen.
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


def guess(text: str) -> Guess:
    learned = _learned()
    found = [feature for feature in features(text) if feature in learned]
    rows = [learned[feature] for feature in found]
    # Every intent gets as many letters, so the neutral letter adds the same to all.
    scores = list(map(sum, zip(*rows, strict=True)))
    best = scores.index(max(scores))
    odds = [exp((score - scores[best]) / UNIT) for score in scores]
    total = sum(odds)
    writes = sum([odds[place] for place in _WRITING]) / total
    return Guess(GUESSED[best], min(1 / total, _MAX_CONFIDENCE), _why(best, found, rows), writes)


def _why(intent: int, found: list[str], rows: list[bytes]) -> str:
    """The reason, with the one or two words that weighed most."""
    most, words = NEUTRAL, ""
    for feature, row in zip(found, rows, strict=True):
        if row[intent] > most and feature[0].isalnum() and feature[-1].isalnum() and "_" not in feature:
            most, words = row[intent], feature
    reason = _REASONS[GUESSED[intent]]
    return f"{reason} (“{words}”)" if words else reason


@cache
def _learned() -> dict[str, bytes]:
    """The letters by feature."""
    lines = LEARNED.read_bytes().splitlines()[1:]
    return {feature.decode(): letters for feature, _, letters in (line.partition(b"\t") for line in lines)}
