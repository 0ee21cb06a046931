"""Orders the candidates of a search. The weights were fitted on the history and the documentation of open-source
repositories in Python, TypeScript and Go: subjects of commits with the files they changed, and first sentences of
doc comments with the functions they describe."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from sidecar.memory.features import ChunkCandidate, FileCandidate

_FILE_WEIGHTS: Mapping[str, float] = {
    "file_bm25": 0.35,
    "file_coverage": 1.16,
    "path_coverage": 0.31,
    "stem_precision": -0.21,
    "history": 0.84,
    "history_best": -0.36,
    "churn": 1.35,
    "recent": 0.49,
    "test": -2.0,
    "other": -2.0,
    "file_length": -4.13,
    "chunk_sum": 0.1,
    "neighbours": 0.2,
    "tests_agree": 0.1,
    "history_share": 0.99,
    "names_coverage": -0.38,
    "history_coverage": -0.26,
    "together": -0.42,
    "file_bm25_share": 0.77,
    "chunk_sum_share": 0.59,
    "path_coverage_share": 1.34,
    "history_coverage_share": 0.69,
    "tests_agree_share": 0.3,
}
_CHUNK_WEIGHTS: Mapping[str, float] = {
    "bm25": 0.57,
    "coverage": 0.73,
    "name_coverage": 0.81,
    "name_precision": 1.31,
    "scope_coverage": 1.37,
    "related_name": 0.83,
    "related_body": 1.03,
    "exact": 0.8,
    "callable": 0.34,
    "container": -0.99,
    "text": 0.64,
    "length": -1.48,
    "verb": 0.26,
    "both": 0.92,
    "short": -0.3,
    "all_terms": -0.36,
    "bm25_share": 1.56,
    "coverage_share": 1.29,
    "name_coverage_share": 0.75,
    "related_name_share": 1.05,
}
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
