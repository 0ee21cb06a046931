"""Questions to the import and call graph: who depends on a file or a name."""

import sqlite3
from collections.abc import Iterable, Iterator

from sidecar.memory.calls import read_calls
from sidecar.memory.indexer import has_words
from sidecar.memory.port import Affected
from sidecar.memory.postings import FILE_SHIFT, files_with
from sidecar.memory.resolver import unit_of
from sidecar.memory.store import select
from sidecar.memory.tokens import terms_of

_MAX_DEPTH = 6
_MAX_HITS = 2_000

#: The importers of a unit, their importers, and so on. A unit is a file or a Go package.
_IMPORTERS = """
WITH RECURSIVE reached (unit, distance) AS (
    SELECT ?, 0
    UNION
    SELECT coalesce(files.package, files.path), reached.distance + 1
    FROM reached JOIN edges ON edges.target = reached.unit JOIN files ON files.id = edges.source
    WHERE reached.distance < ?
), nearest AS (
    SELECT edges.source AS file, min(reached.distance) + 1 AS distance, edges.target AS target,
           min(edges.line) AS line, max(edges.certain) AS certain
    FROM reached JOIN edges ON edges.target = reached.unit WHERE reached.distance < ? GROUP BY edges.source
)
SELECT files.path, nearest.distance, nearest.target, nearest.line, nearest.certain, files.kind
FROM nearest JOIN files ON files.id = nearest.file ORDER BY nearest.distance, files.path LIMIT ?
"""
#: Files that import a name, also through files that export it again, under the name it has there.
_NAME_IMPORTERS = """
WITH RECURSIVE offered (target, name) AS (
    SELECT ?, ?
    UNION
    SELECT files.path, CASE WHEN edges.name = '*' OR edges.alias = '' THEN offered.name ELSE edges.alias END
    FROM offered JOIN edges ON edges.target = offered.target AND edges.name IN (offered.name, '*')
    JOIN files ON files.id = edges.source
    WHERE edges.exported OR files.path LIKE '%__init__.py'
)
SELECT files.path, min(edges.line), max(edges.certain), max(edges.name <> '*'), edges.target
FROM offered JOIN edges ON edges.target = offered.target AND edges.name IN (offered.name, '*')
JOIN files ON files.id = edges.source
GROUP BY files.path ORDER BY files.path LIMIT ?
"""
_PACKAGE = "SELECT path, words FROM files WHERE package = ? ORDER BY path"


def files_of_symbol(store: sqlite3.Connection, symbol: str) -> list[tuple[str, str, int, str]]:
    """The definitions of a name: path, qualified name, line, kind. `A.b` is also found as `b` inside of `A`."""
    name = symbol.rpartition(".")[2]
    rows = store.execute(
        "SELECT files.path, chunks.symbol, chunks.line, chunks.kind FROM chunks JOIN files ON files.id = chunks.file "
        "WHERE chunks.name = ? AND chunks.name <> '' AND chunks.kind NOT IN ('section', 'text', 'block') "
        "ORDER BY files.kind = 'test', files.path, chunks.line LIMIT 50",
        (name,),
    ).fetchall()
    exact = [row for row in rows if row[1] == symbol or row[1].endswith(f".{symbol}")]
    return exact or rows


def dependents(store: sqlite3.Connection, path: str, symbol: str, depth: int) -> list[Affected]:
    depth = max(1, min(depth, _MAX_DEPTH))
    if not symbol:
        return list(_of_file(store, path, depth))
    paths = [path] if path else list(dict.fromkeys(row[0] for row in files_of_symbol(store, symbol)))[:5]
    found: dict[str, Affected] = {}
    for each in paths:
        for hit in _of_symbol(store, each, symbol):
            found.setdefault(hit.path, hit)
    for distance in range(2, depth + 1):
        for hit in [each for each in found.values() if each.distance == distance - 1]:
            for further in _of_file(store, hit.path, 1):
                if further.path not in found and further.path not in paths:
                    found[further.path] = further._replace(distance=distance)
    return sorted(found.values(), key=lambda each: (each.distance, each.path))[:_MAX_HITS]


