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
from tools.host import FileContent, ScannedFile
from tools.local.files import OUR_OWN, read_handle
from tools.local.git_objects import read_objects
from tools.local.repository import Repository, Stamp
from tools.local.root import WorkspaceRoot, name_to_text, text_to_name
from tools.local.walk import MOST_FILES, Listing, TooMuch, Walked, Walker

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

    def __init__(self, room: int = 64 * 1024 * 1024) -> None:
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


@dataclass(slots=True, eq=False, weakref_slot=True)
class LocalSnapshot:
    listing: Listing = field(default_factory=Listing)
    sources: dict[str, Source] = field(default_factory=dict)
    left_out: dict[str, Stamp] = field(default_factory=dict)
    #: Files that may have changed without their stamp showing it, which only comparing can tell.
    unsettled: set[str] = field(default_factory=set)
    #: What others have written since; it counts as having been there.
    written: dict[str, bytes | None] = field(default_factory=dict)
    partial: str = ""

    def record_write(self, path: str, content: bytes | None) -> None:
        self.written[text_to_name(path)] = content


class Scanner:
    """One for each workspace. Plain calls that take milliseconds: the host has a thread do it."""

    def __init__(self, root: WorkspaceRoot, shelf: Shelf) -> None:
        self._root = root
        self._shelf = shelf
        self._repository = Repository(root)
        self._walker = Walker(root, self._repository)
        self._listing = Listing()
        self._sources: dict[str, Source] = {}
        self._unsettled: set[str] = set()
        self._lock = threading.Lock()

    def snapshot(self) -> LocalSnapshot:
        with self._lock:
            moment = time.time_ns()
            try:
                walked = self._walked(self._listing, MOST_FILES)
            except TooMuch as reason:
                return LocalSnapshot(partial=f"{reason}, so what commands change there is not recorded.")
            return self._seen(walked, moment)

    def changes(self, before: LocalSnapshot) -> list[ScannedFile]:
        if before.partial:
            return []
        with self._lock:
            try:
                walked = self._walked(before.listing, MOST_FILES)
            except TooMuch as reason:
                return [ScannedFile(".", _SOMETHING, _SOMETHING, f"{reason}, so what the command changed is unknown.")]
            return self._told(before, walked)

    def quick_snapshot(self) -> LocalSnapshot | None:
        """The same, if it takes less than handing it to a thread does; else nothing."""
        return self._quickly(self._listing, lambda walked: {*walked.changed, *self._unsettled}, self._seen)

    def quick_changes(self, before: LocalSnapshot) -> list[ScannedFile] | None:
        def told(walked: Walked, moment: int) -> list[ScannedFile] | None:
            # To ask Git takes a process.
            asks = any(source.git for path in _differing(before, walked) if (source := before.sources.get(path)))
            return None if asks else self._told(before, walked)

        return None if before.partial else self._quickly(before.listing, partial(_differing, before), told)

    def _quickly(
        self, known: Listing, to_read: Callable[[Walked], set[str]], act: Callable[[Walked, int], T]
    ) -> T | None:
        if len(known) > _QUICK_FILES or not self._lock.acquire(blocking=False):
            return None
        try:
            moment = time.time_ns()
            walked = self._walked(known, _QUICK_FILES)
            reads = to_read(walked)
            size = sum(walked.changed[path][2] for path in reads if path in walked.changed)
            return act(walked, moment) if len(reads) <= _QUICK_READS and size <= _QUICK_BYTES else None
        except TooMuch:
            return None
        finally:
            self._lock.release()

    def close(self) -> None:
        with self._lock:
            for path in list(self._sources):
                self._drop(path)
            self._listing = Listing()

    def _walked(self, known: Listing, most: int) -> Walked:
        self._repository.refresh()
        return self._walker.walk(known, most)

    # -- what files held before --------------------------------------------------------------------------------------

    def _seen(self, walked: Walked, moment: int) -> LocalSnapshot:
        """Sees to it that the content of every file can be had later."""
        for path in walked.gone:
            self._drop(path)
        if walked.changed or walked.gone:
            self._listing = Listing(walked.folders)
        for path in {*walked.changed, *self._unsettled}:
            if (stamp := self._listing.get(path)) is not None:
                self._hold(path, stamp, moment)
        return LocalSnapshot(self._listing, dict(self._sources), walked.left_out, set(self._unsettled))

    def _hold(self, path: str, stamp: Stamp, moment: int) -> None:
        self._drop(path)
        settled = max(stamp[3], stamp[4]) < moment - _RACY
        kept = self._repository.content(path, stamp) if settled else None
        self._sources[path] = Source(git=kept) if kept is not None else self._at_hand(path, stamp)
        if not settled:
            self._unsettled.add(path)

    def _at_hand(self, path: str, stamp: Stamp) -> Source:
        if stamp[2] > LARGEST:
            return Source(why=_TOO_LARGE)
        if not self._shelf.take(stamp[2]):
            return Source(why=_NO_ROOM)
        content = self._read(path, stamp)
        if content is None or len(content) > LARGEST:
            self._shelf.give(stamp[2])
            return Source(why=_UNREADABLE if content is None else _TOO_LARGE)
        self._shelf.give(stamp[2] - len(content))  # it may have changed while it was read
        return Source(content)

    def _drop(self, path: str) -> None:
        self._unsettled.discard(path)
        source = self._sources.pop(path, None)
        if source is not None and source.content is not None:
            self._shelf.give(len(source.content))

    def _read(self, path: str, stamp: Stamp) -> bytes | None:
        try:
            if stat.S_ISLNK(stamp[0]):
                directory, name = self._root.parent(name_to_text(path), follow=False)
                try:
                    return os.fsencode(os.readlink(name, dir_fd=directory))
                finally:
                    os.close(directory)
            handle = self._root.open(name_to_text(path), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY)
            try:
                return read_handle(handle, path, LARGEST + 1)
            finally:
                os.close(handle)
        except (ToolError, OSError):
            return None

    # -- what they hold now ------------------------------------------------------------------------------------------

    def _told(self, before: LocalSnapshot, walked: Walked) -> list[ScannedFile]:
        paths = sorted(_differing(before, walked) - walked.left_out.keys())
        from_git = self._from_git(paths, before)
        changed: list[ScannedFile] = []
        room = MOST_BYTES
        for path in paths:
            old = before.listing.get(path)
            stamp = None if path in walked.gone else walked.changed.get(path, old)
            if path.endswith(OUR_OWN) or (stamp == old and path in before.sources and before.sources[path].why):
                continue  # another call's, on its way; or, as far as can be told, the same
            now, why = self._now(path, stamp)
            then, why_not = _then(path, now, before, from_git)
            if now == then and not (why or why_not):
                continue
            room -= len(now.content if now else b"") + len(then.content if then else b"")
            if reason := why or why_not or (_TOO_MANY if room < 0 or len(changed) >= MOST_CHANGED else ""):
                existed = then is not None or bool(why_not)
                then, now = _SOMETHING if existed else None, _SOMETHING if stamp is not None else None
            changed.append(ScannedFile(name_to_text(path), then, now, reason))
        return [*changed, *_ignored(before, walked)]

    def _now(self, path: str, stamp: Stamp | None) -> tuple[FileContent | None, str]:
        if stamp is None:
            return None, ""
        if stamp[2] > LARGEST:
            return None, _TOO_LARGE
        content = self._read(path, stamp)
        if content is None or len(content) > LARGEST:  # it may have grown since
            return None, _UNREADABLE if content is None else _TOO_LARGE
        return FileContent(content, _mode(stamp)), ""

    def _from_git(self, paths: Iterable[str], before: LocalSnapshot) -> dict[bytes, bytes]:
        wanted: dict[bytes, int] = {}
        for path in paths:
            source = before.sources.get(path)
            if source is not None and source.git is not None and path not in before.written:
                stamp = before.listing.get(path)
                wanted[source.git] = stamp[2] if stamp is not None else 0
        room = MOST_BYTES
        names: list[bytes] = []
        for name, size in wanted.items():
            room -= size
            if room > 0 and len(names) < MOST_CHANGED:
                names.append(name)
        return read_objects(self._repository.git_dir, names)


