"""Finds what a command did to the files of a workspace, by comparing stamps and then contents before and after.

The contents from before must be known afterwards. Git has those of unchanged tracked files; the scanner reads all
others beforehand and keeps them in memory, within bounds, until their stamps change.
"""

import os
import stat
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

from sidecar.config.paths import closed_after
from tools.errors import ToolError
from tools.host import FileContent, ScannedFile
from tools.local.attribution.trace import CommandTrace
from tools.local.files import TEMPORARY_SUFFIX
from tools.local.git import Repository
from tools.local.root import Stamp, WorkspaceRoot, name_to_text, read_handle
from tools.local.snapshots import ContentSource, FileListing, LocalSnapshot, MemoryBudget
from tools.local.walk import MAX_FILES, TooLargeToScan, Walked, Walker

T = TypeVar("T")
#: The contents of Git's objects, by name; those that exist.
ReadObjects = Callable[[Sequence[bytes]], dict[bytes, bytes]]

MAX_FILE_BYTES = 4 * 1024 * 1024
MAX_CHANGED = 20_000
MAX_BYTES = 64 * 1024 * 1024
#: A file that changed this recently may change again within the same timestamp.
_RACY_NS = 30_000_000
_MAX_IGNORED = 50
#: Up to this much is scanned at once; more is handed to a thread.
_QUICK_FILES = 200
_QUICK_READS = 8
_QUICK_BYTES = 256 * 1024
_TOO_LARGE = f"Larger than {MAX_FILE_BYTES >> 20} MiB, so its content isn't kept."
_NO_ROOM = "Out of memory for contents from before the command, so it isn't kept."
_TOO_MANY = f"The command changed more than {MAX_CHANGED:,} files, or {MAX_BYTES >> 20} MiB; not all of it is kept."
_IGNORED = "Ignored files and installed packages aren't kept; a command's changes to them can't be undone."
_UNREADABLE = "It can't be read, so it isn't kept."
_NOT_IN_GIT = "Git no longer has its content in this form, so it isn't kept."