def _of_file(store: sqlite3.Connection, path: str, depth: int) -> Iterator[Affected]:
    own = unit_of(path)
    rows = store.execute(_IMPORTERS, (own, depth, depth, _MAX_HITS))
    for found, distance, target, line, certain, _ in rows:
        if found != path and unit_of(found) != own:
            via = f"imports {target.rstrip('/') or '.'}"
            yield Affected(found, "", distance, via, line, bool(certain), target)


def _of_symbol(store: sqlite3.Connection, path: str, symbol: str) -> Iterator[Affected]:
    """Files that import the name, and in Go those of the same package that write it."""
    outer, name = symbol.partition(".")[0], symbol.rpartition(".")[2]
    callers = _callers(store, name)
    unit = unit_of(path)
    asked = name if unit.endswith("/") else outer
    for found, line, certain, named, target in store.execute(_NAME_IMPORTERS, (unit, asked, _MAX_HITS)):
        if found == path:
            continue
        if not named and not _writes(store, found, asked):
            continue  # it takes everything from there, but not this
        calls = callers.get(found)
        via = f"imports {asked} from {target.rstrip('/') or '.'}"
        yield Affected(found, calls[0] if calls else "", 1, via, calls[1] if calls else line, bool(certain), target)
    if (own := callers.get(path)) is not None:
        yield Affected(path, own[0], 1, f"uses {name} in the same file", own[1])
    if unit.endswith("/"):
        for found, words in store.execute(_PACKAGE, (unit,)):
            if found != path and words and has_words(words, name):
                calls = callers.get(found)
                line = calls[1] if calls else 0
                yield Affected(found, calls[0] if calls else "", 1, f"uses {name} in the same package", line)


def _callers(store: sqlite3.Connection, name: str) -> dict[str, tuple[str, int]]:
    """By file, the first definition that calls the name, and the line."""
    first: dict[int, tuple[int, int]] = {}
    for chunk, line in read_calls(store, name):
        file = chunk >> FILE_SHIFT
        first[file] = min(first.get(file, (line, chunk)), (line, chunk))
    paths = sorted((path, file) for file, path in select(store, "SELECT id, path FROM files WHERE id IN", first))
    chunks = [first[file][1] for _, file in paths[:_MAX_HITS]]
    symbols = dict(select(store, "SELECT id, symbol FROM chunks WHERE id IN", chunks))
    return {path: (symbols.get(first[file][1], ""), first[file][0]) for path, file in paths[:_MAX_HITS]}


def _writes(store: sqlite3.Connection, path: str, name: str) -> bool:
    row = store.execute("SELECT id FROM files WHERE path = ?", (path,)).fetchone()
    terms = terms_of(name)
    return row is not None and bool(terms) and row[0] in files_with(store, terms[-1])


def tests_of(store: sqlite3.Connection, path: str, depth: int = 2) -> list[Affected]:
    rows = store.execute(_IMPORTERS, (unit_of(path), depth, depth, _MAX_HITS)).fetchall()
    near = [row for row in rows if row[5] == "test" and row[0] != path]
    stem = path.rpartition("/")[2].partition(".")[0]
    beside = store.execute(
        "SELECT path FROM files WHERE kind = 'test' AND (path LIKE ? OR path LIKE ? OR path LIKE ?)",
        (f"%test_{stem}.%", f"%{stem}_test.%", f"%{stem}.test.%"),
    )
    found = {row[0]: Affected(row[0], "", 1, f"is named after {stem}", 1, certain=False) for row in beside}
    for test, distance, target, line, certain, _ in near:
        found[test] = Affected(test, "", distance, f"imports {target.rstrip('/') or '.'}", line, bool(certain))
    return sorted(found.values(), key=lambda each: (each.distance, not each.certain, each.path))


def imported_by(store: sqlite3.Connection, paths: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The files that each of these files imports."""
    for path in paths:
        rows = store.execute(
            "SELECT DISTINCT edges.target FROM edges JOIN files ON files.id = edges.source WHERE files.path = ?",
            (path,),
        )
        yield from ((path, row[0]) for row in rows)
