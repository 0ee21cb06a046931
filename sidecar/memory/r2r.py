"""`memory = "r2r"`: the local memory, whose searches also ask an R2R server that you run.

The server gets the indexed files of each workspace that you search. What it answers counts only where the file still
says it, so it can't show anything that isn't in the workspace. If it doesn't answer, the local index does.
"""

import asyncio
import hashlib
import logging
import os
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path

from sidecar.memory.answers import CurrentFiles
from sidecar.memory.local import LocalMemory, WorkspaceIndex
from sidecar.memory.port import Found, Hit, MemoryState, SearchRequest
from sidecar.memory.r2r_client import FoundText, R2RClient, R2RError

log = logging.getLogger(__name__)

_MAX_FILES = 5_000
_SNIPPET_LINES = 12
#: Of reciprocal rank fusion.
_RANK_OFFSET = 60
_SEARCH_SECONDS = 5.0


class R2RMemory(LocalMemory):
    def __init__(
        self,
        client: R2RClient,
        data_dir: Path,
        sandbox: str = "auto",
        watch: Callable[[str, Callable[[str], None]], Callable[[], bool]] | None = None,
        *,
        vectors: bool = False,
    ) -> None:
        super().__init__(data_dir, sandbox, watch, vectors=vectors)
        self._client = client
        self._collections: dict[str, str] = {}
        self._uploads: dict[str, asyncio.Task[None]] = {}

    async def search(self, workspace: str, search: SearchRequest, wait: float = 0) -> Found:
        found = await super().search(workspace, search, wait)
        index = self._index(workspace)
        if found.state != "ready" or search.kind or search.language or search.days:
            return found
        collection = self._collections.get(index.workspace)
        if index.workspace not in self._uploads:
            self._uploads[index.workspace] = asyncio.create_task(self._upload(index), name="r2r-upload")
        if collection is None:
            return found  # its documents are on their way
        try:
            async with asyncio.timeout(_SEARCH_SECONDS):
                texts = await asyncio.to_thread(self._client.search, collection, search.query, search.limit)
        except (R2RError, TimeoutError) as error:
            log.warning("Only the local index answers: %s", error or "R2R takes too long")
            return found
        nothing: list[Hit] = []
        hits = await index.ask(lambda store: _current(store, index.workspace, texts, search.path), nothing)
        return Found(found.state, _fused(found.hits, hits, search.limit))

    async def uploaded(self, workspace: str) -> None:
        """Wait until the documents of a workspace are on the server, if they are on their way."""
        upload = self._uploads.get(os.path.realpath(workspace))
        if upload is not None:
            await asyncio.wait({upload})

    async def rebuild(self, workspace: str) -> MemoryState:
        await self._stop_upload(os.path.realpath(workspace))
        return await super().rebuild(workspace)

    async def forget(self, workspace: str) -> None:
        real = os.path.realpath(workspace)
        await self._stop_upload(real)
        try:
            await asyncio.to_thread(self._remove, real)
        except R2RError as error:
            log.warning("What R2R holds of %s is still there: %s", real, error)
        await super().forget(workspace)

    async def close(self) -> None:
        for workspace in list(self._uploads):
            await self._stop_upload(workspace)
        await super().close()

    async def _stop_upload(self, workspace: str) -> None:
        self._collections.pop(workspace, None)
        upload = self._uploads.pop(workspace, None)
        if upload is not None:
            upload.cancel()
            await asyncio.wait({upload})

    async def _upload(self, index: WorkspaceIndex) -> None:
        """Make the server hold exactly the indexed files, as they are now."""
        nothing: list[tuple[str, bytes]] = []
        rows = await index.ask(_indexed_files, nothing)
        wanted = {path: digest.hex() for path, digest in rows}
        try:
            collection = await asyncio.to_thread(self._client.collection, _name(index.workspace))
            for document in await asyncio.to_thread(self._client.documents, collection):
                if wanted.get(document.path) == document.hash:
                    del wanted[document.path]
                else:
                    await asyncio.to_thread(self._client.delete_document, document.id)
            for path, digest in wanted.items():
                text = await index.ask(lambda store, path=path: _text(store, index.workspace, path), "")  # type: ignore[misc]
                if text.strip():
                    await asyncio.to_thread(self._client.add, collection, path, digest, text)
        except R2RError as error:
            log.warning("Not every file of %s is in R2R: %s", index.workspace, error)
            return
        self._collections[index.workspace] = collection

    def _remove(self, workspace: str) -> None:
        collection = self._client.collection(_name(workspace), create=False)
        if collection:
            for document in self._client.documents(collection):
                self._client.delete_document(document.id)
            self._client.delete_collection(collection)


def _name(workspace: str) -> str:
    """A collection's name, without the place of the workspace."""
    return f"rainy-brain-{hashlib.sha256(workspace.encode('utf-8', 'surrogateescape')).hexdigest()[:24]}"


def _indexed_files(store: sqlite3.Connection) -> list[tuple[str, bytes]]:
    return store.execute("SELECT path, hash FROM files WHERE kind != 'generated' LIMIT ?", (_MAX_FILES,)).fetchall()


def _text(store: sqlite3.Connection, workspace: str, path: str) -> str:
    files = CurrentFiles(store, workspace)
    try:
        return "\n".join(files.lines(path) or ())
    finally:
        files.close()


def _current(store: sqlite3.Connection, workspace: str, texts: Sequence[FoundText], folder: str) -> list[Hit]:
    """Hits for the texts that are in their files, word for word."""
    prefix = folder.strip("/")
    files = CurrentFiles(store, workspace)
    hits: list[Hit] = []
    try:
        for path, text in texts:
            inside = prefix in ("", ".") or path == prefix or path.startswith(f"{prefix}/")
            known = inside and store.execute("SELECT 1 FROM files WHERE path = ?", (path,)).fetchone()
            whole = "\n".join(files.lines(path) or ()) if known else ""
            at = whole.find(text.strip()) if text.strip() else -1
            if at >= 0:
                line = whole.count("\n", 0, at) + 1
                shown = text.strip().split("\n")
                snippet = "\n".join(shown[:_SNIPPET_LINES])
                hits.append(Hit(path, line, line + len(shown) - 1, "", "text", 0.0, snippet, "found by R2R"))
    finally:
        files.close()
    return hits


def _fused(local: Sequence[Hit], remote: Sequence[Hit], limit: int) -> list[Hit]:
    """By reciprocal rank; a place that both found comes once, as the local index describes it."""
    scores: dict[Hit, float] = {hit: 1 / (_RANK_OFFSET + rank) for rank, hit in enumerate(local)}
    for rank, hit in enumerate(remote):
        same = next((each for each in local if _overlaps(each, hit)), hit)
        scores[same] = scores.get(same, 0.0) + 1 / (_RANK_OFFSET + rank)
    return sorted(scores, key=lambda hit: -scores[hit])[:limit]


def _overlaps(one: Hit, other: Hit) -> bool:
    return one.path == other.path and one.line <= other.end_line and other.line <= one.end_line
