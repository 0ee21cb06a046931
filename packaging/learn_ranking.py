"""Learns how to rank the hits of a search, from the history and the documentation of Git repositories.

    python packaging/learn_ranking.py WORK REPOSITORY...

Makes workspaces and indexes below WORK (kept, so that a second run is quick), asks every question there, and writes
`sidecar/memory/word_weights.tsv` and `sidecar/memory/ranking.tsv`. It prints the scores for repositories that the
weights were not learned from: recall of the right files within the first 5 and 10, or the share of right functions.
"""

import json
import math
import pickle
import subprocess
import sys
from array import array
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from operator import mul
from pathlib import Path
from typing import NamedTuple

PROJECT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(PROJECT), str(Path(__file__).parent)]

import ranking_words  # noqa: E402
from ranking_questions import Question, is_source, prepare  # noqa: E402

from sidecar.memory import query_terms, ranking, word_weights  # noqa: E402
from sidecar.memory.candidates import Filters, find_candidates  # noqa: E402
from sidecar.memory.features import FileCandidate  # noqa: E402
from sidecar.memory.store import open_store  # noqa: E402

FOLDS = 5
EPOCHS = 8
RATE = 0.1
#: Pulls the weights to those of `ranking.FIXED`, or to zero.
DECAY = 1e-4
CHUNKS_OF_FILE = 4
MOST_CHUNKS = 200
#: Smaller weights change nothing.
LEAST = 0.005

Vector = Sequence[float]


class Candidate(NamedTuple):
    vectors: list[Vector]
    #: Whether each vector, that of a chunk, is of the right function, or of a right file.
    right: list[bool]


class Asked(NamedTuple):
    repository: str
    change: bool
    #: How many files are right.
    wanted: int
    files: list[Candidate]


class Source(NamedTuple):
    """A repository with its questions, their workspaces and indexes."""

    name: str
    work: Path
    changes: list[Question]
    descriptions: list[Question]
    change_words: ranking_words.Counts
    description_words: ranking_words.Counts


def read_source(repository: Path, work: Path) -> Source:
    name = repository.absolute().name
    kept = work / name / "source.pickle"
    if not kept.exists():
        changes, descriptions = prepare(repository, work / name)
        plain = work / name / "plain"
        words = ranking_words.count_changes(repository, plain), ranking_words.count_descriptions(plain)
        for half in ("plain", "nodoc"):
            _build(work / name / f"{half}.db", work / name / half, work)
        kept.write_bytes(pickle.dumps(Source(name, work / name, changes, descriptions, *words)))
    found: Source = pickle.loads(kept.read_bytes())
    return found


def _build(store: Path, workspace: Path, data: Path) -> None:
    command = [sys.executable, "-m", "sidecar.memory.builder", str(store), str(workspace), str(data), "off", "normal"]
    with subprocess.Popen(command, cwd=PROJECT, stdin=subprocess.PIPE) as process:  # it ends with its standard input
        if process.wait():
            raise SystemExit(f"The index of {workspace} can't be built.")


# -- asking ----------------------------------------------------------------------------------------------------------


def ask(source: Source, names: Sequence[str]) -> list[Asked]:
    """The candidates for each question, as vectors of the named features."""
    found = []
    for half, questions in (("plain", source.changes), ("nodoc", source.descriptions)):
        store = open_store(source.work / f"{half}.db", readonly=True)
        for question in questions:
            terms = query_terms.QueryTerms(store, question.text)
            files = [each for each in find_candidates(store, terms, Filters()) if is_source(each.path)]
            candidates = [_measured(each, question, names) for each in files]
            found.append(Asked(source.name, half == "plain", len(question.files), candidates))
        store.close()
    return found


def _measured(file: FileCandidate, question: Question, names: Sequence[str]) -> Candidate:
    vectors: list[Vector] = []
    right: list[bool] = []
    for chunk in file.chunks[: CHUNKS_OF_FILE if not question.symbol else MOST_CHUNKS]:
        features = {f"file {name}": value for name, value in file.features.items()}
        features |= {f"chunk {name}": value for name, value in chunk.features.items()}
        vectors.append(array("f", [features.get(name, 0.0) for name in names]))
        here = file.path in question.files
        right.append(here and (not question.symbol or chunk.symbol == question.symbol))
    return Candidate(vectors, right)


# -- learning --------------------------------------------------------------------------------------------------------


def learn(questions: Sequence[Asked], fixed: Sequence[float | None]) -> Vector:
    """Weights for which the right candidates come first: listwise, by stochastic gradient descent."""
    weights = [each or 0.0 for each in fixed]
    sums, total = [1e-3] * len(weights), [0.0] * len(weights)
    steps = 0
    for epoch in range(EPOCHS):
        for question in questions:
            gradient = _gradient(question, weights)
            for place, slope in enumerate(gradient):
                if fixed[place] is None:
                    slope += DECAY * weights[place]
                    sums[place] += slope * slope
                    weights[place] -= RATE * slope / math.sqrt(sums[place])
            if epoch >= EPOCHS // 2:
                steps += 1
                total = [a + b for a, b in zip(total, weights, strict=True)]
    return [each / steps for each in total] if steps else weights


