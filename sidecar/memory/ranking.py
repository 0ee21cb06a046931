"""Orders the candidates of a search. The weights were fitted on the history and the documentation of open-source
repositories in Python, TypeScript, JavaScript and Go: subjects of commits with the files they changed, and first
sentences of doc comments with the functions they describe."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from sidecar.memory.features import ChunkCandidate, FileCandidate

#: Two weights a feature: for a wish to change something, and for a description of code. The documentation was fitted
#: without history, which gets half of its weight.
_FILE_WEIGHTS: Mapping[str, tuple[float, float]] = {
    "chunk_sum": (0.34, 0.34),
    "chunk_sum_share": (0.35, 0.49),
    "churn": (-0.30, 0.00),
    "file_best_rank": (0.39, 0.60),
    "file_best_share": (0.16, 0.58),
    "file_bm25": (0.33, 0.56),
    "file_bm25_share": (0.09, 0.74),
    "file_coverage": (0.40, 0.75),
    "file_length": (-0.29, -2.52),
    "file_phrase": (1.39, 1.18),
    "history": (0.47, 0.23),
    "history_best": (0.31, 0.15),
    "history_coverage": (0.16, 0.08),
    "history_coverage_share": (0.23, 0.12),
    "history_rank": (0.52, 0.26),
    "history_share": (0.60, 0.30),
    "importers": (-0.72, -0.85),
    "neighbours": (0.74, 0.47),
    "other": (-2.0, -2.0),
    "path_coverage_rank": (0.28, 0.30),
    "path_coverage_share": (0.05, 0.08),
    "recent": (-0.50, 0.00),
    "stem_precision": (0.10, 0.10),
    "test": (-2.0, -2.0),
    "tests_agree_share": (0.39, 0.48),
}
#: `exact` and `stem_precision` are not fitted: those questions name no function and no file, but people do.
_CHUNK_WEIGHTS: Mapping[str, tuple[float, float]] = {
    "all_terms": (-0.67, -0.70),
    "bm25": (0.57, 0.41),
    "bm25_rank": (0.52, 0.95),
    "bm25_share": (0.74, 1.06),
    "callable": (0.13, 1.74),
    "container": (-0.17, -1.61),
    "coverage": (0.81, 0.31),
    "coverage_share": (0.86, 0.85),
    "evidence": (0.87, 0.20),
    "evidence_sum": (0.53, 1.38),
    "evidence_sum_rank": (-0.03, 1.43),
    "exact": (0.80, 0.80),
    "length": (1.70, -0.98),
    "name_coverage": (-0.74, -0.26),
    "name_precision": (0.24, 0.19),
    "namesake": (-0.29, 2.50),
    "phrase": (0.92, 0.61),
    "phrase_name": (0.05, 1.90),
    "related_body": (0.77, 0.91),
    "related_name": (0.24, 0.36),
    "related_name_share": (-0.18, 0.73),
    "scope_evidence": (0.43, 0.66),
    "text": (0.15, -0.43),
    "verb": (-1.19, 1.15),
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
    file_weights, chunk_weights = _blend(_FILE_WEIGHTS, wish), _blend(_CHUNK_WEIGHTS, wish)
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


def _blend(weights: Mapping[str, tuple[float, float]], wish: float) -> dict[str, float]:
    return {name: wish * change + (1 - wish) * description for name, (change, description) in weights.items()}


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