class Scanner:
    """One for each workspace. Its calls take milliseconds, so the host runs them in a thread."""

    def __init__(self, root: WorkspaceRoot, memory: MemoryBudget, read_objects: ReadObjects) -> None:
        self._root = root
        self._read_objects = read_objects
        self._memory = memory
        self._repository = Repository(root)
        self._walker = Walker(root, self._repository)
        self._listing = FileListing()
        self._sources: dict[str, ContentSource] = {}
        self._unsettled: set[str] = set()
        self._lock = threading.Lock()

    def snapshot(self) -> LocalSnapshot:
        with self._lock:
            moment = time.time_ns()
            try:
                walked = self._walk(self._listing, MAX_FILES)
            except TooLargeToScan as reason:
                return LocalSnapshot(partial=f"{reason}, so changes by commands aren't recorded.")
            return self._take_snapshot(walked, moment)

    def changes(self, before: LocalSnapshot) -> list[ScannedFile]:
        if before.partial:
            return []
        with self._lock:
            try:
                walked = self._walk(before.listing, MAX_FILES)
            except TooLargeToScan as reason:
                return [ScannedFile(".", _UNKNOWN, _UNKNOWN, f"{reason}, so the command's changes are unknown.")]
            return self._compare(before, walked)

    def quick_snapshot(self) -> LocalSnapshot | None:
        """Like `snapshot`, if that is quicker than handing it to a thread; otherwise `None`."""
        return self._quickly(self._listing, lambda walked: {*walked.changed, *self._unsettled}, self._take_snapshot)

    def quick_changes(self, before: LocalSnapshot) -> list[ScannedFile] | None:
        def compare(walked: Walked, moment: int) -> list[ScannedFile] | None:
            # Asking Git starts a process.
            asks = any(source.git for path in _differing(before, walked) if (source := before.sources.get(path)))
            return None if asks else self._compare(before, walked)

        return None if before.partial else self._quickly(before.listing, partial(_differing, before), compare)

    def _quickly(
        self, known: FileListing, to_read: Callable[[Walked], set[str]], act: Callable[[Walked, int], T]
    ) -> T | None:
        if len(known) > _QUICK_FILES or not self._lock.acquire(blocking=False):
            return None
        try:
            moment = time.time_ns()
            walked = self._walk(known, _QUICK_FILES)
            reads = to_read(walked)
            size = sum(walked.changed[path][2] for path in reads if path in walked.changed)
            return act(walked, moment) if len(reads) <= _QUICK_READS and size <= _QUICK_BYTES else None
        except TooLargeToScan:
            return None
        finally:
            self._lock.release()

    def must_read(self) -> bool:
        """Whether Git's index has to be read first, and is large."""
        return self._repository.must_read()

    def trace(self, log: Path) -> CommandTrace:
        """The changes of a command that is about to start, as its own processes make them."""
        self._repository.refresh()
        return CommandTrace(self._root, self._repository, log)

    def restored_trace(self, log: Path) -> CommandTrace | None:
        return CommandTrace.restored(self._root, self._repository, log)

    def close(self) -> None:
        with self._lock:
            for path in list(self._sources):
                self._drop(path)
            self._listing = FileListing()

    def _walk(self, known: FileListing, most: int) -> Walked:
        self._repository.refresh()
        return self._walker.walk(known, most)

    # -- before --------------------------------------------------------------------------------------------------------

    def _take_snapshot(self, walked: Walked, moment: int) -> LocalSnapshot:
        """Make sure that the content of every file is available later."""
        for path in walked.gone:
            self._drop(path)
        if walked.changed or walked.gone:
            self._listing = FileListing(walked.folders)
        for path in {*walked.changed, *self._unsettled}:
            if (stamp := self._listing.get(path)) is not None:
                self._hold(path, stamp, moment)
        return LocalSnapshot(self._listing, dict(self._sources), walked.left_out, set(self._unsettled))

    def _hold(self, path: str, stamp: Stamp, moment: int) -> None:
        self._drop(path)
        settled = max(stamp[3], stamp[4]) < moment - _RACY_NS
        kept = self._repository.content(path, stamp) if settled else None
        self._sources[path] = ContentSource(git=kept) if kept is not None else self._load(path, stamp)
        if not settled:
            self._unsettled.add(path)

    def _load(self, path: str, stamp: Stamp) -> ContentSource:
        if stamp[2] > MAX_FILE_BYTES:
            return ContentSource(why=_TOO_LARGE)
        if not self._memory.take(stamp[2]):
            return ContentSource(why=_NO_ROOM)
        content = self._read(path, stamp)
        if content is None or len(content) > MAX_FILE_BYTES:
            self._memory.give_back(stamp[2])
            return ContentSource(why=_UNREADABLE if content is None else _TOO_LARGE)
        self._memory.give_back(stamp[2] - len(content))  # it may have changed meanwhile
        return ContentSource(content)

    def _drop(self, path: str) -> None:
        self._unsettled.discard(path)
        source = self._sources.pop(path, None)
        if source is not None and source.content is not None:
            self._memory.give_back(len(source.content))

    def _read(self, path: str, stamp: Stamp) -> bytes | None:
        try:
            if stat.S_ISLNK(stamp[0]):
                directory, name = self._root.parent(name_to_text(path), follow=False)
                with closed_after(directory):
                    return os.fsencode(os.readlink(name, dir_fd=directory))
            with closed_after(
                self._root.open(name_to_text(path), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY)
            ) as handle:
                return read_handle(handle, path, MAX_FILE_BYTES + 1)
        except (ToolError, OSError):
            return None

    # -- after ---------------------------------------------------------------------------------------------------------

    def _compare(self, before: LocalSnapshot, walked: Walked) -> list[ScannedFile]:
        paths = sorted(_differing(before, walked) - walked.left_out.keys())
        from_git = self._from_git(paths, before)
        changed: list[ScannedFile] = []
        room = MAX_BYTES
        for path in paths:
            old = before.listing.get(path)
            stamp = None if path in walked.gone else walked.changed.get(path, old)
            if path.endswith(TEMPORARY_SUFFIX) or (
                stamp == old and path in before.sources and before.sources[path].why
            ):
                continue  # another call's temporary file, or the same as far as we know
            now, why = self._now(path, stamp)
            then, why_not = _then(path, now, before, from_git)
            if now == then and not (why or why_not):
                continue
            room -= len(now.content if now else b"") + len(then.content if then else b"")
            if reason := why or why_not or (_TOO_MANY if room < 0 or len(changed) >= MAX_CHANGED else ""):
                existed = then is not None or bool(why_not)
                then, now = _UNKNOWN if existed else None, _UNKNOWN if stamp is not None else None
            changed.append(ScannedFile(name_to_text(path), then, now, reason))
        return [*changed, *_ignored(before, walked)]

    def _now(self, path: str, stamp: Stamp | None) -> tuple[FileContent | None, str]:
        if stamp is None:
            return None, ""
        if stamp[2] > MAX_FILE_BYTES:
            return None, _TOO_LARGE
        content = self._read(path, stamp)
        if content is None or len(content) > MAX_FILE_BYTES:  # it may have grown since
            return None, _UNREADABLE if content is None else _TOO_LARGE
        return FileContent(content, _mode(stamp)), ""

    def _from_git(self, paths: Iterable[str], before: LocalSnapshot) -> dict[bytes, bytes]:
        wanted: dict[bytes, int] = {}
        for path in paths:
            source = before.sources.get(path)
            if source is not None and source.git is not None and path not in before.written:
                stamp = before.listing.get(path)
                wanted[source.git] = stamp[2] if stamp is not None else 0
        room = MAX_BYTES
        names: list[bytes] = []
        for name, size in wanted.items():
            room -= size
            if room > 0 and len(names) < MAX_CHANGED:
                names.append(name)
        return self._read_objects(names)


#: A file whose content isn't kept.
_UNKNOWN = FileContent(b"", 0)


def _then(
    path: str, now: FileContent | None, before: LocalSnapshot, from_git: dict[bytes, bytes]
) -> tuple[FileContent | None, str]:
    """The file before the command, or why it is unknown."""
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
            _UNKNOWN if path in before.left_out or before.listing.get(path) else None,
            _UNKNOWN if path in walked.left_out else None,
            _IGNORED,
        )
        for path in differ[:_MAX_IGNORED]
    ]


def _mode(stamp: Stamp) -> int:
    return stat.S_IFLNK | 0o777 if stat.S_ISLNK(stamp[0]) else stat.S_IMODE(stamp[0])
