"""Finds the chunks that may answer a question: the first half of a search.

The postings of the question's terms propose chunks and files, and the messages of past commits propose the files that
they changed. `features` measures each candidate, `ranking` weighs the measurements.
"""

import math
import sqlite3
import time
from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest
from typing import NamedTuple

from sidecar.memory.features import ChunkCandidate, FileCandidate, file_features, held_by, measured_chunk
from sidecar.memory.postings import CHUNKS_PER_FILE, FILE_SHIFT, PATH_PLACE
from sidecar.memory.query_terms import QueryTerms, Term
from sidecar.memory.resolver import unit_of
from sidecar.memory.store import get_meta
from sidecar.memory.store import select as _select
from sidecar.memory.tokens import name_terms

#: How many chunks and files are measured, of the product's own code and of tests, documents and configuration.
_CHUNKS = 80
_OTHER_CHUNKS = 15
_RELATED_CHUNKS = 30
_FILES = 60
_OTHER_FILES = 15
_HISTORY_FILES = 40
_COMMITS = 100
_COMMIT_POSTINGS = 6_000
_MAX_NAMED = 6_000
_CHUNKS_OF_FILE = 2
#: How much the score of its file counts when a chunk is proposed.
_OF_FILE = 0.2
_DAY = 86_400.0
_YEAR = 365 * _DAY
_FILE_ROWS = "SELECT id, path, kind, language, length FROM files WHERE "
_CHUNK_ROWS = "SELECT id, file, line, end_line, symbol, name, kind, length FROM chunks WHERE "


@dataclass(frozen=True, slots=True)
class Filters:
    path: str = ""
    kind: str = ""
    language: str = ""
    days: int = 0

    def file(self, path: str, language: str) -> bool:
        prefix = self.path.strip("/")
        inside = not prefix or prefix == "." or path == prefix or path.startswith(f"{prefix}/")
        return inside and (not self.language or language.lower() == self.language.lower())

    def chunk(self, kind: str) -> bool:
        return not self.kind or kind == self.kind


class Scores(NamedTuple):
    """By chunk and by file, how much of the rarest terms they hold."""

    chunks: dict[int, float]
    files: dict[int, float]


class History(NamedTuple):
    """By path, what the messages of past commits say: how well they fit in all, at best, and which they are."""

    fit: Mapping[str, float]
    best: Mapping[str, float]
    coverage: Mapping[str, float]
    messages: Mapping[str, list[str]]


def find_candidates(store: sqlite3.Connection, question: QueryTerms, filters: Filters) -> list[FileCandidate]:
    """Every candidate file with its candidate chunks, measured."""
    allowed = _allowed_files(store, filters)
    scores = _score([*question.selective(), *question.phrases], allowed)
    chunk_ids = _best_chunks(question, scores, allowed, 4 if filters.kind else 1)
    history = _read_history(store, question)
    files = _load_files(store, question, filters, scores, history, chunk_ids)
    _load_chunks(store, question, filters, files, scores, chunk_ids)
    for each in files.values():
        each.features["history"] = history.fit.get(each.path, 0.0)
        each.features["history_best"] = history.best.get(each.path, 0.0)
        each.features["history_coverage"] = history.coverage.get(each.path, 0.0)
        each.commits = history.messages.get(each.path, [])
    changes = _measure_changes(store, files)
    _measure_neighbours(store, files)
    _measure_importers(store, files)
    _compare(files)
    recent = _changed_since(store, files, changes, time.time() - filters.days * _DAY) if filters.days else files.keys()
    return [each for each in files.values() if each.chunks and each.id in recent]


def _allowed_files(store: sqlite3.Connection, filters: Filters) -> frozenset[int] | None:
    """The files that pass the filters, or `None` for all: the best of a folder may be far down among all."""
    prefix = filters.path.strip("/")
    if prefix in ("", ".") and not filters.language:
        return None
    rows = store.execute("SELECT id, path, language FROM files")
    return frozenset(file for file, path, language in rows if filters.file(path, language or ""))


