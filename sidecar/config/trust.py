"""The workspaces you trust, recorded in the data directory, never in a workspace.

Trust is bound to the files by which a workspace configures something, such as hooks. When they change, whoever changed
them, the workspace is untrusted until you trust it again. It is also bound to what the project's tests, builds and
linters run by themselves: when that changes, they ask, and show the difference.
"""

# Every tool call asks for trust, and building a Path would cost more than the system call.
# ruff: noqa: PTH115, PTH116, PTH208

import hashlib
import json
import os
import re
import secrets
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from sidecar.config.data_dir import DataDir
from sidecar.config.paths import open_regular, write_private
from sidecar.config.repositories import Repositories, normalize_repository
from sidecar.config.run_files import RunFiles, render_change
from sidecar.config.stored import StoredValue
from sidecar.wire.text import listed

#: Paths by which a workspace configures or starts something.
_CONFIGURING = (".brain", ".mcp.json", ".vscode/mcp.json", ".git/hooks", ".githooks", ".husky")
_GIT_CONFIG = ".git/config"
#: Lines of Git's configuration that name a program or another configuration file. The rest changes every day.
_RUNS = re.compile(
    rb"fsmonitor|hookspath|sshcommand|pager|editor|external|textconv|clean|smudge|process|helper|askpass|program|proxy"
    rb"|gitproxy|include|path\s*=|driver|command|cmd|filter|uploadpack|receivepack|trustexitcode|insteadof|ext::|vcs"
    rb"|browser|alias|worktreeconfig|=\s*\"?!|\\$",
    re.IGNORECASE,
)
_FILES = 500
_SIZE = 1 << 20


class TrustChange(NamedTuple):
    """What the project's tests, builds and linters would run differently than when you trusted it."""

    files: Sequence[str]
    diff: str
    #: What the files say now.
    digest: str

    def describe(self) -> str:
        return f"{listed(self.files, 5)} changed since you trusted this workspace"


class TrustStatus(NamedTuple):
    workspace: str
    trusted: bool
    why: str
    change: TrustChange | None = None


class Trust:
    def __init__(self, data: DataDir, repositories: Repositories | None = None) -> None:
        self._repositories = repositories or Repositories(data.path)
        self._file = data.path / "trust.json"
        #: What each trusted workspace would run, as it was when you trusted it.
        self._directory = data.path / "trusted"
        self._seen_runs: dict[str, Mapping[str, str]] = {}
        self._stored = StoredValue(self._file, self._read)
        self._run_files = RunFiles()
        self._seen: dict[str, tuple[tuple[object, ...], str]] = {}

    @property
    def _known(self) -> dict[str, str]:
        return self._stored.get()

    def _read(self, file: Path) -> dict[str, str]:
        # Another process may have trusted a workspace as it is now.
        self._seen_runs.clear()
        return _read(file)

    def trusted(self, workspace: str) -> bool:
        place = os.path.realpath(workspace)
        known = self._known.get(place)
        if known is not None:
            return known == self._fingerprint(place)
        origin = self._repositories.origin(place)
        return origin is not None and self._covers(origin, place)

    def change(self, workspace: str) -> TrustChange | None:
        """What would run differently now in a workspace that you trust; `None` if nothing would."""
        place = os.path.realpath(workspace)
        if not self.trusted(place):
            return None
        # A worktree or clone of a local repository is compared with what you trusted there.
        origin = self._repositories.origin(place) if place not in self._known else None
        source = origin if origin is not None and origin.startswith("/") else place
        now = self._run_files.find(place)
        before = self._recall(source)
        if before is None:
            # A clone of a remote that you trust, or trusted by an earlier version: what it runs now is what you trust.
            self._remember(source, now if source == place else self._run_files.find(source))
            before = self._seen_runs[source]
        if before == now:
            return None
        files, diff = render_change(before, now)
        digest = hashlib.sha256(json.dumps(now, sort_keys=True).encode("utf-8", "surrogatepass")).hexdigest()
        return TrustChange(files, diff, digest)

    def _recall(self, place: str) -> Mapping[str, str] | None:
        if place not in self._seen_runs:
            with suppress(OSError, ValueError, AttributeError):
                found = json.loads(self._record(place).read_text(encoding="utf-8"))
                self._seen_runs[place] = {str(name): str(text) for name, text in found.items()}
        return self._seen_runs.get(place)

    def _remember(self, place: str, runs: Mapping[str, str]) -> None:
        self._seen_runs[place] = runs
        self._directory.mkdir(mode=0o700, exist_ok=True)
        write_private(self._record(place), json.dumps(runs))

    def _record(self, place: str) -> Path:
        return self._directory / f"{hashlib.sha256(os.fsencode(place)).hexdigest()[:32]}.json"

    def _covers(self, origin: str, copy: str) -> bool:
        """A worktree or clone that we made of a trusted repository is trusted while it configures just the same."""
        if origin not in self._known or _in_git(copy):
            return False
        if origin.startswith("/"):
            return self.trusted(origin) and _digest(copy, _outside_git(copy)) == _digest(origin, _outside_git(origin))
        # You haven't seen what a remote's clone configures, so it must configure nothing.
        return _digest(copy, _outside_git(copy)) == _digest(copy, [])

    def status(self, workspace: str) -> TrustStatus:
        place = normalize_repository(workspace) if workspace not in self._known else workspace
        if not place.startswith("/"):
            trusted = place in self._known
            return TrustStatus(place, trusted, "You trust our clones of it." if trusted else "You don't trust it.")
        if place not in self._known:
            return TrustStatus(place, False, "You haven't trusted it yet.")
        if (change := self.change(place)) is not None:
            why = f"{change.describe()}; what runs the project's own code asks until you trust it again."
            return TrustStatus(place, False, why, change)
        if self.trusted(place):
            return TrustStatus(place, True, "You trust it.")
        return TrustStatus(place, False, "You trusted it, but its programs or configuration have changed since.")

    def all(self) -> list[TrustStatus]:
        return [self.status(place) for place in sorted(self._known)]

    def set(self, workspace: str, *, trusted: bool) -> None:
        known = dict(self._known)
        place = normalize_repository(workspace) if workspace not in known else workspace
        if trusted:
            known[place] = self._fingerprint(place) if place.startswith("/") else ""
            if place.startswith("/"):
                self._remember(place, self._run_files.find(place))
        else:
            known.pop(place, None)
            self._seen_runs.pop(place, None)
            with suppress(OSError):
                self._record(place).unlink()
        self._stored.set(known, json.dumps({"trusted": known}))

    def _fingerprint(self, place: str) -> str:
        files = list(_configuring(place))
        stamp = tuple(files)
        seen = self._seen.get(place)
        if seen is None or seen[0] != stamp:
            seen = self._seen[place] = (stamp, _digest(place, files))
        return seen[1]


