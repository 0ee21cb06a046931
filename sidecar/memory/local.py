"""The memory of this machine: one SQLite file per workspace, in the data directory.

An index is opened at the first question to it. A process of its own builds it; after that this process brings the files
that change up to date before it answers.
"""

import asyncio
import contextlib
import hashlib
import logging
import os
import sqlite3
import sys
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Protocol, TypeVar

from sidecar.memory.port import Dependents, Found, Hit, MemoryState, SearchRequest, State
from sidecar.memory.store import get_meta, open_or_replace, open_store, remove, size_of

log = logging.getLogger(__name__)
T = TypeVar("T")

_MAX_OPEN = 8
#: Leave the first seconds of a task to the task; most of them are over by then.
_START_SECONDS = 20.0
_MAX_STARTS = 1_000
#: More changed files than this are left to the builder.
_FEW_FILES = 40
_MOST_CHANGES = 5_000
#: Without a watcher, how often a search has the workspace compared with the index.
_REFRESH_SECONDS = 10.0
_KEPT_VARIABLES = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "XDG_CONFIG_HOME", "SYSTEMROOT", "PYTHONPATH")
_STOP_SECONDS = 2.0
_SHARE_SECONDS = 5.0
#: How long a question waits for the comparison of an index from an earlier start with the workspace.
_COMPARE_SECONDS = 3.0


class Changes:
    """The paths that a watcher reports, until the index has taken them."""

    def __init__(self) -> None:
        self._paths: set[str] = set()
        self.overflowed = False
        self._lock = threading.Lock()

    def report(self, path: str) -> None:
        with self._lock:
            if len(self._paths) < _MOST_CHANGES:
                self._paths.add(path)
            else:
                self.overflowed = True

    def take(self) -> tuple[set[str], bool]:
        with self._lock:
            paths, overflowed = self._paths, self.overflowed
            self._paths, self.overflowed = set(), False
            return paths, overflowed


class Shared(Protocol):
    """Indexes that others built of the same repository."""

    async def fetch(self, workspace: str, path: Path) -> None: ...

    async def keep(self, workspace: str, path: Path, *, replace: bool = False) -> None: ...


