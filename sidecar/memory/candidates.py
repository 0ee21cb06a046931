"""Finds the chunks that may answer a question: the first half of a search.

Three channels propose candidates: the text of chunks, the text of whole files, and the messages of past commits, which
lead to the files that they changed. `features` measures each candidate, `ranking` weighs the measurements.
"""

import math
import sqlite3
import time
from array import array
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sidecar.memory.features import FileCandidate, file_features, measured_chunk
from sidecar.memory.query_terms import QueryTerms
from sidecar.memory.resolver import unit_of
from sidecar.memory.store import get_meta
from sidecar.memory.tokens import name_terms

_CHUNKS = 200
_SCANNED_CHUNKS = 600
_SCANNED_FILES = 300
_OTHER_CHUNKS = 50
_MAX_RELATED = 12
_RELATED_CHUNKS = 60
_FILES = 100
_OTHER_FILES = 30
_COMMITS = 120
_LEADERS = 4
_BEST_OF_FILE = 12
_CHUNKS_OF_FILE = 2
_DAY = 86_400.0
_YEAR = 365 * _DAY
_COMMIT_PATHS = (
    "SELECT commit_files.id, path FROM commit_files JOIN paths ON paths.id = commit_files.file WHERE commit_files.id IN"
)
_LAST_COMMITS = (
    "SELECT path, max(commits.time) FROM paths JOIN commit_files ON commit_files.file = paths.id "
    "JOIN commits ON commits.id = commit_files.id WHERE path IN"
)
_FILE_ROWS = "SELECT id, path, kind, language, terms, counts FROM files WHERE "
_CHUNK_ROWS = "SELECT id, file, line, end_line, symbol, name, kind, length, terms, counts FROM chunks WHERE "


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


def find_candidates(store: sqlite3.Connection, question: QueryTerms, filters: Filters) -> list[FileCandidate]:
    """Every candidate file with its candidate chunks, measured."""
    chunk_ids = _chunk_hits(store, question)
    history, best, messages, covered = _history(store, question)
    files = _load_files(store, question, filters, _file_hits(store, question), history, chunk_ids)
    _load_chunks(store, question, filters, files, chunk_ids)
    for each in files.values():
        each.features["history"] = history.get(each.path, 0.0)
        each.features["history_best"] = best.get(each.path, 0.0)
        each.features["history_coverage"] = covered.get(each.path, 0.0)
        each.commits = messages.get(each.path, [])
    _measure_history(store, files)
    _measure_neighbours(store, files)
    _measure_changed_together(store, files)
    _compare(files)
    recent = _changed_since(store, files, time.time() - filters.days * _DAY) if filters.days else files.keys()
    return [each for each in files.values() if each.chunks and each.id in recent]


def _changed_since(store: sqlite3.Connection, files: Mapping[int, FileCandidate], since: float) -> set[int]:
    """By the last commit that changed a file; by its own time if no commit did."""
    by_path = {each.path: each.id for each in files.values()}
    last = dict(_select(store, _LAST_COMMITS, by_path, " GROUP BY path"))
    stamps = {
        path: mtime / 1e9 for path, mtime in _select(store, "SELECT path, mtime FROM files WHERE path IN", by_path)
    }
    return {file for path, file in by_path.items() if last.get(path, stamps.get(path, 0.0)) >= since}


def _match(terms: Iterable[str]) -> str:
    return " OR ".join(f'"{term}"' for term in terms)


def _chunk_hits(store: sqlite3.Connection, question: QueryTerms) -> list[int]:
    terms = question.selective()
    if not terms:
        return []
    found = _split(_chunk_rows(store, _match(terms), _SCANNED_CHUNKS), _CHUNKS, _OTHER_CHUNKS)
    others = sorted(question.related.values(), key=lambda each: -each[1])[:_MAX_RELATED]
    if others:
        names = _match((*(term for term, _ in others), *terms))
        found += _split(_chunk_rows(store, f"name : ({names})", 2 * _RELATED_CHUNKS), _RELATED_CHUNKS, 0)
    return list(dict.fromkeys(found))


def _chunk_rows(store: sqlite3.Connection, text: str, limit: int) -> list[int]:
    rows = store.execute(
        "SELECT rowid FROM chunk_text WHERE chunk_text MATCH ? ORDER BY bm25(chunk_text, 6, 2, 2, 1) LIMIT ?",
        (text, limit),
    )
    return [row[0] for row in rows]


def _split(ids: Sequence[int], code: int, other: int) -> list[int]:
    """Ids of code are even, those of tests, documents and configuration are odd: so many of each."""
    return [each for each in ids if each % 2 == 0][:code] + [each for each in ids if each % 2][:other]