def _score(terms: Sequence[Term], allowed: frozenset[int] | None) -> Scores:
    chunks: dict[int, float] = {}
    files: dict[int, float] = {}
    known, known_file = chunks.get, files.get
    for term in terms:
        table = [term.weight * impact / 255 for impact in range(256)]
        last, best = -1, 0.0
        for chunk, impact in zip(*term.postings, strict=True):  # in order, so that a file's chunks follow each other
            score = table[impact]
            chunks[chunk] = known(chunk, 0.0) + score
            file = chunk >> FILE_SHIFT
            if file != last:
                files[last] = known_file(last, 0.0) + best
                last, best = file, score
            elif score > best:
                best = score
        files[last] = known_file(last, 0.0) + best
    files.pop(-1, None)
    if allowed is not None:
        chunks = {chunk: score for chunk, score in chunks.items() if chunk >> FILE_SHIFT in allowed}
        files = {file: score for file, score in files.items() if file in allowed}
    return Scores(chunks, files)


def _best_chunks(question: QueryTerms, scores: Scores, allowed: frozenset[int] | None, times: int = 1) -> list[int]:
    """The best of code and of the rest, and those whose names have the question's words or others for them."""
    ranked = nlargest(3 * times * _CHUNKS, scores.chunks, key=scores.chunks.__getitem__)
    joint = {each: scores.chunks[each] + _OF_FILE * scores.files[each >> FILE_SHIFT] for each in ranked}
    ranked.sort(key=joint.__getitem__, reverse=True)
    found = _split(ranked, FILE_SHIFT, times * _CHUNKS, times * _OTHER_CHUNKS)
    weights = {term.text: term.weight for term in question.terms}
    lists = [(other.names, other.weight) for other in question.related]
    lists += [(postings, weights[text]) for text, postings in question.names.items()]
    named: dict[int, float] = {}
    for postings, weight in lists:
        # What so many are called tells none from another.
        for chunk in postings.ids if len(postings.ids) < _MAX_NAMED else ():
            if allowed is None or chunk >> FILE_SHIFT in allowed:
                named[chunk] = named.get(chunk, 0.0) + weight
    known = scores.chunks.get
    likely = nlargest(2 * times * _RELATED_CHUNKS, named, key=lambda each: named[each] + known(each, 0.0))
    found += _split(likely, FILE_SHIFT, times * _RELATED_CHUNKS, 0)
    return [each for each in dict.fromkeys(found) if each % CHUNKS_PER_FILE != PATH_PLACE]


def _split(ids: Sequence[int], shift: int, code: int, other: int) -> list[int]:
    """Ids of code's files are even, those of tests, documents and configuration are odd: so many of each."""
    return [each for each in ids if not each >> shift & 1][:code] + [each for each in ids if each >> shift & 1][:other]


# -- history ---------------------------------------------------------------------------------------------------------


def _read_history(store: sqlite3.Connection, question: QueryTerms) -> History:
    scores: dict[int, float] = {}
    rows = 0
    for term in sorted(question.terms, key=lambda each: len(each.commits.ids)):
        rows += len(term.commits.ids)
        if scores and rows > _COMMIT_POSTINGS:
            break
        for commit, impact in zip(*term.commits, strict=True):
            scores[commit] = scores.get(commit, 0.0) + term.commit_weight * impact / 255
    best = nlargest(_COMMITS, scores, key=lambda each: (scores[each], -each))
    commits = _select(store, "SELECT id, time, subject, paths FROM commits WHERE id IN", best)
    changed = {row[0]: array("I", row[3]) for row in commits}
    names = _path_names(store, {path for each in changed.values() for path in each})
    paths = {commit: [names[path] for path in each] for commit, each in changed.items()}
    return _weigh_history(question, commits, scores, paths)


def _path_names(store: sqlite3.Connection, paths: Iterable[int]) -> dict[int, str]:
    return dict(_select(store, "SELECT id, path FROM paths WHERE id IN", paths))


