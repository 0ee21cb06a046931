"""Takes back what a command did to protected files without the person's word, while it runs and when it has ended.

A sandbox keeps what is there as it is where it can; a name that does not exist yet it cannot keep free. So somebody
looks: once a second while a command runs, and after it, before anybody hears of its end. What it wrote is set aside in
the sidecar's own directory, what it changed or removed is put back. What the person saves to such a file in the very
same moments cannot be told from it, and is set aside too, never lost.
"""

import asyncio
import os
import stat
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sidecar.wire.events import ErrorBody
from tools.errors import ToolError
from tools.local.aside import Aside
from tools.local.environment import call_mark
from tools.local.gitfiles import harmless
from tools.local.inventory import Inventory, Kept, uppers
from tools.local.root import WorkspaceRoot
from tools.shield import run_to_completion
from tools.spec import ToolResult

_EVERY = 1.0
#: A look may take this part of the time, so that a very large workspace is looked at less often.
_SHARE = 20
_NAMED = 20

#: When a command that has been started ends, if it has not ended yet.
Outlives = Callable[[], asyncio.Future[None] | None]


@dataclass(eq=False, slots=True)
class Watch:
    """One command: what was there before it, what is not its own doing, and what was taken back."""

    call_id: str
    before: dict[str, Kept]
    folders: frozenset[str]
    #: What the sandbox itself keeps as it is, and the directories that it stood in, by number.
    held: dict[str, tuple[int, ...]] = field(default_factory=dict)
    accepted: set[str] = field(default_factory=set)
    #: Whether a command ran beside it that may change what is protected: then nobody can tell whose doing it is.
    shared: bool = False
    taken: dict[str, str] = field(default_factory=dict)
    #: Whether it goes on in the background, so that what is taken back is told later.
    lasts: bool = False


