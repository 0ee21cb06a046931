"""The unsaved files of an editor that is asked for each file by its path, as over the Agent Client Protocol.

The editor follows links, so a command could exchange a directory for a link while the editor is asked, and have it read
or write a file elsewhere. Therefore only regular files that are reached without links are asked for, an answer counts
only if no name on the way changed meanwhile, and the editor writes nothing while a command runs.

The editor doesn't say what its text is based on. If it equals what the disk held earlier, the editor has not reloaded
the file yet, and the disk counts. If the file changed on disk since and the editor never showed that, its text is
shown, but not saved: that could undo somebody's change.
"""

import asyncio
import hashlib
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

from tools.errors import BinaryFile, ToolError
from tools.local.environment import sidecar_mark
from tools.local.reaper import has_commands, process_table
from tools.local.root import WorkspaceRoot
from tools.local.watched_path import WatchedPath
from tools.text_files import TextFile

#: Larger files are read from the disk.
MAX_BYTES = 2 * 1024 * 1024
READ_SECONDS = 1.0
WRITE_SECONDS = 5.0
#: After an ask without an answer in time, so that a hung editor doesn't slow down every call.
SILENCE_SECONDS = 30.0
#: An editor reloads a file that changed on disk within this time.
_RELOAD_SECONDS = 2.0
_PAUSE_SECONDS = 0.25
_MOVES = 3
_MAX_FILES, _MAX_VERSIONS = 1_000, 32


class EditorFiles(Protocol):
    """An editor's open files, by absolute path. Raises `OSError` with what the editor answered."""

    async def read(self, path: str) -> str: ...

    async def write(self, path: str, text: str) -> None:
        """Replace the text of the file and save it."""


class NotSaved(Exception):
    """Why the editor's changes could not be saved; they are still in the editor."""


#: `reloading`: an earlier text of the file. `doubtful`: what it is based on is unknown.
State = Literal["saved", "reloading", "unsaved", "doubtful"]


class EditorText(NamedTuple):
    text: str
    state: State
    #: The file on disk, to keep its encoding and line endings.
    disk: TextFile


@dataclass(slots=True)
class _KnownFile:
    """Digests of texts with plain line endings."""

    #: What was on disk, oldest first.
    versions: OrderedDict[str, None] = field(default_factory=OrderedDict)
    #: The last text that disk and editor had in common.
    common: str | None = None

    def judge(self, disk: str, text: str, *, older: bool) -> State:
        """`older`: the file has not changed on disk since the editor began to be asked."""
        self.versions[disk] = None
        self.versions.move_to_end(disk)
        while len(self.versions) > _MAX_VERSIONS:
            self.versions.popitem(last=False)
        if text == disk:
            self.common = disk
            return "saved"
        if text in self.versions:
            return "reloading"
        return "unsaved" if older or self.common == disk else "doubtful"


