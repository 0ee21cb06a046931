"""Learns how to rank the hits of a search, from the history and the documentation of Git repositories.

    python packaging/learn_ranking.py WORK REPOSITORY...

Makes workspaces and indexes below WORK (kept, so that a second run is quick), asks every question there, and writes
`word_weights.tsv`, `wishes.tsv` and `ranking.tsv` in `sidecar/memory`. It prints the scores for repositories that the
weights were not learned from: recall of the right files within the first 5 and 10, or the share of right functions.
"""

import json
import pickle
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy

PROJECT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(PROJECT), str(Path(__file__).parent)]

import ranking_wishes  # noqa: E402
import ranking_words  # noqa: E402
from ranking_questions import Question, is_source, prepare  # noqa: E402

from sidecar.memory import query_terms, ranking, wishes, word_weights  # noqa: E402
from sidecar.memory.candidates import Filters, find_candidates  # noqa: E402
from sidecar.memory.features import FileCandidate  # noqa: E402
from sidecar.memory.store import open_store  # noqa: E402

FOLDS = 5
EPOCHS = 8
RATE = 0.1
#: Pulls the weights to zero.
DECAY = 1e-4
#: Smaller weights change nothing.
LEAST = 0.005
SEED = 7

#: NumPy's.
Array = Any


class Asked(NamedTuple):
    """A question with its candidates: a row for each chunk, the chunks of a file next to each other."""

    repository: str
    change: bool
    #: How likely the search takes it for a wish for a change.
    wish: float
    #: How many files are right.
    wanted: int
    rows: Array
    #: The number of each row's file.
    files: Array
    #: Whether each row is of the right function, or of a right file.
    right: Array


class Source(NamedTuple):
    """A repository with its questions, their workspaces and indexes."""

    name: str
    work: Path
    changes: list[Question]
    descriptions: list[Question]
    change_words: ranking_words.Counts
    description_words: ranking_words.Counts
    texts: ranking_wishes.Texts


def read_source(repository: Path, work: Path) -> Source:
    name = repository.absolute().name
    kept = work / name / "source.pickle"
    if not kept.exists():
        changes, descriptions = prepare(repository, work / name)
        plain = work / name / "plain"
        words = ranking_words.count_changes(repository, plain), ranking_words.count_descriptions(plain)
        for half in ("plain", "nodoc"):
            _build(work / name / f"{half}.db", work / name / half, work)
        texts = ranking_wishes.read_texts(repository, plain)
        kept.write_bytes(pickle.dumps(Source(name, work / name, changes, descriptions, *words, texts)))
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
            found.append(_measured(source.name, question, terms.wish, files, names))
        store.close()
    return [each for each in found if len(each.rows)]


def _measured(
    repository: str, question: Question, wish: float, files: Sequence[FileCandidate], names: Sequence[str]
) -> Asked:
    rows: list[list[float]] = []
    owners: list[int] = []
    right: list[bool] = []
    for number, file in enumerate(files):
        for chunk in file.chunks:
            features = {f"file {name}": value for name, value in file.features.items()}
            features |= {f"chunk {name}": value for name, value in chunk.features.items()}
            rows.append([features.get(name, 0.0) for name in names])
            owners.append(number)
            right.append(file.path in question.files and question.symbol in ("", chunk.symbol))
    table = numpy.asarray(rows, numpy.float32).reshape(len(rows), len(names))
    change = not question.symbol
    return Asked(repository, change, wish, len(question.files), table, numpy.asarray(owners), numpy.asarray(right))


# -- learning --------------------------------------------------------------------------------------------------------


class Weights(NamedTuple):
    """For a wish for a change, and for a description."""

    change: Array
    description: Array

    def blend(self, wish: float) -> Array:
        return wish * self.change + (1 - wish) * self.description


def learn_both(questions: Sequence[Asked], names: Sequence[str]) -> Weights:
    """Descriptions are asked without history, so it gets half of its weight for changes."""
    change, description = (learn([each for each in questions if each.change is kind], names) for kind in (True, False))
    history = numpy.asarray([name.startswith("file history") for name in names])
    return Weights(change, numpy.where(history, change / 2, description))


def learn(questions: Sequence[Asked], names: Sequence[str]) -> Array:
    """Weights for which the right candidates come first: listwise, by stochastic gradient descent."""
    weights = numpy.asarray([ranking.FIXED.get(name, 0.0) for name in names])
    free = numpy.asarray([name not in ranking.FIXED for name in names])
    sums, total = numpy.full(len(weights), 1e-3), numpy.zeros(len(weights))
    chance = numpy.random.default_rng(SEED)
    steps = 0
    answered = [each for each in questions if each.right.any()]
    for epoch in range(EPOCHS):
        for place in chance.permutation(len(answered)):
            slope = (_gradient(answered[place], weights) + DECAY * weights) * free
            sums += slope * slope
            weights = weights - RATE * slope / numpy.sqrt(sums)
            if epoch >= EPOCHS // 2:
                steps += 1
                total += weights
    return total / steps if steps else weights