def _outside_git(place: str) -> list["_File"]:
    return [file for file in _configuring(place) if not file.name.startswith(".git/")]


def _in_git(place: str) -> bool:
    """Whether the directory's own Git data would run something."""
    return _digest(place, [file for file in _configuring(place) if file.name.startswith(".git/")]) != _digest(place, [])


class _File(NamedTuple):
    name: str
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    mode: int


def _configuring(place: str) -> Iterator[_File]:
    linked: set[tuple[int, int]] = set()
    for name in (*_CONFIGURING, _GIT_CONFIG):
        yield from _stamped(place, name, linked)


def _stamped(place: str, name: str, linked: set[tuple[int, int]], *, behind: bool = False) -> Iterator[_File]:
    """A link counts, and what it leads to; `linked` is what was found `behind` links."""
    try:
        found = os.lstat(f"{place}/{name}")
        yield _File(name, found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino, found.st_mode)
        if stat.S_ISLNK(found.st_mode):
            behind, found = True, os.stat(f"{place}/{name}")
            yield _File(name, found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino, found.st_mode)
    except OSError:
        return
    if behind:
        if len(linked) >= _FILES:
            # Too many to compare, so it is never the same.
            yield _File(f"{name}/…", secrets.randbits(63), 0, 0, 0, stat.S_IFREG)
            return
        identity = found.st_dev, found.st_ino
        if identity in linked:
            return
        linked.add(identity)
    if not stat.S_ISDIR(found.st_mode):
        return
    with suppress(OSError):
        entries = sorted(entry for entry in os.listdir(f"{place}/{name}") if not entry.endswith(".sample"))
        for entry in entries[:_FILES]:
            yield from _stamped(place, f"{name}/{entry}", linked, behind=behind)
        if len(entries) > _FILES:
            # Beyond the limit only the number of entries counts.
            yield _File(f"{name}/…", len(entries), found.st_mtime_ns, found.st_ctime_ns, found.st_ino, stat.S_IFREG)


def _digest(place: str, files: list[_File]) -> str:
    total = hashlib.sha256()
    for file in files:
        kind = stat.S_IFMT(file.mode)
        content = b""
        with suppress(OSError):
            if kind == stat.S_IFLNK:
                content = os.fsencode(os.readlink(f"{place}/{file.name}"))
            elif kind == stat.S_IFREG:
                with os.fdopen(open_regular(f"{place}/{file.name}"), "rb") as stream:
                    content = stream.read(_SIZE)
                    if file.size > _SIZE:
                        # Don't read on: any touch counts as a change.
                        content += repr(file).encode()
        if file.name == _GIT_CONFIG:
            lines = [line for line in content.splitlines() if _RUNS.search(line)]
            if not lines:
                continue
            content = b"\n".join(lines)
        elif kind == stat.S_IFDIR:
            continue  # an empty directory configures nothing; its entries follow
        if file.name.endswith("/…"):
            content = repr(file).encode()
        total.update(repr((file.name, kind, file.mode & 0o111, len(content))).encode() + content)
    return total.hexdigest()


def _read(file: Path) -> dict[str, str]:
    """An unreadable file trusts nothing."""
    try:
        found = json.loads(file.read_text(encoding="utf-8"))["trusted"]
        return {str(place): str(digest) for place, digest in found.items()}
    except (OSError, ValueError, AttributeError, TypeError, KeyError):
        return {}
