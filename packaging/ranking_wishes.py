"""Which words tell a wish for a change from a description: those of subjects of commits, or of documentation.

Logistic regression, by stochastic gradient descent; wishes and descriptions count as much as each other in all.
"""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ranking_questions import describe, is_source, read_commits, subject_of

from sidecar.memory.wishes import Feature, features, share

COMMITS = 3_000
#: Of each kind, from one repository.
MOST = 400
#: Rarer words are accidents.
FEWEST = 30
EPOCHS = 6
RATE = 0.2
#: Pulls the weights to zero.
DECAY = 1e-3
#: Smaller weights change nothing.
LEAST = 0.05
SEED = 7


class Texts(NamedTuple):
    wishes: list[str]
    descriptions: list[str]


def read_texts(repository: Path, root: Path) -> Texts:
    """Subjects of commits that changed code, and first sentences that document the functions in `root`."""
    chance = random.Random(SEED)
    commits = [each for each in read_commits(repository, COMMITS) if any(is_source(path) for _, path in each.changes)]
    wishes = [text for text in map(subject_of, commits) if text]
    descriptions = [question.text for question, _ in describe(root)]
    for texts in (wishes, descriptions):
        chance.shuffle(texts)
    return Texts(wishes[:MOST], descriptions[:MOST])


def learn(sources: Sequence[Texts]) -> dict[Feature, float]:
    wishes = [features(text) for each in sources for text in each.wishes]
    descriptions = [features(text) for each in sources for text in each.descriptions]
    counts = Counter(feature for found in (*wishes, *descriptions) for feature in found)
    rows = []
    for texts, right in ((wishes, 1.0), (descriptions, 0.0)):
        weight = (len(wishes) + len(descriptions)) / 2 / max(len(texts), 1)
        rows += [([each for each in found if counts[each] >= FEWEST], right, weight) for found in texts]
    weights = dict.fromkeys((feature for feature, count in counts.items() if count >= FEWEST), 0.0)
    sums = dict.fromkeys(weights, 0.01)
    chance = random.Random(SEED)
    for _ in range(EPOCHS):
        chance.shuffle(rows)
        for found, right, weight in rows:
            error = (share(sum([weights[each] for each in found])) - right) * weight
            for each in found:
                slope = error + DECAY * weights[each]
                sums[each] += slope * slope
                weights[each] -= RATE * slope / sums[each] ** 0.5
    return weights


def write(path: Path, weights: Mapping[Feature, float]) -> None:
    lines = ["# packaging/learn_ranking.py: a word, and its weights as the first of a question and anywhere; * is any"]
    for word in sorted({each.word for each in weights}):
        row = [weights.get(Feature(word, first), 0.0) for first in (True, False)]
        if max(map(abs, row)) >= LEAST:
            lines.append(" ".join((word, *(f"{weight:.2f}" for weight in row))))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
