"""Contents by their hash, compressed, or as a difference to a similar one that this process stored before."""

import hashlib
import zlib
from collections import OrderedDict
from typing import NamedTuple

from sidecar.journal.blobs import DEEPEST, RECENT_BYTES
from sidecar.journal.delta import difference
from sidecar.journal.errors import UnknownTask
from sidecar.journal.postgres.writer import Writer


class Packed(NamedTuple):
    data: bytes
    base: str | None = None
    depth: int = 0


class Contents:
    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._recent: OrderedDict[str, tuple[bytes, int]] = OrderedDict()
        self._size = 0

    async def put(self, task_id: str, data: bytes, like: str | None, cap: int | None) -> str:
        """Store it for the task unless that has so many bytes already; returns the digest."""
        digest = hashlib.sha256(data).hexdigest()

        async def put(packed: Packed) -> str:
            arguments = (task_id, digest, len(data), packed.data, packed.base, packed.depth, cap)
            answer: str = await self._writer.value("SELECT put_content(%s, %s, %s, %s, %s, %s, %s)", arguments)
            if answer == "kept":
                self._keep(digest, data, packed.depth)
            return answer

        answer = await put(self._pack(data, like))
        if answer == "base":
            answer = await put(self._pack(data, None))
        if answer == "unknown":
            raise UnknownTask(task_id)
        return digest

    def _pack(self, data: bytes, like: str | None) -> Packed:
        base, depth = self._recent.get(like or "", (None, DEEPEST))
        if base is not None and depth < DEEPEST:
            pieces = difference(base, data)
            if pieces is not None:
                return Packed(zlib.compress(pieces, level=1), like, depth + 1)
        return Packed(zlib.compress(data, level=1))

    def _keep(self, digest: str, data: bytes, depth: int) -> None:
        if digest in self._recent or len(data) > RECENT_BYTES // 4:
            return
        self._recent[digest] = data, depth
        self._size += len(data)
        while self._size > RECENT_BYTES:
            self._size -= len(self._recent.popitem(last=False)[1][0])
