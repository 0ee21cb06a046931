"""Orders the candidates of a search. The weights were fitted on the history and the documentation of open-source
repositories in Python, TypeScript and Go: subjects of commits with the files they changed, and first sentences of
doc comments with the functions they describe."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from sidecar.memory.features import ChunkCandidate, FileCandidate

_FILE_WEIGHTS: Mapping[str, float] = {
    "file_bm25": 1.0,
    "history": 1.0,
    "test": -1.5,
    "other": -1.5,
    "path_coverage": 0.5,
}
_CHUNK_WEIGHTS: Mapping[str, float] = {"bm25": 2.0, "name_coverage": 1.0, "related_name": 0.5}
#: What the person works on counts, but never more than a good match.
_NEAR_FILE = 0.6
_NEAR_FOLDER = 0.25
_MOST_OF_FILE = 12


class Ranked(NamedTuple):
    score: float
    file: FileCandidate
    chunk: ChunkCandidate


def rank(files: Iterable[FileCandidate], near: Sequence[str] = ()) -> Iterator[Ranked]:
    """The best first, and only the best of each file."""
    folders = {path.rpartition("/")[0] for path in near}
    found: list[Ranked] = []
    for file in files:
        base = _weigh(file.features, _FILE_WEIGHTS)
        if file.path in near:
            base += _NEAR_FILE
        elif near and file.path.rpartition("/")[0] in folders:
            base += _NEAR_FOLDER
        chunks = [Ranked(base + _weigh(chunk.features, _CHUNK_WEIGHTS), file, chunk) for chunk in file.chunks]
        chunks.sort(key=lambda each: -each.score)
        found += chunks[:_MOST_OF_FILE]
    found.sort(key=lambda each: (-each.score, each.file.path, each.chunk.line))
    yield from found


def _weigh(features: Mapping[str, float], weights: Mapping[str, float]) -> float:
    return sum(weights[name] * value for name, value in features.items() if value and name in weights)


def explain(ranked: Ranked) -> str:
    """Why a hit was found, in a few words."""
    reasons = []
    if ranked.chunk.features["exact"]:
        reasons.append("named in the question")
    elif ranked.chunk.features["name_coverage"] > 0:
        reasons.append("its name matches")
    if ranked.chunk.matched:
        reasons.append(f"contains {', '.join(list(dict.fromkeys(ranked.chunk.matched))[:5])}")
    if ranked.file.commits and ranked.file.features.get("history", 0) > 0:
        reasons.append(f"changed by “{ranked.file.commits[0][:80]}”")
    return "; ".join(reasons) or "its file matches"
