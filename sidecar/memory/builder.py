"""The process that builds a workspace's index.

    python -m sidecar.memory.builder STORE WORKSPACE DATA_DIR SANDBOX PRIORITY [vectors]

A process of its own, at low priority, so that it takes neither memory nor time from the sidecar. It may be killed at
any moment: each transaction leaves a consistent index, and the next run continues where this one stopped.
"""

import asyncio
import contextlib
import gc
import os
import sqlite3
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from sidecar.config.paths import is_disk_full
from sidecar.memory.calls import join_calls
from sidecar.memory.history import read_history
from sidecar.memory.indexer import Indexer, wanted
from sidecar.memory.postings import is_worn, join_segments
from sidecar.memory.resolver import Resolver, is_manifest
from sidecar.memory.store import get_meta, open_or_replace, remove, set_meta, transaction
from tools.code.files import list_files
from tools.host import Host
from tools.local.backend import LocalBackend
from tools.local.sandbox.probe import Sandboxes
from tools.spec import Call

_NICE = 10
#: What a killed builder loses at most, in processor time.
_BATCH_SECONDS = 10.0
_BATCH_POSTINGS = 200_000
_MAX_FILES = 200_000
_LIST_SECONDS = 120.0


def main(arguments: Sequence[str]) -> int:
    store, workspace, data_dir, sandbox, priority, *more = arguments
    if priority == "low":
        with contextlib.suppress(OSError):
            os.nice(_NICE)
    # Looking for cycles all the time takes a tenth of it; `_update` does when its rows are written.
    gc.disable()
    gc.freeze()
    threading.Thread(target=_exit_with_parent, daemon=True).start()
    try:
        asyncio.run(_build(Path(store), workspace, Path(data_dir), sandbox))
        if "vectors" in more:
            _embed(Path(store), workspace)
    except (sqlite3.OperationalError, OSError):
        if not is_disk_full(Path(data_dir)):
            raise
        sys.stderr.write(f"the disk of {data_dir} is full; what was built before is kept\n")
        return 1
    return 0


def _embed(path: Path, workspace: str) -> None:
    from sidecar.memory.vectors import embed_missing

    store = open_or_replace(path)
    try:
        embed_missing(store, workspace)
        store.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        store.close()


def _exit_with_parent() -> None:
    """The sidecar holds the other end of standard input."""
    with contextlib.suppress(OSError):
        while os.read(0, 4_096):
            pass
    os._exit(1)


async def _build(path: Path, workspace: str, data_dir: Path, sandbox: str) -> None:
    backend = LocalBackend((), data_dir, sandboxes=Sandboxes(sandbox))  # type: ignore[arg-type]
    host = backend.host(workspace)
    store = open_or_replace(path)
    try:
        if Indexer(store, workspace).full:
            store.close()
            remove(path)
            store = open_or_replace(path)
        refresh(store, workspace, [each for each in await _list(host) if wanted(each)][:_MAX_FILES])
        await read_history(store, host)
        with transaction(store):
            set_meta(store, "built", time.time())
            set_meta(store, "state", "ready")
        store.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        store.close()
        await backend.close()


async def _list(host: Host) -> list[str]:
    return await list_files(host, Call("memory-list", host.workspace, _LIST_SECONDS))


def refresh(store: sqlite3.Connection, workspace: str, paths: Sequence[str]) -> None:
    """Make the index hold exactly these files as they are now."""
    indexer = Indexer(store, workspace)
    try:
        known = {row[0]: (row[1], row[2]) for row in store.execute("SELECT path, size, mtime FROM files")}
        gone = known.keys() - paths
        changed = [path for path in paths if path not in known or known[path] != _stamp(workspace, path)]
        structure = bool(gone) or any(path not in known or is_manifest(path) for path in changed)
        with transaction(store):
            if gone or changed:
                set_meta(store, "state", "")  # until all of it is in
            set_meta(store, "total", len(paths))
            for path in gone:
                indexer.remove(path)
            indexer.flush()
        resolved, before, total = get_meta(store, "resolved") == "1", len(known), len(paths)
        del known, paths  # a large workspace has many
        _update(store, indexer, changed, total)
        # Without new or removed files, only the imports of changed files can lead elsewhere.
        everything = structure or not resolved or _count(store) != before
        only, changed = (None if everything else frozenset(changed)), []
        if only is None or only:
            _resolve(store, indexer, only)
        with transaction(store):
            write_statistics(store)
        if is_worn(store):
            with transaction(store):
                files = {row[0] for row in store.execute("SELECT id FROM files")}
                join_segments(store, files)
                join_calls(store, files)
                set_meta(store, "dead", 0)
            with contextlib.suppress(sqlite3.OperationalError):  # the next time, if another process is writing
                store.execute("VACUUM")
    finally:
        indexer.close()


def write_statistics(store: sqlite3.Connection) -> None:
    """Counts and lengths, which weigh the terms of a question."""
    files, length = store.execute("SELECT count(*), avg(length) FROM files WHERE length > 0").fetchone()
    chunks = store.execute("SELECT count(*) FROM chunks").fetchone()[0]
    for key, value in {"chunk_count": chunks, "file_count": files, "file_length": length or 1_000}.items():
        set_meta(store, key, value)


def _update(store: sqlite3.Connection, indexer: Indexer, changed: Sequence[str], total: int) -> None:
    place = 0
    while place < len(changed):
        until = time.process_time() + _BATCH_SECONDS
        while place < len(changed) and time.process_time() < until and indexer.size < _BATCH_POSTINGS:
            indexer.update(changed[place])
            place += 1
        with transaction(store):
            set_meta(store, "resolved", "0")
            indexer.flush()
            set_meta(store, "done", total - len(changed) + place)
        gc.collect(0)  # only what this batch left


def _count(store: sqlite3.Connection) -> int:
    return int(store.execute("SELECT count(*) FROM files").fetchone()[0])


def _resolve(store: sqlite3.Connection, indexer: Indexer, only: frozenset[str] | None) -> None:
    resolver = Resolver((path for (path,) in store.execute("SELECT path FROM files")), indexer.text)
    with transaction(store):
        rows = store.execute("SELECT id, path FROM files")
        indexer.resolve(resolver, ((file, path) for file, path in rows if only is None or path in only))
        set_meta(store, "resolved", "1")


def _stamp(workspace: str, path: str) -> tuple[int, int]:
    try:
        found = os.lstat(f"{workspace}/{path}")
    except OSError:
        return -1, -1
    return found.st_size, found.st_mtime_ns


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