class OpenFiles:
    """`place` is the workspace as the editor names it; `private` is the sidecar's own directory."""

    def __init__(self, place: str, private: Path, editor: EditorFiles) -> None:
        self._place = place.rstrip("/")
        self._root = WorkspaceRoot(place, [private])
        self._private = private
        self._editor = editor
        self._table = process_table()
        self._since_ns = time.time_ns()
        self._silent_until = 0.0
        self._known: OrderedDict[str, _KnownFile] = OrderedDict()

    def close(self) -> None:
        self._root.close()

    async def unsaved(self, path: str) -> str | None:
        """The editor's text if it differs from the disk; `None` also if the editor can't or may not be asked."""
        found = await self._look(path)
        return found.text if found is not None and found.state in ("unsaved", "doubtful") else None

    async def save(self, path: str) -> None:
        """Have the editor save its changes, if it has any. Raises `NotSaved`."""
        found = await self._look(path)
        if found is None or found.state in ("saved", "reloading"):
            return
        if found.state == "doubtful":
            raise NotSaved("the file also changed on disk since this session began, and saving could undo that")
        if found.disk.encoding != "utf-8" or found.disk.bom or ("\r" in found.disk.text and "\r" not in found.text):
            raise NotSaved("only the editor itself can keep this file's encoding and line endings")
        if await self._has_commands():
            raise NotSaved("a command is running, which could lead the editor to another file")
        try:
            await self._write(path, found.text)
        except TimeoutError as error:
            raise NotSaved(f"it didn't answer within {WRITE_SECONDS:g} s") from error
        except (ToolError, OSError) as error:
            raise NotSaved(str(error)) from error

    async def _write(self, path: str, text: str) -> None:
        with WatchedPath(self._root, path) as watched:
            async with asyncio.timeout(WRITE_SECONDS):
                await self._editor.write(f"{self._place}/{watched.name}", text)
            if watched.directories_moved():
                raise NotSaved("a directory on its path was moved meanwhile; check where the editor saved it")
        with WatchedPath(self._root, path) as watched:
            disk = _digest(TextFile.decode(watched.read(MAX_BYTES)).text)
            if disk != _digest(text):
                raise NotSaved("the file on disk isn't what it was to save")
            known = self._file(watched.name)
            known.judge(disk, disk, older=False)

    async def _has_commands(self) -> bool:
        """Of the sidecar and of its shells. Searches end by themselves, so look more than once."""
        places = (self._private, *self._private.glob("shells/*"))
        marks = {sidecar_mark(place) for place in places}
        for _ in range(4):
            if not await asyncio.to_thread(has_commands, self._table, marks):
                return False
            await asyncio.sleep(_PAUSE_SECONDS)
        return True

    async def _look(self, path: str) -> EditorText | None:
        """Asks again while the file has just changed on disk, or a name on the way did."""
        end, moves = time.monotonic() + _RELOAD_SECONDS, 0
        while True:
            try:
                found, changed_ns = await self._ask(path)
            except _Moved:
                moves += 1
                if moves == _MOVES:
                    return None
                continue
            except (ToolError, OSError):
                return None
            fresh = time.time_ns() - changed_ns < _RELOAD_SECONDS * 1e9
            if found.state != "doubtful" or not fresh or time.monotonic() > end:
                return found
            await asyncio.sleep(_PAUSE_SECONDS)

    async def _ask(self, path: str) -> tuple[EditorText, int]:
        if time.monotonic() < self._silent_until:
            raise TimeoutError
        with WatchedPath(self._root, path) as watched:
            before = TextFile.decode(watched.read(MAX_BYTES + 1))
            if watched.stat().st_size > MAX_BYTES:
                raise BinaryFile(f"{path} is too large to ask an editor for.")
            try:
                async with asyncio.timeout(READ_SECONDS):
                    text = await self._editor.read(f"{self._place}/{watched.name}")
            except TimeoutError:
                self._silent_until = time.monotonic() + SILENCE_SECONDS
                raise
            disk = TextFile.decode(watched.read(MAX_BYTES + 1))
            if watched.moved():
                raise _Moved
            if len(text) > MAX_BYTES:
                raise BinaryFile(f"The editor's text of {path} is too large.")
            changed_ns = watched.stat().st_ctime_ns
            known = self._file(watched.name)
            known.versions[_digest(before.text)] = None
            state = known.judge(_digest(disk.text), _digest(text), older=changed_ns < self._since_ns)
            return EditorText(text, state, disk), changed_ns

    def _file(self, name: str) -> _KnownFile:
        known = self._known.setdefault(name, _KnownFile())
        self._known.move_to_end(name)
        if len(self._known) > _MAX_FILES:
            self._known.popitem(last=False)
        return known


class _Moved(Exception):
    """A name on the way to the file changed while the editor was asked."""


def _digest(text: str) -> str:
    """Editors differ in line endings, the byte order mark and the newline at the end."""
    plain = text.removeprefix("\ufeff").replace("\r\n", "\n").removesuffix("\n")
    return hashlib.sha256(plain.encode("utf-8", "surrogatepass")).hexdigest()
