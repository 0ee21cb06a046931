"""Learns from labelled sentences which words speak for which intent, and writes it where the router finds it.

A softmax regression over the features of `sidecar.work.routing`: half a minute of plain Python, and the same
sentences give the same file. It prints how many sentences it gets right, also of those that it was not taught with.
With `--check` it only looks whether the sentences are still those that the file was learned from.
"""

import hashlib
import random
import sys
from collections import Counter
from collections.abc import Sequence
from math import exp, sqrt
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(PROJECT))

from sidecar.wire.intents import INTENTS, Intent  # noqa: E402
from sidecar.work.routing.features import features  # noqa: E402
from sidecar.work.routing.guess import LEARNED, NOTHING, UNIT, guess  # noqa: E402
from tests.sentences import labelled, said  # noqa: E402

ROUNDS = 20
PACE = 0.3
#: Of the features of a sentence, so many are looked away from at a time: none may come to decide alone.
OVERLOOKED = 0.4
#: What one sentence alone has is an accident; of the rest, so many features are enough.
SEEN = 2
KEPT = 25_000
SEED = 1

Rows = list[list[float]]


def learn(sentences: Sequence[tuple[Intent, str]]) -> dict[str, list[float]]:
    """For every feature, how much it speaks for each intent: the average over all that was thought on the way."""
    found = [features(text) for _, text in sentences]
    counts = Counter(feature for each in found for feature in each)
    names = sorted(feature for feature, count in counts.items() if count >= SEEN)
    numbers = {feature: number for number, feature in enumerate(names)}
    lessons = [
        (sorted(numbers[feature] for feature in each if feature in numbers), INTENTS.index(intent))
        for each, (intent, _) in zip(found, sentences, strict=True)
    ]
    weights: Rows = [[0.0] * len(INTENTS) for _ in names]
    #: What was added and when: taken off at the end, it leaves the average.
    added: Rows = [[0.0] * len(INTENTS) for _ in names]
    moved = [0.01] * len(names)
    chance, step = random.Random(SEED), 1
    for _ in range(ROUNDS):
        chance.shuffle(lessons)
        for whole, right in lessons:
            seen = [number for number in whole if chance.random() > OVERLOOKED] or whole
            errors = _errors([weights[number] for number in seen], right)
            size = sum([error * error for error in errors])
            for number in seen:
                moved[number] += size
                pace = PACE / sqrt(moved[number])
                row, when = weights[number], added[number]
                for intent, error in enumerate(errors):
                    row[intent] += pace * error
                    when[intent] += pace * error * step
            step += 1
    worth = {name: _reach(weights[number]) * sqrt(counts[name]) for name, number in numbers.items()}
    return {
        name: [now - late / step for now, late in zip(weights[numbers[name]], added[numbers[name]], strict=True)]
        for name in sorted(sorted(names, key=worth.__getitem__)[-KEPT:])
    }


def _errors(rows: Rows, right: int) -> list[float]:
    """For each intent: how likely it should have seemed, less how likely it did."""
    scores = [sum(column) for column in zip(*rows, strict=True)]
    highest = max(scores)
    odds = [exp(score - highest) for score in scores]
    total = sum(odds)
    return [(intent == right) - each / total for intent, each in enumerate(odds)]


def _reach(row: Sequence[float]) -> float:
    return max(row) - min(row)


def head(sentences: Sequence[tuple[Intent, str]]) -> str:
    """The first line of the file, from which it can be told what it was learned from."""
    said_so = "\n".join(f"{intent}\t{text}" for intent, text in sentences)
    fingerprint = hashlib.sha256(said_so.encode()).hexdigest()[:16]
    return f"# packaging/learn.py, {len(sentences)} sentences, {fingerprint}\t{' '.join(INTENTS)}"


def letter(weight: float) -> str:
    """Any that can be seen."""
    return chr(min(max(NOTHING + round(weight * UNIT), ord("!")), ord("~")))


def main() -> int:
    sentences = list(said("learned"))
    if "--check" in sys.argv[1:]:
        with LEARNED.open(encoding="utf-8") as file:
            fresh = file.readline().rstrip("\n") == head(sentences)
        print("" if fresh else f"{LEARNED.name} was learned from other sentences: make learn", end="", file=sys.stderr)
        return 0 if fresh else 1
    learned = learn(sentences)
    rows = [f"{name}\t{''.join(map(letter, row))}" for name, row in learned.items()]
    LEARNED.write_text("\n".join([head(sentences), *rows, ""]), encoding="utf-8")
    for part in ("learned", "unseen"):
        for name, known in labelled(part):
            right = sum(guess(text).intent == intent for intent, text in known)
            print(f"{part}/{name}: {right} of {len(known)}, {right / len(known):.1%}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
