"""Measures how well a file and a chunk fit a question: the numbers that `ranking` weighs."""

import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from sidecar.memory.postings import CHUNKS_PER_FILE, PATH_PLACE, Postings
from sidecar.memory.query_terms import QueryTerms, Term
from sidecar.memory.tokens import joined, name_terms
from sidecar.memory.translations import UNEXPLAINED

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


def evidence_for(question: QueryTerms, parts: Sequence[str]) -> float:
    """How much likelier the question makes a name of these parts, as a logarithm."""
    known = question.evidence
    return sum([known.get(part, UNEXPLAINED) for part in parts])


class Held(NamedTuple):
    """For each chunk to measure, what it holds of the question: terms with their impacts, and the numbers of others."""

    terms: dict[int, list[tuple[Term, int]]]
    related: dict[int, list[int]]
    phrases: dict[int, list[int]]


def held_by(question: QueryTerms, chunks: Iterable[int]) -> Held:
    """Term by term, since each list is searched from where the last chunk was found."""
    wanted = sorted(chunks)
    held = Held(defaultdict(list), defaultdict(list), defaultdict(list))
    for term in question.known:
        for chunk, impact in _impacts_in(term.postings, wanted):
            held.terms[chunk].append((term, impact))
    for number, other in enumerate(question.related):
        for chunk, _ in _impacts_in(other.postings, wanted):
            held.related[chunk].append(number)
    for number, term in enumerate(question.phrases):
        for chunk, _ in _impacts_in(term.postings, wanted):
            held.phrases[chunk].append(number)
    return held


def _impacts_in(postings: Postings, chunks: Sequence[int]) -> Iterator[tuple[int, int]]:
    """The chunks that have a posting, each with its impact; `chunks` are in order."""
    ids, impacts = postings
    place, end = 0, len(ids)
    for chunk in chunks:
        place = bisect_left(ids, chunk, place)
        if place == end:
            return
        if ids[place] == chunk:
            yield chunk, impacts[place]


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
    phrase = 0.0
    for term in question.phrases:
        ids = term.postings.ids
        low = bisect_left(ids, first)
        phrase += term.weight if low < len(ids) and ids[low] <= last else 0.0
    return {
        "file_phrase": phrase / total,
        "file_bm25": bm25 / total,
        "file_coverage": coverage / total,
        "file_best": best / total,
        "path_coverage": sum([term.weight for term in question.known if term.text in named]) / total,
        "stem_precision": sum([part in question.asked for part in stems]) / len(stems) if stems else 0.0,
        "test": float(kind == "test"),
        "other": float(kind in ("doc", "config")),
        "file_length": math.log1p(length) / 9,
    }


def measured_chunk(question: QueryTerms, held: Held, row: ChunkRow) -> ChunkCandidate:
    chunk, file, line, end_line, symbol, name, kind, length = row
    names, whole = name_terms(name), joined(name)
    scope = name_terms(symbol[: -len(name)]) if name and symbol != name else ()
    bm25 = coverage = 0.0
    matched: list[str] = []
    for term, impact in held.terms.get(chunk, ()):
        bm25 += term.weight * impact
        coverage += term.weight
        matched.append(question.words.get(term.text, term.text))
    related_name = related_body = 0.0
    for number in held.related.get(chunk, ()):  # a name's terms are among those of the chunk
        other = question.related[number]
        if other.text in names:
            related_name += other.weight
        else:
            related_body += other.weight
    phrase = phrase_name = 0.0
    for number in held.phrases.get(chunk, ()):
        term = question.phrases[number]
        if term.text in names:
            phrase_name += term.weight
        else:
            phrase += term.weight
    parts = [part for part in names if part != whole or len(names) == 1]
    total = question.total
    evidence = evidence_for(question, parts)
    features = {
        "phrase": phrase / total,
        "phrase_name": phrase_name / total,
        "evidence": evidence / max(len(parts), 1) / 5,
        "evidence_sum": max(evidence, -3.0) / 10,
        "scope_evidence": evidence_for(question, scope) / len(scope) / 5 if scope else 0.0,
        "bm25": bm25 / total / 100,
        "coverage": coverage / total,
        "name_coverage": sum([question.weights.get(part, 0.0) for part in names]) / total,
        "name_precision": sum([part in question.asked for part in parts]) / len(parts) if parts else 0.0,
        "related_name": related_name / total,
        "related_body": related_body / total,
        "exact": float(whole in question.identifiers),
        "callable": float(kind in _CALLABLE),
        "container": float(kind in _CONTAINERS),
        "text": float(kind in _TEXTS),
        "length": math.log1p(length) / 7,
        "verb": float(bool(parts) and names[0] == question.verb),
        "all_terms": float(len(matched) == len(question.known)),
    }
    return ChunkCandidate(chunk, file, line, end_line, symbol, name, kind, features, tuple(matched))