def _weigh_history(
    question: QueryTerms,
    commits: Sequence[tuple[int, int, str, bytes]],
    scores: Mapping[int, float],
    changed: Mapping[int, list[str]],
) -> History:
    total = sum(term.commit_weight for term in question.terms) or 1.0
    weights = {term.text: term.commit_weight for term in question.terms}
    newest = max((row[1] for row in commits), default=0)
    fits: dict[str, float] = defaultdict(float)
    best: dict[str, float] = {}
    said: dict[str, set[str]] = defaultdict(set)
    messages: dict[str, list[str]] = defaultdict(list)
    for commit, at, subject, _ in sorted(commits, key=lambda row: -scores[row[0]]):
        fit = scores[commit] / total * (0.5 + 0.5 * math.exp(-max(newest - at, 0) / (2 * _YEAR)))
        words = weights.keys() & name_terms(subject)
        share = fit / max(len(changed[commit]), 1) ** 0.5
        for path in changed[commit]:
            said[path] |= words
            fits[path] += share * fit
            best[path] = max(best.get(path, 0.0), share)
            if len(messages[path]) < 3:
                messages[path].append(subject)
    # `fsum` is the same for words in any order.
    coverage = {path: math.fsum(weights[word] for word in found) / total for path, found in said.items()}
    return History({path: math.log1p(8 * value) for path, value in fits.items()}, best, coverage, messages)


def _measure_changes(store: sqlite3.Connection, files: Mapping[int, FileCandidate]) -> dict[str, "array[int]"]:
    """How often and how lately each file changed; the numbers of its commits, the newest first."""
    by_path = {each.path: each for each in files.values()}
    found: dict[str, array[int]] = {}
    for path, commits in _select(store, "SELECT path, commits FROM paths WHERE path IN", by_path):
        found[path] = numbers = array("I", commits)
        by_path[path].features["churn"] = math.log1p(len(numbers)) / 6
        by_path[path].features["recent"] = 1 / (1 + numbers[0] / 50)
    most = max((each.features["history"] for each in files.values()), default=0.0)
    for each in files.values():
        each.features["history_share"] = each.features["history"] / most if most else 0.0
    return found


def _changed_since(
    store: sqlite3.Connection, files: Mapping[int, FileCandidate], changes: Mapping[str, "array[int]"], since: float
) -> set[int]:
    """By the last commit that changed a file; by its own time if no commit did."""
    by_path = {each.path: each.id for each in files.values()}
    newest = {path: numbers[0] for path, numbers in changes.items()}
    times = dict(_select(store, "SELECT id, time FROM commits WHERE id IN", set(newest.values())))
    stamps = {
        path: mtime / 1e9 for path, mtime in _select(store, "SELECT path, mtime FROM files WHERE path IN", by_path)
    }
    last = {path: times.get(number, 0) for path, number in newest.items()}
    return {file for path, file in by_path.items() if last.get(path, stamps.get(path, 0.0)) >= since}


# -- measuring -------------------------------------------------------------------------------------------------------


def _load_files(
    store: sqlite3.Connection,
    question: QueryTerms,
    filters: Filters,
    scores: Scores,
    history: History,
    chunks: Sequence[int],
) -> dict[int, FileCandidate]:
    likely = nlargest(_HISTORY_FILES, history.fit, key=history.fit.__getitem__)
    ranked = nlargest(3 * _FILES, scores.files, key=scores.files.__getitem__)
    ids = {*_split(ranked, 0, _FILES, _OTHER_FILES), *(chunk >> FILE_SHIFT for chunk in chunks)}
    rows = {row[0]: row for row in _select(store, _FILE_ROWS + "path IN", likely)}
    rows |= {row[0]: row for row in _select(store, _FILE_ROWS + "id IN", ids - rows.keys())}
    average = float(get_meta(store, "file_length") or 1_000)
    found: dict[int, FileCandidate] = {}
    for file, path, kind, language, length in rows.values():
        if filters.file(path, language or ""):
            each = found[file] = FileCandidate(file, path, kind, language or "")
            each.features.update(file_features(question, file, path, kind, length, average))
    return found


