"""Brings the index up to date with a few changed files, without a process of its own.

The cost depends on those files, not on the size of the workspace, unless their imports change.
"""

import os
import sqlite3
from collections.abc import Iterable

from sidecar.memory.imports import ImportRow
from sidecar.memory.indexer import INSERT_EDGE, Indexer, read_imports, wanted
from sidecar.memory.resolver import Resolver, is_manifest
from sidecar.memory.store import get_meta, transaction


def update_files(store: sqlite3.Connection, workspace: str, changed: Iterable[str]) -> bool:
    """`changed` are paths in the workspace, absolute or relative to it. Whether the index changed.

    A path that is new to the index must not be one that Git ignores. Only the builder knows those rules, so new files
    are taken if a file beside them is in the index, and the builder removes them again if it knows better.
    """
    paths = sorted({path for each in changed if (path := _relative(workspace, each)) and wanted(path)})
    known = {path: file for path in paths if (file := _id(store, path)) is not None}
    paths = [path for path in paths if path in known or _has_files(store, path.rpartition("/")[0])]
    if not paths or get_meta(store, "state") != "ready":
        return False
    indexer = Indexer(store, workspace)
    try:
        if indexer.full:
            return False
        with transaction(store):
            before = {path: (_imports(store, file), _edges(store, file)) for path, file in known.items()}
            updated = [path for path in paths if indexer.update(path)]
            indexer.flush(edits=True)
            moved = any((_id(store, path) is None) != (path not in known) for path in updated)
            if moved or any(is_manifest(path) for path in updated):
                _resolve(store, indexer, updated, moved=moved)
            else:
                others = [path for path in updated if not _keep_edges(store, path, *before[path])]
                if others:
                    _resolve(store, indexer, others, moved=False)
        return bool(updated)
    finally:
        indexer.close()


def _id(store: sqlite3.Connection, path: str) -> int | None:
    row = store.execute("SELECT id FROM files WHERE path = ?", (path,)).fetchone()
    return None if row is None else int(row[0])


def _has_files(store: sqlite3.Connection, folder: str) -> bool:
    if not folder:
        return True
    # "0" is the character after "/".
    found = store.execute("SELECT 1 FROM files WHERE path > ? AND path < ? LIMIT 1", (f"{folder}/", f"{folder}0"))
    return found.fetchone() is not None


def _imports(store: sqlite3.Connection, file: int) -> dict[ImportRow, int]:
    """By each import without its line, the line."""
    return {each._replace(line=0): each.line for each in read_imports(store, file)}


def _edges(store: sqlite3.Connection, file: int) -> list[tuple[object, ...]]:
    return store.execute(
        "SELECT target, name, exported, alias, line, certain FROM edges WHERE source = ?", (file,)
    ).fetchall()


def _keep_edges(
    store: sqlite3.Connection, path: str, imports: dict[ImportRow, int], edges: list[tuple[object, ...]]
) -> bool:
    """Whether the file still imports the same; then its edges lead to the same files, from other lines perhaps."""
    file = _id(store, path)
    assert file is not None
    now = _imports(store, file)
    if now.keys() != imports.keys():
        return False
    lines: dict[object, int] = {line: now[key] for key, line in imports.items()}
    store.executemany(INSERT_EDGE, [(file, *edge[:4], lines.get(edge[4], edge[4]), edge[5]) for edge in edges])
    return True


def _resolve(store: sqlite3.Connection, indexer: Indexer, updated: list[str], *, moved: bool) -> None:
    rows = store.execute("SELECT id, path FROM files").fetchall()
    # A file that comes or goes may change what any import means, but most imports name their target.
    stems = {path.rpartition("/")[2].partition(".")[0] for path in updated}
    changed = set(updated)
    if moved:
        marks = [f"%{stem}%" for stem in stems if stem]
        for mark in marks[:50]:
            files = store.execute(
                "SELECT DISTINCT files.path FROM imports JOIN files ON files.id = imports.file "
                "WHERE imports.statements LIKE ?",
                (mark,),
            )
            changed.update(row[0] for row in files)
    resolver = Resolver((path for _, path in rows), indexer.text)
    indexer.resolve(resolver, ((file, path) for file, path in rows if path in changed))


def _relative(workspace: str, path: str) -> str:
    if not path.startswith("/"):
        return path
    prefix = f"{workspace.rstrip('/')}/"
    if not path.startswith(prefix):
        path = f"{os.path.realpath(os.path.dirname(path))}/{os.path.basename(path)}"  # noqa: PTH119, PTH120
    return path[len(prefix) :] if path.startswith(prefix) else ""
