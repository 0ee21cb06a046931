"""Indexes of Git remotes in the database of a fleet: a worker that clones one begins with what another has built.

The builder then takes in what differs, so that answers and their order are those of an index built here. Only clones
that we made share theirs. An index holds words, names and commit messages, no files; secrets aren't in it.
"""

import asyncio
import contextlib
import hashlib
import logging
import os
import secrets
import sqlite3
import tempfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from sidecar.config.repositories import is_shared_name
from sidecar.journal.errors import JournalError
from sidecar.journal.postgres.connection import without_zeros
from sidecar.journal.postgres.reading import JournalReader
from sidecar.memory.store import VERSION, is_whole, open_store, set_meta, transaction

log = logging.getLogger(__name__)

_PART_BYTES = 8 << 20
#: A larger index stays with its worker.
_MOST_BYTES = 1 << 30
#: Of all indexes, compressed; the oldest go.
KEPT_BYTES = 4 << 30
_FIND = "SELECT upload, parts, content FROM code_indexes WHERE repository = %s AND version = %s"
_PUBLISH = "SELECT publish_code_index(%s, %s, %s, %s, %s, %s, %s)"


class SharedIndexes:
    """`origin` names the repository that we made a directory of."""

    def __init__(self, journal: JournalReader, origin: Callable[[str], str | None]) -> None:
        self._journal = journal
        self._origin = origin

    async def fetch(self, workspace: str, path: Path) -> None:
        """Put the index of the workspace's remote at `path`, if there is one."""
        if (repository := self._repository(workspace)) is None:
            return
        try:
            found = await self._journal.query(_FIND, (repository, VERSION))
            if found:
                await self._download(found[0][0], found[0][1], path)
        except (JournalError, OSError, sqlite3.Error, zlib.error, ValueError) as error:
            log.warning("The shared index of %s can't be used, so it is built here: %s", repository, error)

    async def keep(self, workspace: str, path: Path, *, replace: bool = False) -> None:
        """Share this index, unless the shared one holds the same files. `replace` shares it all the same."""
        if (repository := self._repository(workspace)) is None:
            return
        try:
            content = await asyncio.to_thread(_content, path)
            found = await self._journal.query(_FIND, (repository, VERSION))
            if not found or found[0][2] != content or replace:
                await self._upload(repository, content, path)
        except (JournalError, OSError, sqlite3.Error, ValueError) as error:
            log.warning("The index of %s isn't shared: %s", repository, error)

    def _repository(self, workspace: str) -> str | None:
        origin = self._origin(workspace)
        return without_zeros(origin) if origin is not None and is_shared_name(origin) else None

    async def _download(self, upload: str, parts: int, path: Path) -> None:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, suffix=".part")
        part = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                for number in range(parts):
                    query = "SELECT data FROM code_index_parts WHERE upload = %s AND number = %s"
                    rows = await self._journal.query(query, (upload, number))
                    if not rows:
                        raise ValueError("it was replaced meanwhile")
                    await asyncio.to_thread(_unpack, rows[0][0], file)
            await asyncio.to_thread(_adopt, part, path)
        finally:
            for suffix in ("", "-wal", "-shm"):
                part.with_name(part.name + suffix).unlink(missing_ok=True)

    async def _upload(self, repository: str, content: bytes, path: Path) -> None:
        upload, parts, size = secrets.token_hex(8), 0, 0
        with tempfile.TemporaryDirectory(dir=path.parent) as folder:
            copy = Path(folder, "copy.db")
            await asyncio.to_thread(_copy, path, copy)
            if copy.stat().st_size > _MOST_BYTES:
                return
            with copy.open("rb") as file:  # noqa: ASYNC230 - a cancel of its thread would leave it open
                while data := await asyncio.to_thread(file.read, _PART_BYTES):
                    packed = await asyncio.to_thread(zlib.compress, data, 1)
                    insert = "INSERT INTO code_index_parts (upload, number, data) VALUES (%s, %s, %s) RETURNING number"
                    await self._journal.query(insert, (upload, parts, packed))
                    parts, size = parts + 1, size + len(packed)
        await self._journal.query(_PUBLISH, (repository, VERSION, upload, content, parts, size, KEPT_BYTES))


def _content(path: Path) -> bytes:
    """Which files it holds, in which versions."""
    with contextlib.closing(open_store(path, readonly=True)) as store:
        known = hashlib.sha256()
        for name, digest in store.execute("SELECT path, hash FROM files ORDER BY path"):
            known.update(f"{name}\0".encode("utf-8", "surrogateescape") + digest)
        return known.digest()


def _copy(path: Path, copy: Path) -> None:
    with contextlib.closing(open_store(path, readonly=True)) as store:
        store.execute("VACUUM INTO ?", (str(copy),))


def _unpack(data: bytes, file: BinaryIO) -> None:
    unpacking = zlib.decompressobj()
    file.write(unpacking.decompress(data, _PART_BYTES))
    if unpacking.unconsumed_tail:
        raise ValueError("a part is too large")


def _adopt(part: Path, path: Path) -> None:
    """Until the builder has compared it with the files, it isn't ready."""
    with contextlib.closing(open_store(part)) as store:
        if not is_whole(store):
            raise ValueError("it has other tables")
        with transaction(store):
            set_meta(store, "state", "")
        store.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    part.replace(path)