def _gradient(question: Asked, weights: Array) -> Array:
    """Of the loss: each right candidate against all wrong ones. A file counts as its best chunk."""
    scores = question.rows @ weights
    places = _best_of_files(question, scores) if question.change else numpy.arange(len(scores))
    powers, right = numpy.exp(scores[places] - scores.max()), question.right[places]
    wrong = powers[~right].sum() + 1e-12
    pull = (1 / (wrong + powers[right])).sum()
    slopes = numpy.where(right, -wrong / (wrong + powers), powers * pull) / right.sum()
    return slopes @ question.rows[places]


def _best_of_files(question: Asked, scores: Array) -> Array:
    """The best row of each file, the best file first."""
    order = numpy.argsort(-scores, kind="stable")
    _, first = numpy.unique(question.files[order], return_index=True)
    return order[numpy.sort(first)]


def score(question: Asked, weights: Array) -> tuple[float, float]:
    """Recall within the first 5 and 10 files, or whether the function is among the first 5 and 10."""
    scores = question.rows @ weights
    if question.change:
        hits = question.right[_best_of_files(question, scores)]
        return float(hits[:5].sum()) / min(5, question.wanted), float(hits[:10].sum()) / question.wanted
    hits = question.right[numpy.argsort(-scores, kind="stable")]
    return float(hits[:5].any()), float(hits[:10].any())


# -- all together ----------------------------------------------------------------------------------------------------


def use_tables(sources: Iterable[Source]) -> None:
    """Write what words say by these sources, for the questions that follow."""
    every = list(sources)
    changes = ranking_words.shares([each.change_words for each in every])
    descriptions = ranking_words.shares([each.description_words for each in every])
    ranking_words.write(word_weights.TABLE, changes, descriptions)
    word_weights.shares.cache_clear()
    ranking_wishes.write(wishes.TABLE, ranking_wishes.learn([each.texts for each in every]))
    wishes.weights.cache_clear()


def main(arguments: Sequence[str]) -> int:
    work = Path(arguments[0]).absolute()
    sources = [read_source(Path(each), work) for each in arguments[1:]]
    folds = {source.name: place % FOLDS for place, source in enumerate(sources)}
    names: list[str] = []
    questions: list[Asked] = []
    for fold in range(min(FOLDS, len(sources))):
        use_tables(source for source in sources if folds[source.name] != fold)
        for source in sources:
            if folds[source.name] == fold:
                names = names or feature_names(source)
                questions += ask(source, names)
    _print_scores(questions, folds, names)
    use_tables(sources)
    write_weights(ranking.TABLE, names, learn_both(questions, names))
    return 0


def feature_names(source: Source) -> list[str]:
    """Everything that is measured of the candidates of one question."""
    store = open_store(source.work / "plain.db", readonly=True)
    question = (source.changes or source.descriptions)[0].text
    files = find_candidates(store, query_terms.QueryTerms(store, question), Filters())
    store.close()
    names = {f"file {name}" for file in files for name in file.features}
    return sorted(names | {f"chunk {name}" for file in files for chunk in file.chunks for name in chunk.features})


def write_weights(table: Path, names: Sequence[str], weights: Weights) -> None:
    lines = ["# packaging/learn_ranking.py: a feature, and its weights for a wish for a change and for a description"]
    for name, change, description in zip(names, *weights, strict=True):
        if max(abs(change), abs(description)) >= LEAST:
            lines.append(f"{name} {change:.2f} {description:.2f}")
    table.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _print_scores(questions: Sequence[Asked], folds: Mapping[str, int], names: Sequence[str]) -> None:
    """As the search ranks: with the weights for changes and descriptions blended."""
    scores: dict[bool, defaultdict[str, list[tuple[float, float]]]] = {
        True: defaultdict(list),
        False: defaultdict(list),
    }
    for fold in sorted(set(folds.values())):
        weights = learn_both([each for each in questions if folds[each.repository] != fold], names)
        for each in questions:
            if folds[each.repository] == fold:
                scores[each.change][each.repository].append(score(each, weights.blend(each.wish)))
    for change, by_repository in scores.items():
        rows = {name: _means(each) for name, each in by_repository.items()}
        rows["all"] = _means([each for part in by_repository.values() for each in part])
        print(json.dumps({"changes" if change else "descriptions": rows}, indent=1))


def _means(scores: Sequence[tuple[float, float]]) -> list[float]:
    return [round(sum(column) / len(scores), 3) for column in zip(*scores, strict=True)]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
