"""Contents by their hash, compressed, or as a difference to a similar one that this process stored before."""

import hashlib
import zlib
from collections import OrderedDict
from typing import NamedTuple

from sidecar.journal.blobs import DEEPEST, RECENT_BYTES
from sidecar.journal.delta import difference


class Packed(NamedTuple):
    data: bytes
    base: str | None = None
    depth: int = 0


class RecentContents:
    def __init__(self) -> None:
        self._recent: OrderedDict[str, tuple[bytes, int]] = OrderedDict()
        self._size = 0

    def pack(self, data: bytes, like: str | None) -> Packed:
        base, depth = self._recent.get(like or "", (None, DEEPEST))
        if base is not None and depth < DEEPEST:
            pieces = difference(base, data)
            if pieces is not None:
                return Packed(zlib.compress(pieces, level=1), like, depth + 1)
        return Packed(zlib.compress(data, level=1))

    def keep(self, digest: str, data: bytes, depth: int) -> None:
        if digest in self._recent or len(data) > RECENT_BYTES // 4:
            return
        self._recent[digest] = data, depth
        self._size += len(data)
        while self._size > RECENT_BYTES:
            self._size -= len(self._recent.popitem(last=False)[1][0])


def digest_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
