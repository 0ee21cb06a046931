"""Contents by their hash, compressed, or as a difference to a similar one that is stored already."""

import hashlib
import sqlite3
import zlib
from collections import OrderedDict

from sidecar.journal.delta import apply_difference, difference

#: Longest chain of differences down to a content that is stored whole.
DEEPEST = 32
#: Recent contents in memory, to compute differences without reading.
RECENT_BYTES = 16 * 1024 * 1024


class Blobs:
    """Used only by the writer's thread."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._recent: OrderedDict[str, bytes] = OrderedDict()
        self._size = 0

    def put(self, digest: str, data: bytes, like: str | None) -> int:
        """Store it unless it is there; returns how many bytes that took."""
        known = self._connection.execute("SELECT 1 FROM blobs WHERE digest = ?", (digest,)).fetchone()
        self._remember(digest, data)
        if known is not None:
            return 0
        base, depth, packed = self._packed(data, like)
        self._connection.execute(
            "INSERT INTO blobs (digest, size, data, base, depth) VALUES (?, ?, ?, ?, ?)",
            (digest, len(data), packed, base, depth),
        )
        return len(packed)

    def sweep(self) -> None:
        """Drop contents that no task uses and no used content is based on."""
        self._connection.execute(
            "WITH RECURSIVE kept(digest) AS (SELECT digest FROM blob_uses UNION"
            " SELECT base FROM blobs JOIN kept USING (digest) WHERE base IS NOT NULL)"
            " DELETE FROM blobs WHERE digest NOT IN kept"
        )

    def forget(self) -> None:
        self._recent.clear()
        self._size = 0

    def _packed(self, data: bytes, like: str | None) -> tuple[str | None, int, bytes]:
        if like is not None:
            row = self._connection.execute("SELECT depth FROM blobs WHERE digest = ?", (like,)).fetchone()
            if row is not None and row[0] < DEEPEST:
                base = self._recent.get(like) or read_blob(like, self._connection)
                pieces = None if base is None else difference(base, data)
                if pieces is not None:
                    return like, row[0] + 1, zlib.compress(pieces, level=1)
        return None, 0, zlib.compress(data, level=1)

    def _remember(self, digest: str, data: bytes) -> None:
        if digest in self._recent or len(data) > RECENT_BYTES // 4:
            return
        self._recent[digest] = data
        self._size += len(data)
        while self._size > RECENT_BYTES:
            self._size -= len(self._recent.popitem(last=False)[1])


def read_blob(digest: str, connection: sqlite3.Connection) -> bytes | None:
    """The content with that digest; `None` if it is missing or damaged."""
    chain: list[bytes] = []
    name: str | None = digest
    while name is not None:
        row = connection.execute("SELECT data, base FROM blobs WHERE digest = ?", (name,)).fetchone()
        if row is None or len(chain) > DEEPEST:
            return None
        chain.append(row[0])
        name = row[1]
    return unpack(digest, chain)


def unpack(digest: str, chain: list[bytes]) -> bytes | None:
    """The content of a chain of differences that ends with a whole one; `None` if it is damaged."""
    try:
        data = zlib.decompress(chain[-1])
        for pieces in reversed(chain[:-1]):
            data = apply_difference(data, zlib.decompress(pieces))
    except (ValueError, zlib.error):
        return None
    return data if hashlib.sha256(data).hexdigest() == digest else None
