"""What one command did to files: each file before its first change, and after its last.

The listener claims a file for the command before the change happens. A watch reports each finished change of any
process. A change without a claim is another process's: the command's own change ends there, and its next claim begins a
new one. If both write at the same moment, their changes can't be separated, and that is recorded too.
"""

import os
import stat
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import takewhile

from tools.errors import ToolError
from tools.host import FileContent, ScannedFile
from tools.local.attribution.claimed import ClaimedFile
from tools.local.attribution.current import CurrentFiles
from tools.local.attribution.process import open_for_writing
from tools.local.attribution.versions import MISSING, Version, VersionLog
from tools.local.attribution.watch import DirectoryWatch, FileEvent
from tools.local.files import TEMPORARY_SUFFIX
from tools.local.root import WorkspaceRoot, name_to_text
from tools.paths import parents
from tools.protected import secret_part

#: Contents that one command may make us keep, before and after its changes.
MAX_BYTES = 512 * 1024 * 1024
MAX_FILES = 100_000
_MAX_LEFT_OUT = 50
_TOO_MANY = f"The command changed more than {MAX_FILES:,} files, or {MAX_BYTES >> 20} MiB; not all of it is kept."
_NO_DISK = "Its content from before the command could not be stored."
LEFT_OUT = "Ignored files and installed packages aren't kept; a command's changes to them can't be undone."
SHARED = "Somebody else wrote it at the same time as a command, and the two changes can't be separated."
UNWATCHED = "A command changed it, and this machine can't tell whether you changed it too: it has no file watches left."
AFTER_DEATH = "It was written after the sidecar stopped, by the command or by you; which one is unknown."

#: A file whose content isn't kept.
_UNKNOWN = FileContent(b"", 0)