#: Stands for a file of which nothing is kept.
_SOMETHING = FileContent(b"", 0)


def _then(
    path: str, now: FileContent | None, before: LocalSnapshot, from_git: dict[bytes, bytes]
) -> tuple[FileContent | None, str]:
    """What a file was, or why that is not known."""
    if path in before.written:
        content = before.written[path]
        return (None if content is None else FileContent(content, now.mode if now else 0o644)), ""
    stamp = before.listing.get(path)
    if stamp is None:
        return None, ""
    source = before.sources[path]
    content = from_git.get(source.git) if source.git is not None else source.content
    if source.git is not None and (content is None or len(content) != stamp[2]):
        return None, _NOT_IN_GIT
    return (None, source.why) if content is None else (FileContent(content, _mode(stamp)), "")


def _differing(before: LocalSnapshot, walked: Walked) -> set[str]:
    return {*walked.changed, *walked.gone, *before.unsettled, *before.written}


def _ignored(before: LocalSnapshot, walked: Walked) -> list[ScannedFile]:
    differ = sorted({path for path, _ in before.left_out.items() ^ walked.left_out.items()})
    return [
        ScannedFile(
            name_to_text(path),
            _SOMETHING if path in before.left_out or before.listing.get(path) else None,
            _SOMETHING if path in walked.left_out else None,
            _IGNORED,
        )
        for path in differ[:_SPOKEN_OF]
    ]


def _mode(stamp: Stamp) -> int:
    return stat.S_IFLNK | 0o777 if stat.S_ISLNK(stamp[0]) else stat.S_IMODE(stamp[0])
