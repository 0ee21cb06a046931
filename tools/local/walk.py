"""Walks a workspace and stamps its files, without reading them.

It always sees tracked files. Of the others it leaves out ignored files, installed packages and caches.
"""

import os
import stat
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from operator import attrgetter

from sidecar.config.paths import closed_after, open_regular
from tools.errors import ToolError
from tools.globs import Ignored
from tools.local.git import Repository
from tools.local.root import Stamp, WorkspaceRoot, name_to_text, stamp_of
from tools.local.snapshots import FileListing
from tools.skipped import CACHE_FOLDERS, INSTALLED_FOLDERS, VERSION_CONTROL, is_cache, is_cache_name

MAX_FILES = 50_000
#: Entries looked at and rules asked in one walk. Not a time: a busy machine must find the same files.
_MAX_WORK = 1_000_000
_MAX_DEPTH = 200
_MAX_RULES_BYTES = 1 << 20
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_UNSEEN = CACHE_FOLDERS | VERSION_CONTROL
_NAME = attrgetter("name")
_KIND = 0o170000
_FILE_KINDS = (stat.S_IFREG, stat.S_IFLNK)


class TooLargeToScan(Exception):
    """The workspace is too large to scan around a command; the message is the reason."""


@dataclass(slots=True)
class Walked:
    """The files that a walk found, and the differences from an earlier listing."""

    known: Mapping[str, dict[str, Stamp]]
    most: int
    folders: dict[str, dict[str, Stamp]] = field(default_factory=dict)
    changed: dict[str, Stamp] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)
    #: Paths left out by a rule, with their stamps: a change there shows, but not its content.
    left_out: dict[str, Stamp] = field(default_factory=dict)
    total: int = 0
    work: int = 0

    def add_work(self, amount: int) -> None:
        self.work += amount
        if self.work > _MAX_WORK:
            raise TooLargeToScan(f"Scanning the workspace takes more than {_MAX_WORK:,} steps")


class Walker:
    def __init__(self, root: WorkspaceRoot, repository: Repository) -> None:
        self._root = root
        self._repository = repository
        #: By rules file: the rules above, the file's stamp, the resulting rules.
        self._rules: dict[str, tuple[Ignored, Stamp, Ignored]] = {}
        self._verdicts: dict[str, tuple[Ignored, bool]] = {}
        self._nothing = Ignored()

    def walk(self, known: FileListing, most: int = MAX_FILES) -> Walked:
        walked = Walked(known.folders, most)
        with closed_after(self._root.open(".", os.O_RDONLY | os.O_DIRECTORY)) as handle:
            self._visit(handle, "", self._excluded(), walked, 0)
        for prefix in known.folders.keys() - walked.folders.keys():
            walked.gone |= {prefix + name for name in known.folders[prefix]}
        return walked

    def _visit(self, handle: int, prefix: str, rules: Ignored, walked: Walked, depth: int) -> None:
        with os.scandir(handle) as found:
            entries = list(islice(found, 2 * walked.most + 1))
        if len(entries) > 2 * walked.most:
            raise TooLargeToScan(f"A directory has more than {2 * walked.most:,} entries")
        walked.add_work(len(entries))
        if ".gitignore" in map(_NAME, entries):
            rules = self._below(handle, prefix, rules)
            if rules.costly and walked.most < MAX_FILES:
                raise TooLargeToScan("There are too many ignore rules to compare at once")  # in a thread, it goes on
        known = walked.known.get(prefix, {})
        as_known, same = known.get, 0
        others: list[os.DirEntry[str]] = []
        # Hot: runs for every file of the workspace, before and after each command.
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                path = prefix + entry.name
                if path in self._repository.folders or not self._is_left_out(handle, entry, path, rules, walked):
                    self._enter(handle, entry.name, f"{path}/", rules, walked, depth + 1)
                continue
            try:
                if as_known(entry.name) == stamp_of(entry.stat(follow_symlinks=False)):
                    same += 1
                else:
                    others.append(entry)
            except OSError:
                continue  # it is gone already
        walked.total += same
        if others or same < len(known):
            self._compare(entries, others, prefix, rules, walked)
        elif known:
            walked.folders[prefix] = known
        if walked.total > walked.most:
            raise TooLargeToScan(f"The workspace has more than {walked.most:,} files")

    def _compare(
        self,
        entries: Sequence["os.DirEntry[str]"],
        others: Sequence["os.DirEntry[str]"],
        prefix: str,
        rules: Ignored,
        walked: Walked,
    ) -> None:
        """Find new and removed files of a changed directory."""
        known, here = walked.known.get(prefix, {}), {entry.name for entry in entries}
        changed: dict[str, Stamp] = {}
        ruled, tracked = rules is not self._nothing, self._repository.tracked
        walked.add_work(len(others) if ruled else 0)
        for entry in others:
            stamp, path = stamp_of(entry.stat(follow_symlinks=False)), prefix + entry.name
            if path not in tracked and is_cache_name(entry.name):
                pass  # programs write it again when they need it
            elif ruled and path not in tracked and self._ignores(rules, path, directory=False):
                walked.left_out[path] = stamp
            elif stamp[0] & _KIND in _FILE_KINDS:
                changed[entry.name] = walked.changed[path] = stamp
                continue
            here.discard(entry.name)
        here -= {entry.name for entry in entries if entry.is_dir(follow_symlinks=False)}
        walked.total += len(changed)
        walked.gone |= {prefix + name for name in known.keys() - here}
        if now := {name: stamp for name, stamp in known.items() if name in here} | changed:
            walked.folders[prefix] = now

    def _enter(self, handle: int, name: str, prefix: str, rules: Ignored, walked: Walked, depth: int) -> None:
        if depth > _MAX_DEPTH:
            return
        try:
            inner = os.open(name, _DIRECTORY, dir_fd=handle)
        except OSError:
            return
        with closed_after(inner):
            self._visit(inner, prefix, rules, walked, depth)

    def _is_left_out(self, handle: int, entry: "os.DirEntry[str]", path: str, rules: Ignored, walked: Walked) -> bool:
        if entry.name in _UNSEEN or path in self._root.private:
            return True
        installed = entry.name in INSTALLED_FOLDERS
        if installed or (rules is not self._nothing and self._ignores(rules, path, directory=True)):
            with suppress(OSError):
                stamp = _installed_stamp(handle, entry) if installed else stamp_of(entry.stat(follow_symlinks=False))
                walked.left_out[f"{path}/"] = stamp
            return True
        return False

    def _ignores(self, rules: Ignored, path: str, *, directory: bool) -> bool:
        known = self._verdicts.get(path)
        if known is not None and known[0] is rules:
            return known[1]
        if len(self._verdicts) > 2 * MAX_FILES:
            self._verdicts.clear()
        verdict = rules(path, directory=directory)
        self._verdicts[path] = (rules, verdict)
        return verdict

    def outer_rules(self) -> Ignored:
        return self._excluded()

    def rules_in(self, folder: str, above: Ignored) -> Ignored:
        """The rules above, and those of a directory."""
        place = name_to_text(folder) or "."
        with suppress(ToolError), closed_after(self._root.open(place, os.O_RDONLY | os.O_DIRECTORY)) as handle:
            return self._below(handle, f"{folder}/" if folder else "", above)
        return above

    def left_out_as(self, folder: str, rules: Ignored) -> str | None:
        """How a walk names a directory that it leaves out; empty for a cache, `None` if it enters it."""
        if folder in self._repository.folders:
            return None
        name = folder.rpartition("/")[2]
        if name in _UNSEEN or folder in self._root.private:
            return ""
        ignored = name in INSTALLED_FOLDERS or (
            rules is not self._nothing and self._ignores(rules, folder, directory=True)
        )
        return f"{folder}/" if ignored else None

    def tracks(self, path: str) -> bool:
        return path in self._repository.tracked

    def ignores_file(self, path: str, rules: Ignored) -> bool:
        ruled = rules is not self._nothing and path not in self._repository.tracked
        return ruled and self._ignores(rules, path, directory=False)

    def _excluded(self) -> Ignored:
        with suppress(ToolError), closed_after(self._root.open(".git/info", os.O_RDONLY | os.O_DIRECTORY)) as handle:
            return self._below(handle, "", self._nothing, "exclude")
        return self._nothing

    def _below(self, handle: int, prefix: str, above: Ignored, name: str = ".gitignore") -> Ignored:
        """The rules above, and those of a directory's own file."""
        try:
            file = open_regular(name, dir_fd=handle, follow=False)
        except OSError:
            return above
        try:
            now = stamp_of(os.fstat(file))
            key = f"{prefix}{name}"
            known = self._rules.get(key)
            if known is not None and known[0] is above and known[1] == now:
                return known[2]
            text = os.read(file, _MAX_RULES_BYTES).decode("utf-8", "surrogateescape")
            rules = above.below(prefix.rstrip("/"), text)
            self._rules[key] = (above, now, rules)
            return rules
        except OSError:
            return above
        finally:
            os.close(file)