class Guard:
    """The protected files of one workspace."""

    def __init__(self, root: WorkspaceRoot, aside: Path) -> None:
        self._root = root
        self._aside = Aside(aside)
        self._inventory = Inventory(root.path)
        self._looking = asyncio.Lock()
        self._watches: set[Watch] = set()
        self._lasting: set[asyncio.Task[None]] = set()
        self._untold: dict[str, str] = {}
        self._free = 0

    @asynccontextmanager
    async def over(self, call_id: str, outlives: Outlives) -> AsyncIterator[Watch]:
        """Around a command without the person's word. One in the background is looked after until it ends."""
        watch = await self._begun(call_id)
        looking = asyncio.create_task(self._look_after(watch), name="guard")
        try:
            yield watch
        finally:
            if (exited := outlives()) is not None:
                self._keep(self._until(exited, looking, watch))
            else:
                looking.cancel()
                await run_to_completion(self._ended(watch))

    @asynccontextmanager
    async def aside_from(self, outlives: Outlives) -> AsyncIterator[None]:
        """Around a command that the person approved: it may change what is protected."""
        self._free += 1
        for watch in self._watches:
            watch.shared = True
        try:
            yield
        finally:
            if (exited := outlives()) is not None:
                self._keep(self._free_until(exited))
            else:
                self._free -= 1

    @property
    def idle(self) -> bool:
        """Whether nothing is looked after, and nothing is left to tell."""
        return not (self._watches or self._lasting or self._untold or self._free)

    def report(self) -> dict[str, str]:
        """What was taken back from commands in the background, and is not told yet."""
        told = self._untold
        self._untold = {}
        return told

    async def close(self) -> None:
        """After the last command has ended."""
        if self._lasting:
            await asyncio.wait(self._lasting)

    def accept(self, path: str) -> None:
        """A tool wrote this, with the person's word; no command did."""
        for watch in self._watches:
            watch.accepted.add(self._root.relative(path))

    def hold(self, watch: Watch, most: int) -> list[str]:
        """What was there and protected at the last look, the upper floors first, for a sandbox that can keep it so."""
        watch.held = {place: self._inventory.floors(place) for place in self._inventory.places()[:most]}
        return list(watch.held)

    async def _begun(self, call_id: str) -> Watch:
        async with self._looking:
            quick = self._inventory.quick
            before = self._inventory.look() if quick else await asyncio.to_thread(self._inventory.look)
        watch = Watch(call_id, before, self._inventory.folders(), shared=self._free > 0)
        self._watches.add(watch)
        return watch

    async def _look_after(self, watch: Watch) -> None:
        pause = _EVERY
        while True:
            await asyncio.sleep(pause)
            began = time.monotonic()
            await run_to_completion(self._check(watch))
            pause = max(_EVERY, (time.monotonic() - began) * _SHARE)

    async def _ended(self, watch: Watch) -> None:
        await self._check(watch)
        self._watches.discard(watch)

    def _keep(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work, name="guard")
        self._lasting.add(task)
        task.add_done_callback(self._lasting.discard)

    async def _until(self, exited: asyncio.Future[None], looking: asyncio.Task[None], watch: Watch) -> None:
        watch.lasts = True
        await asyncio.wait((exited,))
        looking.cancel()
        await self._ended(watch)

    async def _free_until(self, exited: asyncio.Future[None]) -> None:
        await asyncio.wait((exited,))
        self._free -= 1

    async def _check(self, watch: Watch) -> None:
        async with self._looking:
            if self._inventory.quick:
                self._compare(watch)
            else:
                await asyncio.to_thread(self._compare, watch)

    def _compare(self, watch: Watch) -> None:
        now = self._inventory.look()
        if watch.shared:
            watch.before = now
            return
        for path in now.keys() | watch.before.keys():
            old, new = watch.before.get(path), now.get(path)
            if path in watch.accepted or (old is not None and new is not None and old.same(new)):
                continue
            if self._is_held(watch, path):
                continue
            if old is None and new is not None and harmless(path, new.content, self._root.path):
                watch.before[path] = new
                continue
            taken = self._taken_back(watch, path, old, new)
            (self._untold if watch.lasts else watch.taken)[path] = taken

    def _is_held(self, watch: Watch, path: str) -> bool:
        """Kept by the sandbox, in the very directories that were there before: then somebody outside wrote it."""
        for place, floors in watch.held.items():
            if path == place or path.startswith(f"{place}/"):
                return floors == self._inventory.floors(place)
        return False

    def _taken_back(self, watch: Watch, path: str, old: Kept | None, new: Kept | None) -> str:
        """In words, what became of it."""
        try:
            handle, name = self._root.parent(path, create=old is not None, follow=False)
        except ToolError:
            return "gone, with its directory" if new is None else "could not be taken back"
        try:
            there = new is not None or _stands(handle, name)
            kept = self._aside.take(handle, name, call_mark(watch.call_id), path) if there else None
            if old is None:
                self._clear(watch, path)
                return f"set aside as {kept}"
            if not _put_back(handle, name, old):
                watch.before.pop(path, None)
                now = f"what it became was set aside as {kept}" if kept else "it is gone"
                return f"was too large to be held, so it cannot be put back; {now}"
            return "put back as it was"
        except OSError as error:
            return f"could not be taken back: {error.strerror}"
        finally:
            os.close(handle)

    def _clear(self, watch: Watch, path: str) -> None:
        """Directories that were made for it, and are empty now."""
        for upper in uppers(path):
            if not upper or upper in watch.folders:
                return
            with suppress(ToolError, OSError):
                handle, name = self._root.parent(upper, follow=False)
                try:
                    os.rmdir(name, dir_fd=handle)
                finally:
                    os.close(handle)


def told(result: ToolResult, taken: Mapping[str, str]) -> ToolResult:
    """A result that says plainly what was taken back, to the model and to the person."""
    if not taken:
        return result
    named = "\n".join(f"- {path}: {what}" for path, what in sorted(taken.items())[:_NAMED])
    more = f"\n… and {len(taken) - _NAMED} more" if len(taken) > _NAMED else ""
    message = (
        "A command wrote protected files, which decide what runs later or hold secrets. That needs the person's word, "
        f"so it was taken back:\n{named}{more}"
    )
    advice = (
        "Do not try it in another way. If it is needed, run a command that names the file, or use write_file: then the "
        "person is asked."
    )
    error = result.error or ErrorBody(code="protected_files", message=message, advice=advice)
    content = f"{result.content}\n{message}\n{advice}".lstrip("\n")
    return result._replace(content=content, summary="taken back", error=error)


def _stands(handle: int, name: str) -> bool:
    """Whether anything has the name, also what is no file, such as an empty directory."""
    try:
        os.stat(name, dir_fd=handle, follow_symlinks=False)
    except OSError:
        return False
    return True


def _put_back(handle: int, name: str, old: Kept) -> bool:
    if old.content is None:
        return False
    if stat.S_ISLNK(old.mode):
        os.symlink(os.fsdecode(old.content), name, dir_fd=handle)
        return True
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with open(os.open(name, flags, 0o600, dir_fd=handle), "wb") as file:  # noqa: PTH123
        file.write(old.content)
        os.fchmod(file.fileno(), stat.S_IMODE(old.mode))
    return True