def _load_chunks(
    store: sqlite3.Connection,
    question: QueryTerms,
    filters: Filters,
    files: Mapping[int, FileCandidate],
    scores: Scores,
    hits: Sequence[int],
) -> None:
    wanted = [each for each in hits if each >> FILE_SHIFT in files]
    # Files that only their whole text or their history proposes show their best chunks, or their first.
    without = files.keys() - {each >> FILE_SHIFT for each in wanted}
    terms = question.selective()
    for file in without:
        wanted += _best_of_file(terms, scores, file)
    held = held_by(question, wanted)
    for row in _select(store, _CHUNK_ROWS + "id IN", wanted):
        if filters.chunk(row[6]):
            files[row[1]].chunks.append(measured_chunk(question, held, row))
    for owner in files.values():
        owner.chunks.sort(key=lambda each: -each.features["bm25"])
        owner.features["chunk_sum"] = sum([each.features["bm25"] for each in owner.chunks[:3]])


def _best_of_file(terms: Sequence[Term], scores: Scores, file: int) -> list[int]:
    first = file * CHUNKS_PER_FILE
    found: dict[int, float] = {}
    for term in terms:
        ids = term.postings.ids
        low = bisect_left(ids, first)
        for chunk in ids[low : bisect_left(ids, first + PATH_PLACE, low)]:
            found[chunk] = scores.chunks.get(chunk, 0.0)
    return nlargest(_CHUNKS_OF_FILE, found, key=found.__getitem__) or [first]


def _measure_neighbours(store: sqlite3.Connection, files: Mapping[int, FileCandidate]) -> None:
    """How well the candidates fit that import a file: tests name what they test."""
    units: dict[str, list[FileCandidate]] = defaultdict(list)
    for each in files.values():
        units[unit_of(each.path)].append(each)
        each.features["neighbours"] = each.features["tests_agree"] = 0.0
    for source, target in _select(store, "SELECT DISTINCT source, target FROM edges WHERE source IN", list(files)):
        importer = files[source]
        for each in units.get(target, ()):
            name = "tests_agree" if importer.kind == "test" else "neighbours"
            each.features[name] = max(each.features[name], importer.features["file_bm25"])


def _measure_importers(store: sqlite3.Connection, files: Mapping[int, FileCandidate]) -> None:
    units = {unit_of(each.path) for each in files.values()}
    rows = _select(store, "SELECT target, count(*) FROM edges WHERE target IN", units, " GROUP BY target")
    counts = dict(rows)
    for each in files.values():
        each.features["importers"] = math.log1p(counts.get(unit_of(each.path), 0)) / 6


def _compare(files: Mapping[int, FileCandidate]) -> None:
    """Measure again as shares of the best candidate: what is little for one question is much for another."""
    own = [each for each in files.values() if each.kind == "code" and each.chunks] or list(files.values())
    for name in ("file_bm25", "file_best", "chunk_sum", "path_coverage", "history_coverage", "tests_agree"):
        most = max((each.features.get(name, 0.0) for each in own), default=0.0)
        for each in files.values():
            each.features[f"{name}_share"] = each.features.get(name, 0.0) / most if most else 0.0
    for name in ("file_best", "history", "path_coverage"):
        for place, each in enumerate(sorted(own, key=lambda file: -file.features.get(name, 0.0))):
            each.features[f"{name}_rank"] = _rank_share(place) if each.features.get(name) else 0.0
    _compare_chunks([chunk for each in own for chunk in each.chunks], files)


def _compare_chunks(own: Sequence[ChunkCandidate], files: Mapping[int, FileCandidate]) -> None:
    for name in ("bm25", "coverage", "related_name"):
        most = max((chunk.features[name] for chunk in own), default=0.0)
        for each in files.values():
            for chunk in each.chunks:
                chunk.features[f"{name}_share"] = chunk.features[name] / most if most else 0.0
    for name in ("bm25", "evidence_sum"):
        for place, chunk in enumerate(sorted(own, key=lambda each: -each.features[name])):
            chunk.features[f"{name}_rank"] = _rank_share(place)
    # What is said of one definition often fits others of its name, such as those that override it.
    namesakes: dict[str, float] = {}
    for chunk in own:
        namesakes[chunk.name] = max(namesakes.get(chunk.name, 0.0), chunk.features["bm25"])
    for chunk in own:
        chunk.features["namesake"] = namesakes[chunk.name] - chunk.features["bm25"] if chunk.name else 0.0


def _rank_share(place: int) -> float:
    return 5 / (5 + place)
