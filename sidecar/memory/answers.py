"""Answers questions from an open index: finds candidates, ranks them, and checks each hit against the disk."""

import sqlite3
from collections.abc import Iterable

from sidecar.memory.candidates import Filters, find_candidates
from sidecar.memory.dependents import files_of_symbol
from sidecar.memory.indexer import MAX_BYTES, digest
from sidecar.memory.port import Hit, SearchRequest
from sidecar.memory.query_terms import QueryTerms
from sidecar.memory.ranking import Ranked, explain, rank
from tools.errors import ToolError
from tools.local.files import whole_file
from tools.local.root import WorkspaceRoot

_SNIPPET_LINES = 12
_SNIPPET_COLUMNS = 200
_SIMILAR_LINES = 40


class CurrentFiles:
    """The lines of indexed files, of those that are still what the index holds."""

    def __init__(self, store: sqlite3.Connection, workspace: str) -> None:
        self._store = store
        self._root = WorkspaceRoot(workspace)
        self._lines: dict[str, list[str] | None] = {}
        self.stale: list[str] = []

    def lines(self, path: str) -> list[str] | None:
        if path not in self._lines:
            self._lines[path] = self._read(path)
            if self._lines[path] is None:
                self.stale.append(path)
        return self._lines[path]

    def _read(self, path: str) -> list[str] | None:
        row = self._store.execute("SELECT hash FROM files WHERE path = ?", (path,)).fetchone()
        try:
            _, content = whole_file(self._root, path, MAX_BYTES, secrets=False)
        except (ToolError, OSError):
            return None
        if row is None or content is None or digest(content) != row[0]:
            return None
        return content.decode("utf-8", "replace").split("\n")

    def close(self) -> None:
        self._root.close()


def answer_search(
    store: sqlite3.Connection, workspace: str, search: SearchRequest, *, vectors: bool = False
) -> tuple[list[Hit], list[str]]:
    """The hits, and the files that changed since they were indexed."""
    question = QueryTerms(store, search.query)
    filters = Filters(search.path, search.kind, search.language, search.days)
    ranked: Iterable[Ranked] = rank(find_candidates(store, question, filters), search.near, question.wish)
    if vectors:
        from sidecar.memory.vectors import find_nearest, fuse

        ranked = fuse(store, ranked, find_nearest(store, search.query, question), filters)
    files = CurrentFiles(store, workspace)
    try:
        return list(_hits(ranked, files, search.limit)), files.stale
    finally:
        files.close()


def _hits(ranked: Iterable[Ranked], files: CurrentFiles, limit: int) -> Iterable[Hit]:
    count = 0
    for each in ranked:
        if count >= limit:
            return
        lines = files.lines(each.file.path)
        if lines is not None:
            count += 1
            yield _hit(each, lines)


def _hit(ranked: Ranked, lines: list[str]) -> Hit:
    chunk = ranked.chunk
    snippet = _snippet(lines, chunk.line, chunk.end_line)
    score = round(ranked.score, 4)
    return Hit(ranked.file.path, chunk.line, chunk.end_line, chunk.symbol, chunk.kind, score, snippet, explain(ranked))


def _snippet(lines: list[str], line: int, end_line: int) -> str:
    shown = lines[line - 1 : min(end_line, line - 1 + _SNIPPET_LINES)]
    return "\n".join(text[:_SNIPPET_COLUMNS] for text in shown)


def answer_similar(store: sqlite3.Connection, workspace: str, symbol: str, limit: int) -> list[Hit]:
    """Definitions that share the most terms with this one."""
    found = files_of_symbol(store, symbol)
    if not found:
        return []
    path, name, line, _ = found[0]
    files = CurrentFiles(store, workspace)
    try:
        lines = files.lines(path)
        text = " ".join(lines[line - 1 : line + _SIMILAR_LINES]) if lines is not None else name
        scored = [
            Ranked(chunk.features["bm25"], file, chunk)
            for file in find_candidates(store, QueryTerms(store, text), Filters())
            for chunk in file.chunks
            if (file.path, chunk.line) != (path, line) and chunk.kind not in ("section", "text", "block")
        ]
        scored.sort(key=lambda each: -each.score)
        return list(_hits(scored, files, limit))
    finally:
        files.close()