def _gradient(question: Asked, weights: Vector) -> Vector:
    """Of the loss: each right candidate against all wrong ones. A file counts as its best chunk."""
    vectors, right = _compared(question, weights)
    scores = [sum(map(mul, weights, vector)) for vector in vectors]
    top = max(scores, default=0.0)
    powers = [math.exp(score - top) for score in scores]
    wrong = sum(power for power, each in zip(powers, right, strict=True) if not each)
    count = sum(right)
    slopes = [0.0] * len(scores)
    for place, each in enumerate(right):
        if each:
            slopes[place] -= wrong / (wrong + powers[place] + 1e-12) / count
    pull = sum(1 / (wrong + power + 1e-12) for power, each in zip(powers, right, strict=True) if each) / max(count, 1)
    slopes = [slope if each else power * pull for slope, power, each in zip(slopes, powers, right, strict=True)]
    gradient = [0.0] * len(weights)
    for slope, vector in zip(slopes, vectors, strict=True):
        if abs(slope) > 1e-3:
            gradient = [a + slope * b for a, b in zip(gradient, vector, strict=True)]
    return gradient


def _compared(question: Asked, weights: Vector) -> tuple[list[Vector], list[bool]]:
    vectors: list[Vector] = []
    right: list[bool] = []
    for file in question.files:
        if question.change:
            best = max(range(len(file.vectors)), key=lambda place: sum(map(mul, weights, file.vectors[place])))
            vectors.append(file.vectors[best])
            right.append(file.right[best])
        else:
            vectors += file.vectors
            right += file.right
    return vectors, right


def score(question: Asked, weights: Vector) -> tuple[float, float]:
    """Recall within the first 5 and 10 files, or whether the function is among the first 5 and 10."""
    vectors, right = _compared(question, weights)
    order = sorted(range(len(vectors)), key=lambda place: -sum(map(mul, weights, vectors[place])))
    hits = [right[place] for place in order]
    if question.change:
        return sum(hits[:5]) / min(5, question.wanted), sum(hits[:10]) / question.wanted
    return float(any(hits[:5])), float(any(hits[:10]))


# -- all together ----------------------------------------------------------------------------------------------------


def use_words(sources: Iterable[Source]) -> None:
    """Write the shares of words that these sources give, for the questions that follow."""
    every = list(sources)
    changes = ranking_words.shares([each.change_words for each in every])
    descriptions = ranking_words.shares([each.description_words for each in every])
    ranking_words.write(word_weights.TABLE, changes, descriptions)
    word_weights.shares.cache_clear()


def main(arguments: Sequence[str]) -> int:
    work = Path(arguments[0]).absolute()
    sources = [read_source(Path(each), work) for each in arguments[1:]]
    folds = {source.name: place % FOLDS for place, source in enumerate(sources)}
    names: list[str] = []
    questions: list[Asked] = []
    for fold in range(min(FOLDS, len(sources))):
        use_words(source for source in sources if folds[source.name] != fold)
        for source in sources:
            if folds[source.name] == fold:
                names = names or feature_names(source)
                questions += ask(source, names)
    fixed = [ranking.FIXED.get(name) for name in names]
    _print_scores(questions, folds, fixed)
    use_words(sources)
    learned = [learn([each for each in questions if each.change is change], fixed) for change in (True, False)]
    write_weights(ranking.TABLE, names, *learned)
    return 0


def feature_names(source: Source) -> list[str]:
    """Everything that is measured of the candidates of one question."""
    store = open_store(source.work / "plain.db", readonly=True)
    question = (source.changes or source.descriptions)[0].text
    files = find_candidates(store, query_terms.QueryTerms(store, question), Filters())
    store.close()
    names = {f"file {name}" for file in files for name in file.features}
    return sorted(names | {f"chunk {name}" for file in files for chunk in file.chunks for name in chunk.features})


def write_weights(table: Path, names: Sequence[str], changes: Vector, descriptions: Vector) -> None:
    """Descriptions are asked without history, so it gets half of its weight for changes."""
    lines = ["# packaging/learn_ranking.py: a feature, and its weights for a wish for a change and for a description"]
    for name, change, description in zip(names, changes, descriptions, strict=True):
        weight = change / 2 if name.startswith("file history") else description
        if max(abs(change), abs(weight)) >= LEAST:
            lines.append(f"{name} {change:.2f} {weight:.2f}")
    table.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _print_scores(questions: Sequence[Asked], folds: Mapping[str, int], fixed: Sequence[float | None]) -> None:
    for change in (True, False):
        scores: defaultdict[str, list[tuple[float, float]]] = defaultdict(list)
        for fold in sorted(set(folds.values())):
            kind = [each for each in questions if each.change is change]
            weights = learn([each for each in kind if folds[each.repository] != fold], fixed)
            for each in kind:
                if folds[each.repository] == fold:
                    scores[each.repository].append(score(each, weights))
        rows = {name: _means(each) for name, each in scores.items()}
        rows["all"] = _means([each for part in scores.values() for each in part])
        print(json.dumps({"changes" if change else "descriptions": rows}, indent=1))


def _means(scores: Sequence[tuple[float, float]]) -> list[float]:
    return [round(sum(column) / len(scores), 3) for column in zip(*scores, strict=True)]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
