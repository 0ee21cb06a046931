"""Orders the candidates of a search.

`packaging/learn_ranking.py` learns the weights from the history and the documentation of open-source repositories in
Python, TypeScript, JavaScript, Go, Rust and Java: subjects of commits with the files they changed, and first sentences
of doc comments with the functions they describe.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from sidecar.memory.features import ChunkCandidate, FileCandidate
from sidecar.memory.tokens import word_parts

TABLE = Path(__file__).with_name("ranking.tsv")
#: Not learned: the questions that it learns from ask for no test, and name no function and no file. People do.
FIXED: Mapping[str, float] = {
    "chunk exact": 0.8,
    "file other": -2.0,
    "file stem_precision": 0.1,
    "file test": -2.0,
}
#: Files you work on count, but never more than a good match.
_NEAR_FILE = 0.6
_NEAR_FOLDER = 0.25
_MOST_OF_FILE = 12


class Ranked(NamedTuple):
    score: float
    file: FileCandidate
    chunk: ChunkCandidate


def rank(files: Iterable[FileCandidate], near: Sequence[str] = (), wish: float = 0.0) -> Iterator[Ranked]:
    """The best first, and only the best of each file. `wish` says how likely the question is a wish for a change."""
    file_weights, chunk_weights = _blend("file", wish), _blend("chunk", wish)
    folders = {path.rpartition("/")[0] for path in near}
    found: list[Ranked] = []
    for file in files:
        base = _weigh(file.features, file_weights)
        if file.path in near:
            base += _NEAR_FILE
        elif near and file.path.rpartition("/")[0] in folders:
            base += _NEAR_FOLDER
        chunks = [Ranked(base + _weigh(chunk.features, chunk_weights), file, chunk) for chunk in file.chunks]
        chunks.sort(key=lambda each: -each.score)
        found += chunks[:_MOST_OF_FILE]
    found.sort(key=lambda each: (-each.score, each.file.path, each.chunk.line))
    yield from found


def _weigh(features: Mapping[str, float], weights: Mapping[str, float]) -> float:
    return sum([weights[name] * value for name, value in features.items() if value and name in weights])


def _blend(scope: str, wish: float) -> dict[str, float]:
    return {name: wish * change + (1 - wish) * text for name, (change, text) in weights()[scope].items()}


@cache
def weights() -> Mapping[str, Mapping[str, tuple[float, float]]]:
    """For files and for chunks, two weights a feature: for a wish to change something, and for a description of code.

    The first line explains the table.
    """
    found: dict[str, dict[str, tuple[float, float]]] = {"file": {}, "chunk": {}}
    for line in TABLE.read_text(encoding="utf-8").splitlines()[1:]:
        scope, name, change, description = line.split()
        found[scope][name] = (float(change), float(description))
    return found


def explain(ranked: Ranked) -> str:
    """Why a hit was found, in a few words."""
    reasons = []
    if ranked.chunk.features["exact"]:
        reasons.append("named in the question")
    elif ranked.chunk.features["name_coverage"] > 0:
        reasons.append("its name matches")
    if ranked.chunk.matched:
        words = dict.fromkeys(ranked.chunk.matched)
        parts = {part for word in words for part in word_parts(word) if part != word}
        reasons.append(f"contains {', '.join([word for word in words if word not in parts][:5])}")
    if ranked.file.commits and ranked.file.features.get("history", 0) > 0:
        reasons.append(f"changed by “{ranked.file.commits[0][:80]}”")
    if ranked.chunk.features.get("alike"):
        reasons.append("alike in meaning")
    return "; ".join(reasons) or "its file matches"