class TouchedFiles:
    """`left_out` says under which name a path is left out: `None` if it isn't, empty if that doesn't matter."""

    def __init__(self, root: WorkspaceRoot, log: VersionLog, left_out: Callable[[str], str | None]) -> None:
        self._root = root
        self._current = CurrentFiles(root)
        self._log = log
        self._left_out_name = left_out
        self._files: dict[str, ClaimedFile] = {}
        #: What is left out, and whether it existed before.
        self._left_out: dict[str, bool] = {}
        #: Folders that the command renamed.
        self._moved: set[str] = set()
        #: Files with several names, all of them claimed.
        self._several_names: set[int] = set()
        self._room = MAX_BYTES
        self._lock = threading.Lock()
        self._watch: DirectoryWatch | None = None
        #: Why some change could not be attributed; empty if all were.
        self.problem = ""

    @property
    def is_empty(self) -> bool:
        return not (self._files or self._left_out or self.problem)

    @property
    def lock(self) -> threading.Lock:
        return self._lock

    def watch(self, watch: DirectoryWatch) -> None:
        self._watch = watch

    def unwatch(self) -> None:
        self._watch = None

    # -- claims of the command, before each change ---------------------------------------------------------------------

    def write(self, path: str, *, creates: bool = True, exclusive: bool = False, writer: int | None = None) -> None:
        """The command opens the file. The watch reports the end of it if `writer` is a thread that can write then."""
        found = self._current.lstat(path)
        if found is None if not creates else (found is not None and exclusive):
            return  # it will fail
        if found is not None and not stat.S_ISREG(found.st_mode) and not stat.S_ISLNK(found.st_mode):
            return
        self._claim_other_names(path, found)
        self._claim(path, writer=writer)

    def change(self, path: str) -> None:
        """The command changes mode or length, which the watch does not report."""
        found = self._current.lstat(path)
        if found is not None and not stat.S_ISDIR(found.st_mode):
            self._claim_other_names(path, found)
            self._claim(path, unreported=True)

    def link(self, path: str) -> None:
        """The command makes a link, which fails where a file is."""
        if self._current.lstat(path) is None:
            self._claim(path, unreported=True)

    def hard_link(self, old: str | None, new: str | None) -> None:
        """Either place may be outside the workspace. What is written under the new name changes the old file."""
        found = self._current.lstat(old) if old is not None else None
        if new is not None:
            self.link(new)
        if old is not None and found is not None and stat.S_ISREG(found.st_mode):
            self._claim(old, unreported=True)

    def remove(self, path: str) -> None:
        found = self._current.lstat(path)
        if found is not None and not stat.S_ISDIR(found.st_mode):
            self._claim(path, removal=True)

    def rename(self, old: str | None, new: str | None, *, exchange: bool = False, replaces: bool = True) -> None:
        """Either place may be outside the workspace."""
        lstat = self._current.lstat
        found = lstat(old) if old is not None else None
        if (old is not None and found is None) or (new is not None and not replaces and lstat(new) is not None):
            return  # it will fail
        if exchange:
            for path in (old, new):
                if path is not None:
                    self._exchange(path)
        elif old is not None and found is not None and stat.S_ISDIR(found.st_mode):
            names = list(self._beneath(old))
            for name in names:
                self._claim(f"{old}/{name}", unreported=True)
            if self._watch is not None and new is not None:
                self._watch.moved(f"{old}/", f"{new}/")
            for name in names if new is not None else ():
                self._claim(f"{new}/{name}", unreported=True)
                self._moved.update(f"{new}/{folder}".rstrip("/") for folder in parents(name))
        else:
            if old is not None:
                self._claim(old, removal=True)
            if new is not None:
                self._claim(new, arrival=True)
            if old is not None and new is not None and old != new:
                self._follow_renamed(old, new)

    def _follow_renamed(self, old: str, new: str) -> None:
        """A process that has the file open goes on writing it under its new name."""
        left, arrived = self._files.get(old), self._files.get(new)
        if self._watch is None or left is None or arrived is None or not left.writers:
            return
        left.leaving = True
        arrived.arriving = left.writers.copy()
        arrived.openings += left.openings
        arrived.strangers += left.strangers
        self._watch.renamed(old, new)

    def _exchange(self, path: str) -> None:
        found = self._current.lstat(path)
        if found is not None and stat.S_ISDIR(found.st_mode):
            for name in list(self._beneath(path)):
                self._claim(f"{path}/{name}", unreported=True)
        else:
            self._claim(path, arrival=True, removal=True)

    def _claim(
        self,
        path: str,
        *,
        writer: int | None = None,
        arrival: bool = False,
        removal: bool = False,
        unreported: bool = False,
    ) -> None:
        self._watch_directory(path)
        file = self._begin(path)
        if file is None:
            return
        if unreported:
            file.latest = None
        if self._watch is None or f"{path.rpartition('/')[0]}/".lstrip("/") not in self._watch:
            file.doubt = UNWATCHED
            return
        file.arrivals += arrival
        file.removals += removal
        if writer is not None:
            file.closings = 0
            file.writers.append(writer)
            self._watch.follow(path, f"{self._root.path}/{path}")
            file.openings += 1

    def _claim_other_names(self, path: str, found: os.stat_result | None) -> None:
        """A file with several names changes under all of them.

        Reading them would look like somebody else's, once the watch follows the file under this name.
        """
        if found is None or found.st_nlink < 2 or found.st_ino in self._several_names:
            return
        if self._left_out_name(path) is not None:
            return
        self._several_names.add(found.st_ino)
        for name in self._current.other_names(path, found, self._left_out_name):
            self._claim(name, unreported=True)

    def _begin(self, path: str) -> ClaimedFile | None:
        file = self._files.get(path)
        if file is None:
            if path.endswith(TEMPORARY_SUFFIX) or len(self._files) > MAX_FILES:
                self.problem = self.problem or (_TOO_MANY if len(self._files) > MAX_FILES else "")
                return None
            name = self._left_out_name(path)
            if name is not None:
                self._note_left_out(name)
                return None
            file = self._files[path] = ClaimedFile(self._keep(path, self._current.look(path)))
            return file
        if file.owned and not file.doubt and file.latest is not None and not file.pending:
            now = self._current.look(path, unless=file.latest)
            if not now.same(file.latest):
                self._close(path, file)
        if not file.owned:
            file.before, file.latest, file.owned = self._keep(path, self._current.look(path)), None, True
        return file

    def _note_left_out(self, name: str) -> None:
        if name and name not in self._left_out and len(self._left_out) < _MAX_LEFT_OUT:
            self._left_out[name] = self._current.lstat(name.rstrip("/")) is not None

    # -- what the watch reports ----------------------------------------------------------------------------------------

    def hear(self) -> None:
        """Handle what the watch has to report. Never waits."""
        if self._watch is None:
            return
        events = list(self._watch.events())
        while events:
            ended: set[str] = set()
            for event in events:
                self._happened(event, ended)
            for path in {event.path for event in events if event.kind == "modified"} - ended:
                # The command made it and still writes it.
                made = self._files.get(path)
                if made is not None and made.writers and self._watch.follow(path, f"{self._root.path}/{path}"):
                    made.openings = 0
            for path in ended:
                self._watch.unfollow(path)
                self._files[path].openings = self._files[path].strangers = 0
            if not ended:
                return
            seen = {path: self._current.look(path, between=True) for path in ended}
            events = [event for event in self._watch.events() if not self._is_known_closing(event)]
            again = {event.path for event in events}
            for path, version in seen.items():
                file = self._files[path]
                if path in again or "" in again:
                    file.doubt = SHARED  # somebody wrote it before we looked
                elif file.owned:
                    file.latest = version

    def _happened(self, event: FileEvent, ended: set[str]) -> None:
        """`ended` collects the files whose claimed changes have all happened."""
        path = event.path
        if not path:
            for file in self._files.values():
                file.doubt = file.doubt or SHARED
            return
        claimed = self._files.get(path)
        if event.kind in ("opened", "read"):
            if claimed is not None:
                claimed.count_opening(event)
            return
        if (
            claimed is None
            or not claimed.owned
            or (event.kind == "modified" and (claimed.writers or not claimed.latest))
        ):
            if path in ended and claimed is not None:
                claimed.doubt = SHARED
            return
        if event.kind in ("removed", "arrived"):
            claimed.writers_left(event)
        elif claimed.leaving:
            claimed.doubt = SHARED  # the renaming failed, and openings since then were not counted
        if event.kind == "removed" and claimed.removals:
            claimed.removals -= 1
        elif event.kind == "arrived" and claimed.arrivals:
            claimed.arrivals -= 1
        elif self._is_known_closing(event):
            return
        elif event.kind == "closed" and (closed := self._closed(claimed.writers, path)):
            claimed.closings = closed - 1
        else:
            if path in ended:
                claimed.doubt = SHARED
                ended.discard(path)
            else:
                self._somebody_else(path, claimed)
            return
        if claimed.strangers:
            claimed.doubt = SHARED  # somebody else had it open too; the kernel reports both closings as one
        if not claimed.pending:
            ended.add(path)

    def _is_known_closing(self, event: FileEvent) -> bool:
        """Whether the command closed a file that had this name before, or this one as we know already."""
        file = self._files.get(event.path) if event.kind == "closed" else None
        if file is None:
            return False
        return self._closed(file.orphans, f"{event.path} (deleted)") > 0 or file.repeats_closing(event)

    def _closed(self, writers: list[int], path: str) -> int:
        """How many of these writers closed the file: if none did, somebody else did. The others remain."""
        place = f"{self._root.path}/{path}"
        still: list[int] = []
        for thread, opened in Counter(writers).items():
            still += [thread] * min(opened, open_for_writing(thread, place))
        closed = len(writers) - len(still)
        writers[:] = still
        return closed

    def other_write(self, path: str) -> bool:
        """Another tool of ours is about to write the file; false if the command has it open for writing."""
        self.hear()
        file = self._files.get(path)
        if file is None or not file.owned:
            return True
        if any(open_for_writing(thread, f"{self._root.path}/{path}") for thread in file.writers):
            return False
        if not file.pending and file.latest is None:
            file.latest = self._current.look(path)
        self._somebody_else(path, file)
        return True

    def _somebody_else(self, path: str, file: ClaimedFile) -> None:
        if file.doubt or file.latest is None or file.latest.why or file.pending:
            file.doubt = file.doubt or SHARED  # from here on, all of it is in doubt
        else:
            self._close(path, file)

    def _close(self, path: str, file: ClaimedFile) -> None:
        assert file.latest is not None
        latest = self._keep(path, file.latest, after=True)
        file.done.append((file.before, latest))
        file.owned, file.latest = False, None

    # -- the result ----------------------------------------------------------------------------------------------------

    def restore(self) -> None:
        """Read what a killed process recorded. Raises `OSError` or `ValueError`."""
        died = self._log.last_beat()
        for path, after, version in self._log.entries():
            file = self._files.get(path)
            if file is None:
                self._files[path] = ClaimedFile(version)
            elif after:
                file.done.append((file.before, version))
                file.owned = False
            else:
                file.before, file.owned = version, True
        for path, file in self._files.items():
            found = self._current.lstat(path)
            if file.owned and found is not None and max(found.st_mtime_ns, found.st_ctime_ns) > died:
                file.doubt = AFTER_DEATH

    def changes(self) -> list[ScannedFile]:
        changed: list[ScannedFile] = []
        links = self._links_for_directories()
        for path, file in sorted(self._files.items()):
            gone = bool(links) and not links.isdisjoint(parents(path))
            now = MISSING if gone else self._current.look(path, unless=file.latest)
            if file.done and now.same(file.done[0][0]):
                continue  # someone has undone it already
            for before, after in file.done:
                changed += self._change(path, before, after, "")
            if file.owned:
                doubt = file.doubt
                if file.pending:
                    # The kernel reported its end together with another's, so what is known is older.
                    doubt = doubt or (SHARED if file.strangers else "")
                elif file.latest is not None and not doubt and not now.same(file.latest):
                    now = file.latest  # what came later is somebody else's
                changed += self._change(path, file.before, now, doubt)
        for name in sorted(self._left_out):
            existed, exists = self._left_out[name], self._current.lstat(name.rstrip("/")) is not None
            if existed or exists:
                then, since = _UNKNOWN if existed else None, _UNKNOWN if exists else None
                changed.append(ScannedFile(name_to_text(name), then, since, LEFT_OUT))
        if self.problem:
            changed.append(ScannedFile(".", _UNKNOWN, _UNKNOWN, self.problem))
        return changed

    def _links_for_directories(self) -> set[str]:
        """Links in the place of directories that the command touched files in: behind them are other files."""
        above: set[str] = set()
        for path in self._files:
            for directory in parents(path):
                if directory in above:
                    break
                above.add(directory)
        found = {path: self._current.lstat(path) for path in above & self._files.keys()}
        return {path for path, info in found.items() if info is not None and stat.S_ISLNK(info.st_mode)}

    def _change(self, path: str, before: Version, after: Version, doubt: str) -> Iterator[ScannedFile]:
        if before.same(after):
            return
        why = before.why or after.why
        then, now = self._content(before), self._content(after)
        self._room -= len(now.content) if now else 0
        if not why and self._room < 0:
            why = _TOO_MANY
        if why or (then is None) != (before.mode is None) or (now is None) != (after.mode is None):
            then = None if before.mode is None else _UNKNOWN
            now = None if after.mode is None else _UNKNOWN
            yield ScannedFile(name_to_text(path), then, now, why or _NO_DISK)
            return
        made = takewhile(self._is_new_folder, parents(path)) if then is None else ()
        yield ScannedFile(name_to_text(path), then, now, "", doubt, len(list(made)))

    def _is_new_folder(self, path: str) -> bool:
        return path != "" and (path in self._moved or self._current.is_new_folder(path))

    def _content(self, version: Version) -> FileContent | None:
        content = None if version.mode is None or version.why else self._log.read(version)
        return None if content is None else FileContent(content, version.mode or 0)

    # -- the disk ------------------------------------------------------------------------------------------------------

    def _keep(self, path: str, version: Version, *, after: bool = False) -> Version:
        size = len(version.content) if isinstance(version.content, bytes) else 0
        if size > self._room:
            version = version._replace(content=None, why=_TOO_MANY)
        self._room -= size
        try:
            return self._log.append(path, version, after=after, private=secret_part(path) is not None)
        except OSError:
            return version._replace(content=None, why="" if version.mode is None else _NO_DISK)

    def _watch_directory(self, path: str) -> None:
        prefix = f"{path.rpartition('/')[0]}/".lstrip("/")
        if self._watch is None or prefix in self._watch:
            return
        try:
            directory = self._root.open(name_to_text(prefix) or ".", os.O_RDONLY | os.O_DIRECTORY)
        except ToolError:
            return
        try:
            self._watch.add(prefix, directory)
        finally:
            os.close(directory)

    def _beneath(self, path: str) -> Iterator[str]:
        """The files in a directory, at most as many as are kept."""
        waiting, count = [""], 0
        while waiting:
            prefix = waiting.pop()
            place = f"{path}/{prefix}"
            try:
                handle = self._root.open(name_to_text(place), os.O_RDONLY | os.O_DIRECTORY)
            except ToolError:
                continue
            try:
                with os.scandir(handle) as entries:
                    for entry in entries:
                        if not entry.is_dir(follow_symlinks=False):
                            count += 1
                            yield prefix + entry.name
                        elif (name := self._left_out_name(f"{place}{entry.name}/")) is None:
                            waiting.append(f"{prefix}{entry.name}/")
                        else:
                            self._note_left_out(name)
                        if count > MAX_FILES:
                            self.problem = _TOO_MANY
                            return
            finally:
                os.close(handle)
