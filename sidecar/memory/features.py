"""Measures how well a file and a chunk fit a question: the numbers that `ranking` weighs."""

import math
from array import array
from bisect import bisect_left
from dataclasses import dataclass, field

from sidecar.memory.query_terms import QueryTerms
from sidecar.memory.tokens import joined, name_terms

_K1 = 1.2
_B = 0.6
_NAME_WEIGHT = 3.0

#: Id, file, first and last line, symbol, name, kind, length, terms and their counts.
ChunkRow = tuple[int, int, int, int, str, str, str, int, bytes, bytes]


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


def file_features(
    question: QueryTerms, path: str, kind: str, terms: bytes, counts: bytes, average: float
) -> dict[str, float]:
    keys = array("I", terms)
    norm = _K1 * (1 - _B + _B * len(keys) / average)
    bm25 = coverage = 0.0
    for term in question.known:
        place = bisect_left(keys, term.key)
        if place < len(keys) and keys[place] == term.key:
            count = counts[place]
            bm25 += term.file * count * (_K1 + 1) / (count + norm)
            coverage += term.file
    named = frozenset(name_terms(path))
    stems = name_terms(path.rpartition("/")[2].partition(".")[0])
    return {
        "file_bm25": bm25 / question.file_total,
        "file_coverage": coverage / question.file_total,
        "path_coverage": sum(term.file for term in question.known if term.text in named) / question.file_total,
        "stem_precision": sum(part in question.asked for part in stems) / len(stems) if stems else 0.0,
        "test": float(kind == "test"),
        "other": float(kind in ("doc", "config")),
        "file_length": math.log1p(len(counts)) / 7,
    }


def measured_chunk(question: QueryTerms, row: ChunkRow, average: float) -> ChunkCandidate:
    chunk, file, line, end_line, symbol, name, kind, length, terms, counts = row
    keys = array("H", terms)
    size = len(keys)
    norm = _K1 * (1 - _B + _B * length / average)
    names, whole = frozenset(name_terms(name)), joined(name)
    scope = frozenset(name_terms(symbol[: -len(name)])) if name and symbol != name else frozenset[str]()
    bm25 = coverage = named = scoped = both = 0.0
    matched: list[str] = []
    for term in question.known:
        place = bisect_left(keys, term.short)
        inside = place < size and keys[place] == term.short
        if inside:
            count = counts[place]
            weight = 3.0 if term.text in names else 1.0
            bm25 += term.chunk * count * weight * (_K1 + 1) / (count * weight + norm)
            coverage += term.chunk
            matched.append(question.words.get(term.text, term.text))
        if term.text in names:
            named += term.chunk
        elif term.text in scope:
            scoped += term.chunk
            both += 0.0 if inside else term.chunk
    related_name = related_body = 0.0
    for key, (other, weight) in question.related.items():
        if other in names:
            related_name += weight
        else:
            place = bisect_left(keys, key)
            if place < size and keys[place] == key:
                related_body += weight
    parts = [part for part in names if part != whole or len(names) == 1]
    total = question.total
    features = {
        "bm25": bm25 / total,
        "coverage": coverage / total,
        "name_coverage": named / total,
        "name_precision": sum(part in question.asked for part in parts) / len(parts) if parts else 0.0,
        "scope_coverage": scoped / total,
        "related_name": related_name / total,
        "related_body": related_body / total,
        "exact": float(bool(question.identifiers) and whole in question.identifiers),
        "callable": float(kind in ("function", "method", "constructor")),
        "container": float(kind in ("class", "struct", "interface", "trait", "type", "enum")),
        "text": float(kind in ("section", "text", "block")),
        "length": math.log1p(length) / 7,
        "verb": float(bool(parts) and name_terms(name)[0] == question.verb),
        "both": (coverage + both) / total,
        "short": float(length < 12),
        "all_terms": float(len(matched) == len(question.known)),
    }
    return ChunkCandidate(chunk, file, line, end_line, symbol, name, kind, features, tuple(matched))
