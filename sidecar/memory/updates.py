"""Brings the index up to date with a few changed files, without a process of its own."""

import os
import sqlite3
from collections.abc import Iterable

from sidecar.memory.indexer import Indexer, wanted
from sidecar.memory.resolver import Resolver, is_manifest
from sidecar.memory.store import get_meta, transaction


def update_files(store: sqlite3.Connection, workspace: str, changed: Iterable[str]) -> bool:
    """`changed` are paths in the workspace, absolute or relative to it. Whether the index changed.

    A path that is new to the index must not be one that Git ignores. Only the builder knows those rules, so new files
    are taken if a file beside them is in the index, and the builder removes them again if it knows better.
    """
    paths = sorted({path for each in changed if (path := _relative(workspace, each)) and wanted(path)})
    known = {path: file for file, path in store.execute("SELECT id, path FROM files")}
    folders = {path.rpartition("/")[0] for path in known}
    paths = [path for path in paths if path in known or path.rpartition("/")[0] in folders]
    if not paths or get_meta(store, "state") != "ready":
        return False
    indexer = Indexer(store, workspace)
    if indexer.full:
        indexer.close()
        return False
    try:
        with transaction(store):
            updated = [path for path in paths if indexer.update(path)]
            indexer.flush(edits=True)
            if updated:
                _resolve(store, indexer, updated, known)
        return bool(updated)
    finally:
        indexer.close()


def _resolve(store: sqlite3.Connection, indexer: Indexer, updated: list[str], known: dict[str, int]) -> None:
    rows = store.execute("SELECT id, path FROM files").fetchall()
    moved = {path for _, path in rows} != known.keys() or any(is_manifest(path) for path in updated)
    # A file that comes or goes may change what any import means, but most imports name their target.
    stems = {path.rpartition("/")[2].partition(".")[0] for path in updated}
    changed = set(updated)
    if moved:
        marks = [f"%{stem}%" for stem in stems if stem]
        for mark in marks[:50]:
            files = store.execute(
                "SELECT DISTINCT files.path FROM imports JOIN files ON files.id = imports.file "
                "WHERE imports.module LIKE ? OR imports.name LIKE ?",
                (mark, mark),
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
