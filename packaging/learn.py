"""Trains the router: learns from labelled sentences which words indicate which intent.

A softmax regression over the features of `sidecar.work.routing`, in two minutes of plain Python; the same sentences
give the same file. It prints the share of right guesses, also for sentences that it wasn't trained with. `--check` only
tests whether the file belongs to the sentences.
"""

import hashlib
import random
import sys
from collections import Counter
from collections.abc import Sequence
from itertools import cycle
from math import exp, sqrt
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

PROJECT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(PROJECT))

from sidecar.wire.intents import Intent  # noqa: E402
from sidecar.work.routing.features import FOLLOWS, REPORTS, features  # noqa: E402
from sidecar.work.routing.guess import GUESSED, LEARNED, NEUTRAL, UNIT, guess  # noqa: E402
from sidecar.work.routing.translation import WORDS  # noqa: E402
from tests.sentences import all_sentences, continuations, labelled  # noqa: E402

EPOCHS = 14
LEARNING_RATE = 0.3
#: The share of features that each step ignores, so that none decides alone.
DROPOUT = 0.4
#: A feature of a single sentence is an accident.
MIN_SENTENCES = 2
MAX_FEATURES = 48_000
#: Each run learns in another order; the mean of several depends less on accidents than any of them.
RUNS = 3

#: Any request may follow an answer: one in so many is learned as such too.
FOLLOWING = 10
#: An intent for each kind of work that may have been done before.
KINDS: tuple[Intent, ...] = ("edit_code", "explain_code", "run_command")
#: In a hurry, people leave out the question mark: one question in so many is learned without it too.
UNMARKED = 2

Rows = list[list[float]]


class Sentence(NamedTuple):
    intent: Intent
    text: str
    #: Something was said before in the conversation.
    follows: bool = False
    #: The intent of that.
    before: Intent | None = None


def learn(sentences: Sequence[Sentence]) -> dict[str, list[float]]:
    """For every feature, its weight for each intent: the mean of several runs."""
    found = [dict.fromkeys(features(each.text, follows=each.follows, before=each.before)) for each in sentences]
    counts = Counter(feature for each in found for feature in each)
    names = sorted(feature for feature, count in counts.items() if count >= MIN_SENTENCES)
    numbers = {feature: number for number, feature in enumerate(names)}
    corrections = frozenset(number for feature, number in numbers.items() if feature[0] in (FOLLOWS, REPORTS))
    examples = [
        (sorted(numbers[feature] for feature in each if feature in numbers), GUESSED.index(sentence.intent))
        for each, sentence in zip(found, sentences, strict=True)
    ]
    runs = [_weights(list(examples), len(names), corrections, seed) for seed in range(1, RUNS + 1)]
    weights = [[sum(column) / RUNS for column in zip(*rows, strict=True)] for rows in zip(*runs, strict=True)]
    worth = {name: _spread(weights[number]) * sqrt(counts[name]) for name, number in numbers.items()}
    best = sorted(names, key=worth.__getitem__)[-MAX_FEATURES:]
    return {name: weights[numbers[name]] for name in sorted(best, key=lambda name: crc32(name.encode()))}


def _weights(examples: list[tuple[list[int], int]], size: int, corrections: frozenset[int], seed: int) -> Rows:
    """For every feature, its weight for each intent, averaged over all steps of one run."""
    weights: Rows = [[0.0] * len(GUESSED) for _ in range(size)]
    #: Updates times the step at which they came: subtracted in the end, this leaves the average.
    added: Rows = [[0.0] * len(GUESSED) for _ in range(size)]
    moved = [0.01] * size
    chance, step = random.Random(seed), 1
    for _ in range(EPOCHS):
        chance.shuffle(examples)
        for whole, right in examples:
            seen = [number for number in whole if chance.random() > DROPOUT] or whole
            errors = _errors([weights[number] for number in seen], right)
            change = sum([error * error for error in errors])
            # Follow-ups and reports use words in their own way, so the words' own weights stay as they are.
            for number in corrections.intersection(seen) or seen:
                moved[number] += change
                rate = LEARNING_RATE / sqrt(moved[number])
                row, when = weights[number], added[number]
                for intent, error in enumerate(errors):
                    row[intent] += rate * error
                    when[intent] += rate * error * step
            step += 1
    return [
        [now - late / step for now, late in zip(row, when, strict=True)]
        for row, when in zip(weights, added, strict=True)
    ]


def _errors(rows: Rows, right: int) -> list[float]:
    """For each intent, its target probability minus the predicted one."""
    scores = [sum(column) for column in zip(*rows, strict=True)]
    highest = max(scores)
    odds = [exp(score - highest) for score in scores]
    total = sum(odds)
    return [(intent == right) - each / total for intent, each in enumerate(odds)]


def _spread(row: Sequence[float]) -> float:
    return max(row) - min(row)


def head(sentences: Sequence[Sentence]) -> str:
    """The first line of the file, which identifies the training sentences and the dictionary."""
    text_of_all = "\n".join("\t".join(map(str, each)) for each in sentences)
    fingerprint = hashlib.sha256(text_of_all.encode() + WORDS.read_bytes()).hexdigest()[:16]
    return f"# packaging/learn.py, {len(sentences)} sentences, {fingerprint}\t{' '.join(GUESSED)}"


def letter(weight: float) -> str:
    """A printable character for a weight."""
    return chr(min(max(NEUTRAL + round(weight * UNIT), ord("!")), ord("~")))


def to_learn() -> list[Sentence]:
    learned = [Sentence(*each) for each in all_sentences("learned")]
    followed = [Sentence(*each, follows=True) for each in all_sentences("followed")]
    followed += [each._replace(follows=True) for each in learned[::FOLLOWING]]
    # What was done before decides only about requests that leave out what they want.
    followed += [each._replace(before=before) for each, before in zip(followed, cycle(KINDS), strict=False)]
    continued = [Sentence(before, text, True, before) for text in continuations() for before in KINDS]
    # If it is unknown what was done before, an edit that asks first is never wrong.
    continued += [Sentence("edit_code", text, True) for text in continuations()]
    sentences = [*learned, *followed, *continued]
    asked = [each for each in sentences if each.text.endswith("?")]
    return sentences + [each._replace(text=each.text.rstrip("? ")) for each in asked[::UNMARKED]]


def main() -> int:
    sentences = to_learn()
    if "--check" in sys.argv[1:]:
        with LEARNED.open(encoding="utf-8") as file:
            fresh = file.readline().rstrip("\n") == head(sentences)
        print("" if fresh else f"{LEARNED.name} belongs to other sentences; run `make learn`", end="", file=sys.stderr)
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
