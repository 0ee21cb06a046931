"""What a command did to the files of a workspace: looked at before and after, by stamp, then by content.

What a file held before a command must be known when the command is over. What Git tracks and nobody has changed can be
had from Git afterwards; everything else is read beforehand and held, within bounds, until its stamp changes.
"""

import os
import stat
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from tools.errors import ToolError
from tools.host import Found, ScannedFile
from tools.local.door import Door
from tools.local.files import read_handle
from tools.local.git_objects import read_objects
from tools.local.names import meant, shown
from tools.local.repository import Repository, Stamp
from tools.local.walk import MOST_FILES, TooMuch, Walked, Walker

T = TypeVar("T")

LARGEST = 4 * 1024 * 1024
MOST_CHANGED = 2_000
MOST_BYTES = 64 * 1024 * 1024
#: A file that changed so shortly before we looked may change again without its stamp showing it.
_RACY = 30_000_000
_SPOKEN_OF = 50
#: So little is looked at where it is asked for; more is handed to a thread.
_QUICK_FILES = 200
_QUICK_READS = 8
_QUICK_BYTES = 256 * 1024
_TOO_LARGE = f"It is larger than {LARGEST >> 20} MiB, so its content is not kept."
_NO_ROOM = "There was no room left to hold what it was before the command, so it is not kept."
_TOO_MANY = f"The command changed more than {MOST_CHANGED:,} files, or {MOST_BYTES >> 20} MiB; not all of it is kept."
_IGNORED = "Ignored files and installed packages are not kept; what a command does to them cannot be undone."
_UNREADABLE = "It cannot be read, so it is not kept."
_NOT_IN_GIT = "Git has its content no longer, or in another form, so it is not kept."


class Shelf:
    """Room for what files hold, for all workspaces together."""

    def __init__(self, room: int = 96 * 1024 * 1024) -> None:
        self._room = room
        self._lock = threading.Lock()

    def take(self, size: int) -> bool:
        with self._lock:
            if size > self._room:
                return False
            self._room -= size
            return True

    def give(self, size: int) -> None:
        with self._lock:
            self._room += size


@dataclass(frozen=True, slots=True)
class Source:
    """Where the content of a file at a stamp can be had: at hand, from Git, or, with a reason, nowhere."""

    content: bytes | None = None
    git: bytes | None = None
    why: str = ""


@dataclass(slots=True)
class LocalSnapshot:
    files: dict[str, Stamp] = field(default_factory=dict)
    sources: dict[str, Source] = field(default_factory=dict)
    left_out: dict[str, Stamp] = field(default_factory=dict)
    #: Files that may have changed without their stamp showing it, which only comparing can tell.
    unsettled: set[str] = field(default_factory=set)
    partial: str = ""

    def wrote(self, path: str, content: bytes | None) -> None:
        name = meant(path)
        self.unsettled.add(name)
        if content is None:
            self.files.pop(name, None)
            self.sources.pop(name, None)
        else:
            self.files[name] = _UNKNOWN
            self.sources[name] = Source(content)


#: In the place of a stamp that nobody has seen: whatever the file is, it is compared by content, and its mode is kept.
_UNKNOWN: Stamp = (0, 0, 0, 0, 0)


