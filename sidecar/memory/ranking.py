"""Orders the candidates of a search. The weights were fitted on the history and the documentation of open-source
repositories in Python, TypeScript and Go: subjects of commits with the files they changed, and first sentences of
doc comments with the functions they describe."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from sidecar.memory.features import ChunkCandidate, FileCandidate

_FILE_WEIGHTS: Mapping[str, float] = {
    "chunk_sum": 0.32,
    "chunk_sum_share": 0.21,
    "churn": 0.37,
    "file_best": 0.16,
    "file_best_share": 0.35,
    "file_bm25": 0.69,
    "file_bm25_share": 0.43,
    "file_coverage": 1.21,
    "file_length": -1.62,
    "history": 0.83,
    "history_best": 0.22,
    "history_coverage": 0.14,
    "history_coverage_share": 0.4,
    "history_share": 0.74,
    "names_coverage": -0.75,
    "neighbours": 0.33,
    "other": -2.0,
    "path_coverage": -0.19,
    "path_coverage_share": 0.65,
    "recent": -0.28,
    "stem_precision": 0.07,
    "test": -2.0,
    "tests_agree": 0.3,
    "tests_agree_share": 0.01,
    "together": -0.16,
}
#: `exact` is not fitted: those questions name no function, but people who name one want to see it.
_CHUNK_WEIGHTS: Mapping[str, float] = {
    "all_terms": -0.59,
    "bm25": 0.88,
    "bm25_share": 1.47,
    "callable": 0.71,
    "container": -1.18,
    "coverage": 0.16,
    "coverage_share": 1.1,
    "exact": 0.8,
    "length": 0.68,
    "name_coverage": 0.99,
    "name_coverage_share": 0.38,
    "name_precision": 1.64,
    "related_body": 0.85,
    "related_name": 0.27,
    "related_name_share": 0.56,
    "scope_coverage": 0.43,
    "short": -0.16,
    "text": 0.48,
    "verb": 0.29,
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
