"""Git worktrees for tasks: outside the workspace, with a detached HEAD and your uncommitted changes.

The repository gets an entry below `.git/worktrees`, as from `git worktree add`, and nothing else: no branch, commit or
stash, and its index stays as it is. We write that entry ourselves, because `git worktree add` would run hooks.
"""

# Names are as the system has them, also those that are no valid text.
# ruff: noqa: PTH110, PTH112, PTH114, PTH120, PTH208

import json
import os
import shutil
import stat
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

from sidecar.config.paths import closed_after
from tools.environments import ENVIRONMENT_MARKS, find_environment
from tools.errors import ToolError
from tools.host import FileChange, FileContent
from tools.local import files
from tools.local.confinement import Confinement
from tools.local.repository.git import Git
from tools.local.repository.location import find_repository
from tools.local.repository.view import RepositoryViews
from tools.local.root import WorkspaceRoot, name_to_text, text_to_name
from tools.local.sandbox.probe import Sandboxes
from tools.local.special_files import SpecialFiles
from tools.worktrees import ChangedPath, WorktreeBase

LARGEST = 32 * 1024 * 1024
MAX_CARRIED = 2_000
MAX_CARRIED_BYTES = 256 * 1024 * 1024
_MAX_NAMED = 50
_MAX_LINKS = 5_000
_SECONDS = 300.0
#: Installed packages: too large to copy, and Git ignores them. A worktree has folders of links to their entries.
_PACKAGES = frozenset({"node_modules", ".venv", "venv", ".pixi", ".conda", "vendor"})
#: Ignored files that trust is bound to, relative to the workspace.
_CONFIGURING = (".brain/", ".mcp.json", ".vscode/mcp.json", ".githooks/", ".husky/")


class _Dirty(NamedTuple):
    changed: list[str]
    packages: list[str]