def _file_hits(store: sqlite3.Connection, question: QueryTerms) -> list[int]:
    if not question.known:
        return []
    rows = store.execute(
        "SELECT rowid FROM file_text WHERE file_text MATCH ? ORDER BY bm25(file_text, 4, 2, 1) LIMIT ?",
        (_match(term.text for term in question.known), _SCANNED_FILES),
    )
    return _split([row[0] for row in rows], _FILES, _OTHER_FILES)


def _history(
    store: sqlite3.Connection, question: QueryTerms
) -> tuple[dict[str, float], dict[str, float], dict[str, list[str]], dict[str, float]]:
    """For each file, how well the messages of commits that changed it fit: the sum, the best, and the messages."""
    if not question.terms:
        return {}, {}, {}, {}
    total = sum(term.commit for term in question.terms) or 1.0
    rows = store.execute(
        "SELECT commits.id, commits.files, commits.subject, -bm25(commit_text), commits.time FROM commit_text "
        "JOIN commits ON commits.id = commit_text.rowid WHERE commit_text MATCH ? ORDER BY bm25(commit_text) LIMIT ?",
        (_match(term.text for term in question.terms), _COMMITS),
    ).fetchall()
    newest = store.execute("SELECT max(time) FROM commits").fetchone()[0] or 0
    sums: dict[str, float] = defaultdict(float)
    best: dict[str, float] = {}
    messages: dict[str, list[str]] = defaultdict(list)
    weights = {term.text: term.commit for term in question.terms}
    words: dict[str, set[str]] = defaultdict(set)
    changed: dict[int, list[str]] = defaultdict(list)
    for commit, path in _select(store, _COMMIT_PATHS, [row[0] for row in rows]):
        changed[commit].append(path)
    for commit, files, subject, score, at in rows:
        fit = min(score / total, 1.5) * (0.5 + 0.5 * math.exp(-max(newest - at, 0) / (2 * _YEAR)))
        said = weights.keys() & name_terms(subject)
        for path in changed[commit]:
            words[path] |= said
            share = fit / max(files, 1) ** 0.5
            sums[path] += share * fit
            best[path] = max(best.get(path, 0.0), share)
            if len(messages[path]) < 3:
                messages[path].append(subject)
    covered = {path: sum(weights[word] for word in found) / total for path, found in words.items()}
    return {path: math.log1p(4 * value) for path, value in sums.items()}, best, messages, covered


# -- measuring -------------------------------------------------------------------------------------------------------


def _load_files(
    store: sqlite3.Connection,
    question: QueryTerms,
    filters: Filters,
    hits: Sequence[int],
    history: Mapping[str, float],
    chunks: Sequence[int],
) -> dict[int, FileCandidate]:
    likely = sorted(history, key=lambda path: -history[path])[:_FILES]
    rows = _select(store, _FILE_ROWS + "path IN", likely)
    rows += _select(store, _FILE_ROWS + "id IN", hits)
    ids = {row[0] for row in _select(store, "SELECT DISTINCT file FROM chunks WHERE id IN", chunks)}
    rows += _select(store, _FILE_ROWS + "id IN", ids.difference(row[0] for row in rows))
    average = float(get_meta(store, "file_length") or 300)
    found: dict[int, FileCandidate] = {}
    for file, path, kind, language, terms, counts in rows:
        if file not in found and filters.file(path, language or ""):
            each = found[file] = FileCandidate(file, path, kind, language or "")
            each.features.update(file_features(question, path, kind, terms, counts, average))
    return found


def _load_chunks(
    store: sqlite3.Connection,
    question: QueryTerms,
    filters: Filters,
    files: Mapping[int, FileCandidate],
    hits: Sequence[int],
) -> None:
    rows = _select(store, _CHUNK_ROWS + "id IN", hits)
    # Files that only their whole text or their history proposes show their best chunks.
    without = files.keys() - {row[1] for row in rows}
    ranked = sorted(without, key=lambda each: -files[each].features["file_bm25"])
    scanned = _select(store, "SELECT id, file, length, terms FROM chunks WHERE file IN", ranked[:_BEST_OF_FILE])
    rows += _select(store, _CHUNK_ROWS + "id IN", _best_chunks(question, scanned))
    first = _select(store, "SELECT min(id) FROM chunks WHERE file IN", ranked[_BEST_OF_FILE:], " GROUP BY file")
    rows += _select(store, _CHUNK_ROWS + "id IN", [row[0] for row in first])
    average = float(get_meta(store, "chunk_length") or 60)
    for row in rows:
        owner = files.get(row[1])
        if owner is not None and filters.chunk(row[6]):
            owner.chunks.append(measured_chunk(question, row, average))
    for owner in files.values():
        owner.chunks.sort(key=lambda each: -each.features["bm25"])
        top = [each.features["bm25"] for each in owner.chunks[:3]]
        owner.features["chunk_sum"] = sum(top)
        names = {part for each in owner.chunks for part in name_terms(each.name)}
        covered = sum(term.chunk for term in question.known if term.text in names)
        owner.features["names_coverage"] = covered / question.total