class Scanner:
    """One for each workspace. Plain calls that take milliseconds: the host has a thread do it."""

    def __init__(self, door: Door, shelf: Shelf) -> None:
        self._door = door
        self._shelf = shelf
        self._repository = Repository(door)
        self._walker = Walker(door, self._repository)
        self._stamps: dict[str, Stamp] = {}
        self._sources: dict[str, Source] = {}
        self._lock = threading.Lock()

    def snapshot(self) -> LocalSnapshot:
        with self._lock:
            moment = time.time_ns()
            try:
                walked = self._walked(MOST_FILES)
            except TooMuch as reason:
                return LocalSnapshot(partial=f"{reason}, so what commands change there is not recorded.")
            return self._seen(walked, moment)

    def changes(self, before: LocalSnapshot) -> list[ScannedFile]:
        if before.partial:
            return []
        with self._lock:
            moment = time.time_ns()
            try:
                walked = self._walked(MOST_FILES)
            except TooMuch as reason:
                return [ScannedFile(".", _SOMETHING, _SOMETHING, f"{reason}, so what the command changed is unknown.")]
            return self._told(before, walked, moment)

    def quick_snapshot(self) -> LocalSnapshot | None:
        """The same, if it takes less than handing it to a thread does; else nothing."""
        return self._quickly(
            lambda walked: {path for path, _ in walked.files.items() - self._stamps.items()}, self._seen
        )

    def quick_changes(self, before: LocalSnapshot) -> list[ScannedFile] | None:
        def told(walked: Walked, moment: int) -> list[ScannedFile] | None:
            # To ask Git takes a process.
            asks = any(source.git for path in _differing(before, walked) if (source := before.sources.get(path)))
            return None if asks else self._told(before, walked, moment)

        if before.partial or len(before.files) > _QUICK_FILES:
            return None
        return self._quickly(partial(_differing, before), told)

    def _quickly(self, to_read: Callable[[Walked], set[str]], act: Callable[[Walked, int], T]) -> T | None:
        if len(self._sources) > _QUICK_FILES or not self._lock.acquire(blocking=False):
            return None
        try:
            moment = time.time_ns()
            walked = self._walked(_QUICK_FILES)
            sizes = [walked.files[path][2] if path in walked.files else 0 for path in to_read(walked)]
            return act(walked, moment) if len(sizes) <= _QUICK_READS and sum(sizes) <= _QUICK_BYTES else None
        except TooMuch:
            return None
        finally:
            self._lock.release()

    def close(self) -> None:
        with self._lock:
            for path in list(self._sources):
                self._drop(path)

    def _walked(self, most: int) -> Walked:
        self._repository.refresh()
        return self._walker.walk(most)

    def _seen(self, walked: Walked, moment: int) -> LocalSnapshot:
        unsettled = self._secure(walked, moment)
        return LocalSnapshot(walked.files, dict(self._sources), walked.left_out, unsettled)

    def _told(self, before: LocalSnapshot, walked: Walked, moment: int) -> list[ScannedFile]:
        changed = self._compared(sorted(_differing(before, walked)), before, walked, moment)
        return [*changed, *_ignored(before.left_out, walked.left_out)]

    # -- what files held before --------------------------------------------------------------------------------------

    def _secure(self, walked: Walked, moment: int) -> set[str]:
        """Sees to it that the content of every file can be had later; which of them must be compared even so."""
        unsettled: set[str] = set()
        for path in self._sources.keys() - walked.files.keys():
            self._drop(path)
        for path, stamp in walked.files.items() - self._stamps.items():
            if not self._hold(path, stamp, moment):
                unsettled.add(path)
        return unsettled

    def _hold(self, path: str, stamp: Stamp, moment: int, found: Found | None = None) -> bool:
        """Whether the stamp will show it if the file changes again."""
        self._drop(path)
        settled = max(stamp[3], stamp[4]) < moment - _RACY
        kept = self._repository.content(path, stamp) if settled else None
        source = Source(git=kept) if kept is not None else self._at_hand(path, stamp, found)
        self._sources[path] = source
        if settled:
            self._stamps[path] = stamp
        return settled

    def _at_hand(self, path: str, stamp: Stamp, found: Found | None) -> Source:
        if stamp[2] > LARGEST:
            return Source(why=_TOO_LARGE)
        if not self._shelf.take(stamp[2]):
            return Source(why=_NO_ROOM)
        content = found.content if found is not None else self._read(path, stamp)
        if content is None or len(content) > LARGEST:
            self._shelf.give(stamp[2])
            return Source(why=_UNREADABLE if content is None else _TOO_LARGE)
        self._shelf.give(stamp[2] - len(content))  # it may have changed while it was read
        return Source(content)

    def _drop(self, path: str) -> None:
        source, _ = self._sources.pop(path, None), self._stamps.pop(path, None)
        if source is not None and source.content is not None:
            self._shelf.give(len(source.content))

    def _read(self, path: str, stamp: Stamp) -> bytes | None:
        try:
            if stat.S_ISLNK(stamp[0]):
                directory, name = self._door.parent(shown(path), follow=False)
                try:
                    return os.fsencode(os.readlink(name, dir_fd=directory))
                finally:
                    os.close(directory)
            handle = self._door.open(shown(path), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY)
            try:
                return read_handle(handle, path, LARGEST + 1)
            finally:
                os.close(handle)
        except (ToolError, OSError):
            return None

    # -- what they hold now ------------------------------------------------------------------------------------------

    def _compared(self, paths: list[str], before: LocalSnapshot, walked: Walked, moment: int) -> list[ScannedFile]:
        from_git = self._from_git(paths, before)
        changed: list[ScannedFile] = []
        room, count = MOST_BYTES, 0
        for path in paths:
            stamp, old = walked.files.get(path), before.files.get(path)
            if old is not None and old == stamp and before.sources[path].why:
                continue  # as far as can be told
            after, why = self._now(path, stamp)
            was, why_not = self._then(path, old, after, before, from_git)
            if after is not None and stamp is not None and not why:
                self._hold(path, stamp, moment, after)
            if was == after and not (why or why_not):
                continue
            count += 1
            room -= len(was.content if was else b"") + len(after.content if after else b"")
            reason = why or why_not or (_TOO_MANY if count > MOST_CHANGED or room < 0 else "")
            exists = _SOMETHING if stamp is not None else None
            existed = _SOMETHING if old is not None else None
            changed.append(
                ScannedFile(shown(path), existed, exists, reason) if reason else ScannedFile(shown(path), was, after)
            )
        return changed

    def _now(self, path: str, stamp: Stamp | None) -> tuple[Found | None, str]:
        if stamp is None:
            return None, ""
        if stamp[2] > LARGEST:
            return None, _TOO_LARGE
        content = self._read(path, stamp)
        return (None, _UNREADABLE) if content is None else (Found(content, _mode(stamp)), "")

    def _then(
        self, path: str, stamp: Stamp | None, after: Found | None, before: LocalSnapshot, from_git: dict[bytes, bytes]
    ) -> tuple[Found | None, str]:
        if stamp is None:
            return None, ""
        source = before.sources[path]
        mode = (after.mode if after else 0o644) if stamp is _UNKNOWN else _mode(stamp)
        if source.content is not None:
            return Found(source.content, mode), ""
        if source.git is not None:
            content = from_git.get(source.git)
            return (
                (Found(content, mode), "") if content is not None and len(content) == stamp[2] else (None, _NOT_IN_GIT)
            )
        return None, source.why

    def _from_git(self, paths: Iterable[str], before: LocalSnapshot) -> dict[bytes, bytes]:
        wanted: dict[bytes, int] = {}
        for path in paths:
            source = before.sources.get(path)
            if source is not None and source.git is not None and before.files[path][2] <= LARGEST:
                wanted[source.git] = before.files[path][2]
        room = MOST_BYTES
        names: list[bytes] = []
        for name, size in wanted.items():
            room -= size
            if room > 0 and len(names) < MOST_CHANGED:
                names.append(name)
        return read_objects(self._repository.git_dir, names)


#: Stands for a file of which nothing is kept.
_SOMETHING = Found(b"", 0)


def _differing(before: LocalSnapshot, walked: Walked) -> set[str]:
    return {path for path, _ in before.files.items() ^ walked.files.items()} | before.unsettled


def _ignored(before: dict[str, Stamp], after: dict[str, Stamp]) -> list[ScannedFile]:
    differ = sorted({path for path, _ in before.items() ^ after.items()})
    return [
        ScannedFile(
            shown(path), _SOMETHING if path in before else None, _SOMETHING if path in after else None, _IGNORED
        )
        for path in differ[:_SPOKEN_OF]
    ]


def _mode(stamp: Stamp) -> int:
    return stat.S_IFLNK | 0o777 if stat.S_ISLNK(stamp[0]) else stat.S_IMODE(stamp[0])