class GitWorktrees:
    """Makes, compares and removes worktrees. Its methods block, so call them in a thread."""

    def __init__(
        self, root: Path, private: Path, sandboxes: Sandboxes | None, trusted: Callable[[str], bool] = lambda _: False
    ) -> None:
        self._root = root
        self._private = private
        self._sandboxes = sandboxes
        self._trusted = trusted
        self._views = RepositoryViews()
        self._special = SpecialFiles()

    def names(self) -> list[str]:
        try:
            return sorted(os.listdir(self._root))
        except OSError:
            return []

    def check(self, workspace: str) -> None:
        find_repository(workspace, os.environ.get("HOME", ""))

    def holds(self, workspace: str) -> bool:
        place = os.path.realpath(workspace)
        return any(f"{place}/".startswith(f"{self.tree(name)}/") for name in self.names())

    def tree(self, name: str) -> str:
        return os.path.realpath(self._root / name / "tree")

    def base(self, name: str) -> WorktreeBase | None:
        """What a worktree began with; `None` if there is none, or it was never completed."""
        try:
            found = WorktreeBase(**json.loads((self._root / name / "base.json").read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return None
        return found if os.path.isdir(found.directory) else None

    def create(self, name: str, workspace: str) -> WorktreeBase:
        """Make a worktree of HEAD with your uncommitted changes. Raises `ToolError`; then nothing is left of it."""
        self.remove(name, workspace)
        try:
            return self._create(name, os.path.realpath(workspace))
        except (OSError, ToolError) as error:
            with suppress(OSError, ToolError):
                self.remove(name, workspace)
            if isinstance(error, ToolError):
                raise
            raise ToolError(f"The worktree could not be made: {error.strerror or error}.", code="disk") from error

    def _create(self, name: str, workspace: str) -> WorktreeBase:
        place = find_repository(workspace, os.environ.get("HOME", ""))
        commit = self._head(workspace)
        home = self._root / name
        home.mkdir(mode=0o700, parents=True)
        (home / "tree").mkdir(mode=0o700)
        tree = self.tree(name)
        _register(place.common, _entry(name), tree, commit)
        self._git(tree, ["reset", "--hard", "-q", commit], writes=True, trusted=self._trusted(workspace))
        dirty = self._dirty(workspace, place.top)
        inside = os.path.relpath(workspace, place.top)
        carried, left_out = self._carry(dirty.changed, place.top, tree, home / "carried")
        linked = [path for path in dirty.packages if _link_entries(f"{place.top}/{path}", f"{tree}/{path}")]
        directory = os.path.normpath(f"{tree}/{inside}")
        linked += _link_environment(workspace, directory, inside)
        if os.path.exists(f"{tree}/.gitmodules"):
            left_out.append("the content of submodules")
        base = WorktreeBase(workspace, directory, place.top, commit, carried, left_out, linked)
        temporary = home / ".base.json"
        temporary.write_text(json.dumps(asdict(base)), encoding="utf-8")
        temporary.replace(home / "base.json")
        return base

    def changed(self, name: str, also: Iterable[str] = ()) -> list[ChangedPath]:
        """The files that differ from what the worktree began with; `also` names ignored files to look at."""
        base = self.base(name)
        if base is None:
            return []
        tree = self.tree(name)
        listed = [
            *self._git(tree, ["diff", "--name-only", "-z", "--no-renames", base.commit]).split(b"\0"),
            *self._git(tree, ["ls-files", "-o", "--exclude-standard", "-z"]).split(b"\0"),
        ]
        names = {name_to_text(os.fsdecode(raw)) for raw in listed if raw and not raw.endswith(b"/")}
        paths = sorted(path for path in {*names, *base.carried, *also} if not _beneath(path, base.linked))
        before = self._contents(base, tree, [path for path in paths if path not in base.carried])
        before |= self._carried(name, base)
        root = WorkspaceRoot(tree)
        found = []
        for path in paths:
            now = look(root, path)
            was = before.get(path) if path in base.carried else _with_line_ends(before.get(path), now)
            if not _alike(was, now):
                found.append(ChangedPath(path, was, now))
        return found

    def moved_on(self, name: str) -> bool:
        """Whether your repository differs from what the worktree began with."""
        base = self.base(name)
        if base is None or self._head(base.workspace) != base.commit:
            return True
        dirty = self._dirty(base.workspace, base.top).changed
        if set(dirty) != {*base.carried, *(path for path in base.left_out if path in dirty)}:
            return True
        saved, top = self._carried(name, base), WorkspaceRoot(base.top, [self._private])
        return any(not _alike(saved.get(path), look(top, path)) for path in base.carried)

    def remove(self, name: str, workspace: str) -> None:
        """Remove a worktree, or what is left of one, and its entry in the repository."""
        base = self.base(name)
        with suppress(ToolError):
            place = find_repository(base.top if base else workspace, os.environ.get("HOME", ""))
            entries = f"{place.common}/worktrees"
            if os.path.realpath(entries) == entries:
                shutil.rmtree(f"{entries}/{_entry(name)}", ignore_errors=True)
                with suppress(OSError):
                    os.rmdir(entries)  # noqa: PTH106 - only if it was the last one
        if (self._root / name).exists():
            # First under another name, so that a removal that is cut short leaves no worktree that looks whole.
            (self._root / name / "base.json").unlink(missing_ok=True)
            shutil.rmtree(self._root / name)

    # -- parts -------------------------------------------------------------------------------------------------------

    def _head(self, workspace: str) -> str:
        try:
            return self._git(workspace, ["rev-parse", "--verify", "-q", "HEAD^{commit}"]).decode().strip()
        except ToolError as error:
            if error.code != "git_failed":
                raise
            message = "A worktree needs a commit to begin with, and the repository has none. Commit first."
            raise ToolError(message, code="no_commit") from error

    def _dirty(self, workspace: str, top: str) -> _Dirty:
        words = ["status", "--porcelain=v1", "-z", "--untracked-files=all", "--ignored=matching", "--no-renames"]
        inside = os.path.relpath(workspace, top)
        prefix = "" if inside == "." else f"{inside}/"
        changed: dict[str, None] = {}
        packages: dict[str, None] = {}
        for raw in self._git(workspace, words).split(b"\0"):
            if len(raw) < 4:
                continue
            path = os.fsdecode(raw[3:])
            if (folder := _package_folder(top, path)) is not None:
                packages[folder] = None
            elif not raw.startswith(b"!!"):
                changed[path] = None
            elif path.startswith(tuple(f"{prefix}{each}" for each in _CONFIGURING)) or path == f"{prefix}.mcp.json":
                changed.update(dict.fromkeys(_files_of(top, path)))
        return _Dirty([name_to_text(path) for path in changed], list(packages))

    def _carry(self, paths: Sequence[str], top: str, tree: str, kept: Path) -> tuple[list[str], list[str]]:
        """Copy uncommitted files, or remove them as you did; what doesn't fit is left out."""
        source, target = WorkspaceRoot(top, [self._private]), WorkspaceRoot(tree)
        carried: list[str] = []
        left_out: list[str] = []
        room = MAX_CARRIED_BYTES
        for path in paths:
            try:
                found = None if path.endswith("/") else look(source, path)
                if path.endswith("/") or len(carried) >= MAX_CARRIED or (found and len(found.content) > room):
                    left_out.append(path)
                    continue
                room -= len(found.content) if found else 0
                write_content(target, path, found)
                if found is not None:
                    kept.mkdir(mode=0o700, exist_ok=True)
                    write_content(WorkspaceRoot(str(kept)), path, found)
                carried.append(path)
            except ToolError:
                left_out.append(path)
        more = [f"{len(left_out) - _MAX_NAMED} more"] if len(left_out) > _MAX_NAMED else []
        return carried, [*left_out[:_MAX_NAMED], *more]

    def _carried(self, name: str, base: WorktreeBase) -> dict[str, FileContent]:
        """The uncommitted files as they were, without those that you had removed."""
        kept = self._root / name / "carried"
        if not kept.is_dir():
            return {}
        root = WorkspaceRoot(str(kept))
        return {path: found for path in base.carried if (found := look(root, path)) is not None}

    def _contents(self, base: WorktreeBase, tree: str, paths: Sequence[str]) -> dict[str, FileContent]:
        """The files as they were in the commit."""
        wanted = {os.fsencode(text_to_name(path)): path for path in paths}
        objects: dict[str, tuple[bytes, int]] = {}
        for line in self._git(tree, ["ls-tree", "-r", "-z", base.commit]).split(b"\0"):
            head, _, raw = line.partition(b"\t")
            if raw in wanted and head.split()[1] == b"blob":
                mode, _, name = head.split()
                objects[wanted[raw]] = bytes.fromhex(name.decode()), int(mode, 8)
        names = [name for name, _ in objects.values()]
        found = Git(tree, self._views, self._special).read_objects(names, self._cage(tree, writes=False))
        if missing := [path for path, (name, _) in objects.items() if name not in found]:
            raise ToolError(f"Git could not read {missing[0]} as of {base.commit[:12]}.", code="git_failed")
        return {path: FileContent(found[name], mode) for path, (name, mode) in objects.items()}

    def _git(self, place: str, words: Sequence[str], *, writes: bool = False, trusted: bool = False) -> bytes:
        return Git(place, self._views, self._special).output(
            words, self._cage(place, writes=writes), trusted=trusted, seconds=_SECONDS
        )

    def _cage(self, place: str, *, writes: bool) -> Confinement | None:
        sandbox = None if self._sandboxes is None else self._sandboxes.reader()
        if sandbox is None:
            return None
        return Confinement(sandbox, None, place, private=(str(self._private),), writes=writes, system=False)


def _entry(name: str) -> str:
    return f"brain-{name}"


def _register(common: str, name: str, tree: str, commit: str) -> None:
    """The entry of a worktree in its repository, without following links that the repository holds."""
    folder = os.open(common, os.O_RDONLY | os.O_DIRECTORY)
    for part in ("worktrees", name):
        with closed_after(folder):
            with suppress(FileExistsError):
                os.mkdir(part, 0o755, dir_fd=folder)
            inner = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
        folder = inner
    with closed_after(folder):
        for file, text in (("HEAD", commit), ("commondir", "../.."), ("gitdir", f"{tree}/.git")):
            handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644, dir_fd=folder)
            with os.fdopen(handle, "w", encoding="utf-8", errors="surrogateescape") as stream:
                stream.write(f"{text}\n")
    Path(tree, ".git").write_text(f"gitdir: {common}/worktrees/{name}\n", encoding="utf-8", errors="surrogateescape")


def _package_folder(top: str, path: str) -> str | None:
    """The folder of installed packages that a path is, or is in."""
    parts = path.rstrip("/").split("/")
    for number, part in enumerate(parts, start=1):
        folder = "/".join(parts[:number])
        last = number == len(parts)
        if last and not path.endswith("/"):
            return None
        if part in _PACKAGES and not os.path.islink(f"{top}/{folder}"):
            return folder
        if last and any(os.path.exists(f"{top}/{folder}/{mark}") for mark in ENVIRONMENT_MARKS):
            return folder
    return None


def _link_entries(source: str, target: str) -> bool:
    """Make a folder with a link to each entry: a link to the whole folder would not be ignored as the folder is."""
    try:
        entries = os.listdir(source)
        parent = os.path.dirname(target)
        if len(entries) > _MAX_LINKS or os.path.realpath(parent) != parent:
            return False
        os.mkdir(target)  # noqa: PTH102
        for entry in entries:
            os.symlink(f"{source}/{entry}", f"{target}/{entry}")  # noqa: PTH211
    except OSError:
        return False
    return True


def _link_environment(workspace: str, directory: str, inside: str) -> list[str]:
    """An environment that is found by the project's path, such as Poetry's, isn't found by the worktree's."""
    home = find_environment(workspace).home
    if not home or home.startswith(f"{workspace}/") or os.path.lexists(f"{directory}/.venv"):
        return []
    return [os.path.normpath(f"{inside}/.venv")] if _link_entries(home, f"{directory}/.venv") else []


def _files_of(top: str, path: str) -> list[str]:
    """An ignored file, or the files of an ignored folder."""
    if not path.endswith("/"):
        return [path]
    found: list[str] = []
    for folder, _, names in os.walk(f"{top}/{path}"):
        found += [os.path.relpath(f"{folder}/{name}", top) for name in names]
        if len(found) > _MAX_NAMED * 10:
            break
    return found


def _beneath(path: str, folders: Iterable[str]) -> bool:
    return any(f"{path}/".startswith(f"{folder}/") for folder in folders)


def look(root: WorkspaceRoot, path: str) -> FileContent | None:
    found = files.look(root, path, LARGEST)
    if found is not None and len(found.content) > LARGEST:
        raise ToolError(f"{path} is larger than {LARGEST >> 20} MiB.", code="too_large")
    return found


def write_content(root: WorkspaceRoot, path: str, wanted: FileContent | None) -> None:
    before = look(root, path)
    if before is None and wanted is None:
        return  # its directory may be missing, too
    files.apply_change(
        root,
        FileChange(
            path,
            before.content if before else None,
            wanted.content if wanted else None,
            (wanted.mode or None) if wanted else None,
            before.mode if before else None,
        ),
    )


def _with_line_ends(base: FileContent | None, now: FileContent | None) -> FileContent | None:
    """Git may have written CRLF for each LF of the commit."""
    if base is None or now is None or b"\r\n" in base.content or b"\r\n" not in now.content:
        return base
    return base._replace(content=base.content.replace(b"\n", b"\r\n"))


def _alike(one: FileContent | None, other: FileContent | None) -> bool:
    if one is None or other is None:
        return one is other
    if stat.S_ISLNK(one.mode) != stat.S_ISLNK(other.mode) or one.content != other.content:
        return False
    return stat.S_ISLNK(one.mode) or (one.mode & 0o100) == (other.mode & 0o100)