def _best_chunks(question: QueryTerms, rows: Sequence[tuple[int, int, int, bytes]]) -> list[int]:
    """The chunks of each file that hold the most of the question, by a quick look."""
    weights = [(array("H", [term.short]).tobytes(), term.chunk) for term in question.known]
    ranked: dict[int, list[tuple[float, int]]] = defaultdict(list)
    for chunk, file, length, terms in rows:
        held = sum([weight for key, weight in weights if _holds(terms, key)])
        ranked[file].append((held / (1 + 0.002 * length), chunk))
    found: list[int] = []
    for scored in ranked.values():
        scored.sort(key=lambda each: -each[0])
        found += [chunk for _, chunk in scored[:_CHUNKS_OF_FILE]]
    return found


def _holds(terms: bytes, key: bytes) -> bool:
    """Whether packed terms hold one of two bytes; it stands at an even place."""
    place = terms.find(key)
    while place % 2 == 1 and place > 0:
        place = terms.find(key, place + 1)
    return place >= 0


def _measure_history(store: sqlite3.Connection, files: Mapping[int, FileCandidate]) -> None:
    by_path = {each.path: each for each in files.values()}
    rows = _select(
        store,
        "SELECT path, count(*), min(commit_files.id) FROM paths "
        "JOIN commit_files ON commit_files.file = paths.id WHERE path IN",
        list(by_path),
        " GROUP BY path",
    )
    for path, count, newest in rows:
        by_path[path].features["churn"] = math.log1p(count) / 6
        by_path[path].features["recent"] = 1 / (1 + newest / 50)
    most = max((each.features["history"] for each in files.values()), default=0.0)
    for each in files.values():
        each.features["history_share"] = each.features["history"] / most if most else 0.0


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


def _measure_changed_together(store: sqlite3.Connection, files: Mapping[int, FileCandidate]) -> None:
    """How often a file was changed in one commit with the best candidates."""
    best = sorted((each for each in files.values() if each.kind == "code"), key=_first_guess, reverse=True)[:_LEADERS]
    paths = {each.path: each for each in files.values()}
    for leader in best:
        rows = store.execute(
            "SELECT paths.path, count(*) FROM paths AS mine JOIN commit_files AS own ON own.file = mine.id "
            "JOIN commit_files AS other ON other.id = own.id JOIN paths ON paths.id = other.file "
            "WHERE mine.path = ? GROUP BY paths.path",
            (leader.path,),
        ).fetchall()
        own = next((count for path, count in rows if path == leader.path), 0)
        for path, count in rows:
            if path in paths and path != leader.path and count > 1:
                features = paths[path].features
                together = count / own * min(_first_guess(leader), 3.0)
                features["together"] = max(features.get("together", 0.0), together)


def _first_guess(file: FileCandidate) -> float:
    features = file.features
    best = max((chunk.features["bm25"] for chunk in file.chunks), default=0.0)
    return features["file_bm25"] + best + features.get("history_share", 0.0) + features["path_coverage"]


def _compare(files: Mapping[int, FileCandidate]) -> None:
    """Measure again as shares of the best candidate: what is little for one question is much for another."""
    own = [each for each in files.values() if each.kind == "code" and each.chunks] or list(files.values())
    for name in ("file_bm25", "chunk_sum", "path_coverage", "history_coverage", "tests_agree"):
        most = max((each.features.get(name, 0.0) for each in own), default=0.0)
        for each in files.values():
            each.features[f"{name}_share"] = each.features.get(name, 0.0) / most if most else 0.0
    for name in ("bm25", "coverage", "name_coverage", "related_name"):
        most = max((chunk.features[name] for each in own for chunk in each.chunks), default=0.0)
        for each in files.values():
            for chunk in each.chunks:
                chunk.features[f"{name}_share"] = chunk.features[name] / most if most else 0.0


def _select(store: sqlite3.Connection, statement: str, values: Iterable[int | str], tail: str = "") -> list[Any]:
    """`statement` ends in `IN`; at most 900 values at once, as SQLite allows."""
    wanted, rows = list(values), []
    for start in range(0, len(wanted), 900):
        part = wanted[start : start + 900]
        rows += store.execute(f"{statement} ({','.join('?' * len(part))}){tail}", part).fetchall()
    return rows
