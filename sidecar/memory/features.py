"""Measures how well a file and a chunk fit a question: the numbers that `ranking` weighs."""

import math
from bisect import bisect_left
from dataclasses import dataclass, field

from sidecar.memory.postings import CHUNKS_PER_FILE, PATH_PLACE, Postings
from sidecar.memory.query_terms import QueryTerms
from sidecar.memory.tokens import joined, name_terms

_K1 = 1.2
_B = 0.6
#: Id, file, first and last line, symbol, name, kind and length.
ChunkRow = tuple[int, int, int, int, str, str, str, int]
_CALLABLE = frozenset(("function", "method", "constructor"))
_CONTAINERS = frozenset(("class", "struct", "interface", "trait", "type", "enum"))
_TEXTS = frozenset(("section", "text", "block"))


@dataclass(slots=True)
class FileCandidate:
    id: int
    path: str
    kind: str
    language: str
    features: dict[str, float] = field(default_factory=dict)
    chunks: "list[ChunkCandidate]" = field(default_factory=list)
    commits: list[str] = field(default_factory=list)


@dataclass(slots=True)
class ChunkCandidate:
    id: int
    file: int
    line: int
    end_line: int
    symbol: str
    name: str
    kind: str
    features: dict[str, float] = field(default_factory=dict)
    matched: tuple[str, ...] = ()


def impact_in(postings: Postings, chunk: int) -> int:
    """How much a term says in a chunk; 0 if it isn't there."""
    ids = postings.ids
    place = bisect_left(ids, chunk)
    return postings.impacts[place] if place < len(ids) and ids[place] == chunk else 0


def file_features(
    question: QueryTerms, file: int, path: str, kind: str, length: int, average: float
) -> dict[str, float]:
    first = file * CHUNKS_PER_FILE
    last = first + PATH_PLACE
    norm = _K1 * (1 - _B + _B * length / average)
    bm25 = coverage = best = 0.0
    for term in question.known:
        ids, impacts = term.postings
        low = bisect_left(ids, first)
        high = bisect_left(ids, last, low)
        if high > low:
            held = impacts[low:high]
            count = sum(held) / 100
            bm25 += term.weight * count * (_K1 + 1) / (count + norm)
            coverage += term.weight
            best += term.weight * max(held) / 255
    named = frozenset(name_terms(path))
    stems = name_terms(path.rpartition("/")[2].partition(".")[0])
    total = question.total
    return {
        "file_bm25": bm25 / total,
        "file_coverage": coverage / total,
        "file_best": best / total,
        "path_coverage": sum([term.weight for term in question.known if term.text in named]) / total,
        "stem_precision": sum([part in question.asked for part in stems]) / len(stems) if stems else 0.0,
        "test": float(kind == "test"),
        "other": float(kind in ("doc", "config")),
        "file_length": math.log1p(length) / 9,
    }


def measured_chunk(question: QueryTerms, row: ChunkRow) -> ChunkCandidate:
    chunk, file, line, end_line, symbol, name, kind, length = row
    names, whole = name_terms(name), joined(name)
    scope = name_terms(symbol[: -len(name)]) if name and symbol != name else ()
    bm25 = coverage = named = scoped = 0.0
    matched: list[str] = []
    for term in question.known:
        weight = term.weight
        if impact := impact_in(term.postings, chunk):
            bm25 += weight * impact
            coverage += weight
            matched.append(question.words.get(term.text, term.text))
        if term.text in names:
            named += weight
        elif term.text in scope:
            scoped += weight
    related_name = related_body = 0.0
    for other in question.related:
        if other.text in names:
            related_name += other.weight
        elif impact_in(other.postings, chunk):
            related_body += other.weight
    parts = [part for part in names if part != whole or len(names) == 1]
    total = question.total
    features = {
        "bm25": bm25 / total / 100,
        "coverage": coverage / total,
        "name_coverage": named / total,
        "name_precision": sum([part in question.asked for part in parts]) / len(parts) if parts else 0.0,
        "scope_coverage": scoped / total,
        "related_name": related_name / total,
        "related_body": related_body / total,
        "exact": float(whole in question.identifiers),
        "callable": float(kind in _CALLABLE),
        "container": float(kind in _CONTAINERS),
        "text": float(kind in _TEXTS),
        "length": math.log1p(length) / 7,
        "verb": float(bool(parts) and names[0] == question.verb),
        "short": float(length < 12),
        "all_terms": float(len(matched) == len(question.known)),
    }
    return ChunkCandidate(chunk, file, line, end_line, symbol, name, kind, features, tuple(matched))