class WorkspaceIndex:
    """One workspace: its store, its builder, and the changes that aren't in the store yet."""

    def __init__(
        self, workspace: str, data_dir: Path, sandbox: str, shared: Shared | None = None, *, vectors: bool = False
    ) -> None:
        self.vectors = vectors
        self._shared = shared
        self._keeping: asyncio.Task[None] | None = None
        self.workspace = os.path.realpath(workspace)
        name = hashlib.sha256(self.workspace.encode("utf-8", "surrogateescape")).hexdigest()[:24]
        self.path = data_dir / "memory" / f"{name}.db"
        self.changes = Changes()
        self._data_dir = data_dir
        self._sandbox = sandbox
        self._lock = threading.Lock()
        self._store: sqlite3.Connection | None = None
        self._building: asyncio.Task[None] | None = None
        self._process: asyncio.subprocess.Process | None = None
        self._compared = 0.0
        self._worn = False
        self._closed = False

    # -- building ----------------------------------------------------------------------------------------------------

    @property
    def building(self) -> bool:
        return self._building is not None and not self._building.done()

    @property
    def compared(self) -> bool:
        """Whether the index was compared with the workspace since this process started."""
        return self._compared > 0

    def build(self, *, urgent: bool, anew: bool = False) -> None:
        """Start the builder, unless it runs. One that isn't urgent is not awaited. `anew` takes nothing from others."""
        if not self.building and not self._closed:
            self._building = asyncio.create_task(self._build(urgent=urgent, anew=anew), name="memory-builder")

    async def _build(self, *, urgent: bool, anew: bool) -> None:
        started = time.monotonic()
        if self._shared is not None and not anew and not self.path.exists():
            await self._shared.fetch(self.workspace, self.path)
        command = [sys.executable, "-m", "sidecar.memory.builder", str(self.path), self.workspace, str(self._data_dir)]
        environment = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
        try:
            self._process = await asyncio.create_subprocess_exec(
                *command,
                self._sandbox,
                "normal" if urgent else "low",
                *(["vectors"] if self.vectors else []),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.PIPE,
                env=environment,
                cwd="/",
                start_new_session=True,
            )
        except OSError as error:
            log.warning("The memory of %s can't be built: %s", self.workspace, error)
            return
        try:
            assert self._process.stderr is not None
            errors = await self._process.stderr.read(20_000)
            code = await self._process.wait()
        finally:
            await self._kill()
        if code == 0:
            self._compared = started
            if self._shared is not None and (self._keeping is None or self._keeping.done()):
                keeping = self._shared.keep(self.workspace, self.path, replace=anew)
                self._keeping = asyncio.create_task(keeping, name="memory-sharing")
        elif not self._closed:
            log.warning(
                "Building the memory of %s failed: %s", self.workspace, errors.decode("utf-8", "replace")[-2_000:]
            )

    async def _kill(self) -> None:
        process, self._process = self._process, None
        if process is not None and process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_STOP_SECONDS):
                    await process.wait()
        if process is not None and process.stdin is not None:
            process.stdin.close()

    async def wait(self, seconds: float) -> None:
        """Until the builder ends, at most so long."""
        if self._building is not None and seconds > 0:
            await asyncio.wait({self._building}, timeout=seconds)

    async def shared(self, seconds: float | None = None) -> None:
        """Until the newest index is there for others, if it shall be; at most so long."""
        if self._keeping is not None:
            await asyncio.wait({self._keeping}, timeout=seconds)

    async def stop(self) -> None:
        for running in (self._building, self._keeping):
            if running is not None:
                running.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await running
        await self._kill()

    async def close(self) -> None:
        self._closed = True
        await self.stop()
        with self._lock:
            self._close_store()

    async def forget(self) -> None:
        # The clone of a short task is gone right after its index was built.
        await self.shared(_SHARE_SECONDS)
        await self.stop()
        with self._lock:
            self._close_store()
            remove(self.path)
        self._compared = 0.0

    # -- reading -----------------------------------------------------------------------------------------------------

    async def ask(self, question: Callable[[sqlite3.Connection], T], otherwise: T) -> T:
        """Answer from the store, in a thread; `otherwise` if there is none yet."""
        if self._store is None and not self.path.exists():
            return otherwise
        return await asyncio.to_thread(self._ask, question, otherwise)

    def _ask(self, question: Callable[[sqlite3.Connection], T], otherwise: T) -> T:
        with self._lock:
            try:
                store = self._open()
                return otherwise if store is None else question(store)
            except sqlite3.DatabaseError as error:
                # The next build replaces a damaged store; a busy one is asked again at the next question.
                log.warning("The memory of %s can't be read: %s", self.workspace, error)
                self._close_store()
                return otherwise

    def _open(self) -> sqlite3.Connection | None:
        if self._store is not None and not self.path.exists():
            self._close_store()
        if self._store is None and self.path.exists():
            self._store = open_store(self.path, readonly=True)
        return self._store

    def _close_store(self) -> None:
        if self._store is not None:
            self._store.close()
            self._store = None

    async def state(self) -> MemoryState:
        return await self.ask(self._state, MemoryState("building" if self.building else "empty"))

    async def progress(self) -> State:
        """The state alone: counting the rows would take longer than most answers."""
        return await self.ask(self._progress, "building" if self.building else "empty")

    def _progress(self, store: sqlite3.Connection) -> State:
        return "ready" if get_meta(store, "state") == "ready" else "building" if self.building else "empty"

    def _state(self, store: sqlite3.Connection) -> MemoryState:
        files = store.execute("SELECT count(*) FROM files").fetchone()[0]
        chunks = store.execute("SELECT count(*) FROM chunks").fetchone()[0]
        done, total = (int(get_meta(store, key) or 0) for key in ("done", "total"))
        state = self._progress(store)
        vectors = get_meta(store, "vectors") if self.vectors else ""
        return MemoryState(
            state, files, chunks, size_of(self.path), total if state == "ready" else min(done, total), total, vectors
        )

    # -- keeping up --------------------------------------------------------------------------------------------------

    async def catch_up(self, *, watched: bool, wait: float) -> None:
        """Before an answer: take in what changed, and wait for an index that isn't whole yet."""
        ready = await self.progress() == "ready"
        if not ready:
            self.build(urgent=wait > 0)
            await self.wait(wait)
        elif not self.compared:
            self.build(urgent=True)
            await self.wait(min(wait, _COMPARE_SECONDS))
        paths, overflowed = self.changes.take()
        late = not watched and time.monotonic() - self._compared > _REFRESH_SECONDS
        if overflowed or late or len(paths) > _FEW_FILES:
            if self.building:
                await self.wait(min(wait, _COMPARE_SECONDS))
            self.build(urgent=True)
            await self.wait(min(wait, _COMPARE_SECONDS) if overflowed or paths else 0)
        elif paths and not self.building:
            await asyncio.to_thread(self.update, paths)
            if self._worn:
                self.build(urgent=False)  # it joins the lists
        else:
            for path in paths:
                self.changes.report(path)  # the builder may have passed them already

    def update(self, paths: Sequence[str] | set[str]) -> bool:
        """Bring a few files up to date; whether any of them changed."""
        from sidecar.memory.postings import is_worn
        from sidecar.memory.updates import update_files

        with self._lock:
            self._close_store()
            try:
                store = open_or_replace(self.path)
            except (sqlite3.Error, OSError) as error:
                log.warning("The memory of %s can't be updated: %s", self.workspace, error)
                return False
            try:
                changed = update_files(store, self.workspace, paths)
                self._worn = is_worn(store)
                if changed and self.vectors:
                    from sidecar.memory.vectors import embed_missing

                    embed_missing(store, self.workspace)
                return changed
            except sqlite3.Error as error:
                log.warning("The memory of %s can't be updated: %s", self.workspace, error)
                return False
            finally:
                store.close()