def _installed_stamp(handle: int, entry: "os.DirEntry[str]") -> Stamp:
    """A stamp that changes with the folder's entries and files, but not with a cache in it."""
    stamp = stamp_of(entry.stat(follow_symlinks=False))
    with closed_after(os.open(entry.name, _DIRECTORY, dir_fd=handle)) as inner, os.scandir(inner) as found:
        inside = sorted((each for each in found if not is_cache_name(each.name)), key=_NAME)
        parts = [
            f"{each.name}\0{each.stat(follow_symlinks=False).st_mtime_ns if each.is_file() else 0}" for each in inside
        ]
    return (*stamp[:2], zlib.crc32("\0".join(parts).encode("utf-8", "surrogateescape")), 0, 0)


class Exclusions:
    """Whether single paths are left out, by the rules of a walk. For one command: rules are read once."""

    def __init__(self, root: WorkspaceRoot, repository: Repository) -> None:
        self._walker = Walker(root, repository)
        self._folders: dict[str, tuple[Ignored, str | None]] = {}

    def name(self, path: str) -> str | None:
        """`None` for a path that counts, empty for caches that don't matter, otherwise the name left out.

        A path that ends with `/` is a directory.
        """
        folder = path.rpartition("/")[0]
        rules, name = self._folder(folder)
        if name and is_cache(path.removeprefix(name)):
            return ""  # a cache inside what is left out, such as node_modules/.cache
        if name is not None or path.endswith("/"):
            return name
        if is_cache_name(path.rpartition("/")[2]) and not self._walker.tracks(path):
            return ""
        return path if self._walker.ignores_file(path, rules) else None

    def _folder(self, folder: str) -> tuple[Ignored, str | None]:
        if folder not in self._folders:
            if folder:
                above, name = self._folder(folder.rpartition("/")[0])
            else:
                above, name = self._walker.outer_rules(), None
            if name is None:
                name = self._walker.left_out_as(folder, above) if folder else None
            self._folders[folder] = (above if name is not None else self._walker.rules_in(folder, above)), name
        return self._folders[folder]