class LocalMemory:
    """`watch` asks for a callback with each changed path below a workspace; whether it will come."""

    def __init__(
        self,
        data_dir: Path,
        sandbox: str = "auto",
        watch: Callable[[str, Callable[[str], None]], Callable[[], bool]] | None = None,
        delay: float = _START_SECONDS,
        shared: Shared | None = None,
        *,
        vectors: bool = False,
    ) -> None:
        self._shared = shared
        self._data_dir = data_dir
        self._sandbox = sandbox
        self._watch = watch
        self._delay = delay
        self._vectors = vectors and _finds_weights()
        self._starting: dict[str, asyncio.TimerHandle] = {}
        self._indexes: dict[str, WorkspaceIndex] = {}
        self._watched: dict[str, Callable[[], bool]] = {}
        self._closing: set[asyncio.Task[None]] = set()

    def start(self, workspace: str) -> None:
        if workspace in self._starting:
            return
        real = os.path.realpath(workspace)
        if real not in self._starting and len(self._starting) < _MAX_STARTS:
            later = asyncio.get_running_loop().call_later
            self._starting[real] = later(self._delay, self._start, real)

    def _start(self, workspace: str) -> None:
        if os.path.isdir(workspace):  # noqa: PTH112
            index = self._index(workspace)
            if not index.compared:
                index.build(urgent=False)

    async def search(self, workspace: str, search: SearchRequest, wait: float = 0) -> Found:
        from sidecar.memory.answers import answer_search

        index, state = await self._ready(workspace, wait)
        nothing: tuple[list[Hit], list[str]] = ([], [])
        answer = partial(answer_search, workspace=index.workspace, search=search, vectors=self._vectors)
        found, stale = await index.ask(answer, nothing)
        if stale and not index.building:
            await asyncio.to_thread(index.update, stale)
            found, _ = await index.ask(answer, nothing)
        return Found(state, found)

    async def impact(
        self, workspace: str, path: str = "", symbol: str = "", depth: int = 1, wait: float = 0
    ) -> Dependents:
        from sidecar.memory.dependents import dependents

        index, state = await self._ready(workspace, wait)
        return Dependents(state, await index.ask(lambda store: dependents(store, path, symbol, depth), []))

    async def imports(self, workspace: str, path: str) -> Sequence[str]:
        from sidecar.memory.dependents import imported_by

        index, _ = await self._ready(workspace, 0)
        return await index.ask(lambda store: sorted({target for _, target in imported_by(store, [path])}), [])

    async def similar(self, workspace: str, symbol: str, limit: int = 10, wait: float = 0) -> Found:
        from sidecar.memory.answers import answer_similar

        index, state = await self._ready(workspace, wait)
        nothing: list[Hit] = []
        return Found(
            state, await index.ask(lambda store: answer_similar(store, index.workspace, symbol, limit), nothing)
        )

    async def tests_of(self, workspace: str, path: str, wait: float = 0) -> Dependents:
        from sidecar.memory.dependents import tests_of

        index, state = await self._ready(workspace, wait)
        return Dependents(state, await index.ask(lambda store: tests_of(store, path), []))

    async def repository_map(self, workspace: str, budget: int, words: str = "", near: Sequence[str] = ()) -> str:
        from sidecar.memory.repository_map import draw_map

        def draw(store: sqlite3.Connection) -> str:
            # Good enough while a built index takes in changes; the first one is no map before its end.
            return draw_map(store, budget, words, near) if get_meta(store, "built") else ""

        return await self._index(workspace).ask(draw, "")

    async def state(self, workspace: str) -> MemoryState:
        return await self._index(workspace).state()

    async def rebuild(self, workspace: str) -> MemoryState:
        index = self._index(workspace)
        await index.forget()
        index.build(urgent=False, anew=True)
        return await index.state()

    async def forget(self, workspace: str) -> None:
        await self._index(workspace).forget()

    async def shared(self, workspace: str) -> None:
        """Wait until others can begin with what was built of this workspace."""
        await self._index(workspace).shared()

    async def close(self) -> None:
        for start in self._starting.values():
            start.cancel()
        for index in self._indexes.values():
            await index.close()
        self._indexes.clear()
        if self._closing:
            await asyncio.wait(self._closing, timeout=_STOP_SECONDS)

    async def _ready(self, workspace: str, wait: float) -> tuple[WorkspaceIndex, State]:
        """The state is that before an answer: an index that becomes ready meanwhile didn't give it."""
        index = self._index(workspace)
        watched = self._watched.get(index.workspace)
        await index.catch_up(watched=watched is not None and watched(), wait=wait)
        return index, await index.progress()

    def _index(self, workspace: str) -> WorkspaceIndex:
        real = os.path.realpath(workspace)
        index = self._indexes.pop(real, None)
        if index is None:
            index = WorkspaceIndex(real, self._data_dir, self._sandbox, self._shared, vectors=self._vectors)
            if self._watch is not None:
                self._watched[real] = self._watch(real, index.changes.report)
            if len(self._indexes) >= _MAX_OPEN:
                oldest = self._indexes.pop(next(iter(self._indexes)))
                closing = asyncio.create_task(oldest.close())
                self._closing.add(closing)
                closing.add_done_callback(self._closing.discard)
        self._indexes[real] = index  # the last one used is closed last
        return index


def _finds_weights() -> bool:
    from sidecar.config.weights import VectorsUnavailable, find_weights

    try:
        find_weights()
    except VectorsUnavailable as error:
        log.warning("Code is searched by words only. %s", error)
        return False
    return True
