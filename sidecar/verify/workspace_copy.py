"""A private copy of a workspace with some files as they were before: what fails there failed before the task.

The copy is readable by this user only. Large generated folders are linked, caches left out. Links are copied as links,
and nothing is read or written through one.
"""

import asyncio
import hashlib
import os
import shutil
import stat
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from sidecar.config.paths import closed_after
from tools.environments import ENVIRONMENT_MARKS, find_environment

BEFORE_LABEL = "without the task's changes, in a private copy"
MAX_FILES = 20_000
MAX_BYTES = 256 * 1024 * 1024
_DEPTH = 100
_PREFIX = "brain-copy-"
#: A copy older than this was left behind by a process that died.
_STALE_SECONDS = 86_400
_CHUNK = 1 << 20
_PACKAGES = "node_modules"
_LINKED = frozenset({".git", ".venv", "venv", ".pixi", ".tox", ".nox", "vendor"})
_SKIPPED = frozenset({"__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", "target", ".next", ".cache"})


class CopyFailed(Exception):
    """The message completes a sentence that says what is unknown because of it."""


class WorkspaceCopy(NamedTuple):
    directory: str
    #: A hash of everything in it.
    content: str


@asynccontextmanager
async def copy_workspace(workspace: str, id: str, contents: Mapping[str, bytes | None]) -> AsyncIterator[WorkspaceCopy]:
    """A copy in which the files of `contents` have that content; `None` leaves a file out.

    `id` names the copy's owner: leftovers of a killed process with the same id are removed first.
    """
    directory = await asyncio.to_thread(_make_directory, f"{_PREFIX}{id}-")
    copier = _Copier(workspace, directory, contents)
    copying = asyncio.ensure_future(asyncio.to_thread(copier.run))
    try:
        yield WorkspaceCopy(directory, await asyncio.shield(copying))
    except OSError as error:
        raise CopyFailed(f"the workspace can't be copied ({error.strerror or error})") from error
    finally:
        copier.stop.set()
        await asyncio.wait((copying,))
        await asyncio.to_thread(shutil.rmtree, directory, ignore_errors=True)


def _make_directory(prefix: str) -> str:
    with suppress(OSError):
        for left in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
            found = left.stat(follow_symlinks=False)
            stale = left.name.startswith(prefix) or time.time() - found.st_mtime > _STALE_SECONDS
            if stale and found.st_uid == os.getuid():
                shutil.rmtree(left, ignore_errors=True)
    return tempfile.mkdtemp(prefix=prefix)


class _Copier:
    def __init__(self, workspace: str, directory: str, contents: Mapping[str, bytes | None]) -> None:
        self.stop = threading.Event()
        self._workspace = workspace
        self._directory = directory
        self._contents = contents
        self._digest = hashlib.sha256()
        self._files = 0
        self._bytes = 0

    def run(self) -> str:
        with closed_after(os.open(self._workspace, os.O_RDONLY | os.O_DIRECTORY)) as top:
            self._copy_folder(top, "", 0)
        for path, content in sorted(self._contents.items()):
            if content is not None:
                self._write(path, content)
        self._link_environment()
        return self._digest.hexdigest()

    def _link_environment(self) -> None:
        """An environment that is found by the project's path, such as Poetry's, isn't found by the path of the copy."""
        home = find_environment(self._workspace).home
        link = Path(self._directory, ".venv")
        if home and not home.startswith(f"{self._workspace}/") and not link.is_symlink() and not link.exists():
            link.symlink_to(home)

    def _copy_folder(self, here: int, inside: str, depth: int) -> None:
        if depth > _DEPTH:
            raise CopyFailed("its folders are nested too deeply to copy")
        for entry in sorted(os.scandir(here), key=lambda each: each.name):
            if self.stop.is_set():
                raise CopyFailed("copying was stopped")
            path, kind = f"{inside}{entry.name}", entry.stat(follow_symlinks=False).st_mode
            if stat.S_ISLNK(kind):
                Path(self._directory, path).symlink_to(os.readlink(entry.name, dir_fd=here))
            elif stat.S_ISDIR(kind):
                self._copy_subfolder(here, entry.name, path, depth)
            elif stat.S_ISREG(kind) and path not in self._contents:
                self._copy_file(here, entry.name, path)

    def _copy_subfolder(self, here: int, name: str, path: str, depth: int) -> None:
        if name == _PACKAGES:
            self._link_packages(path)
        elif name in _LINKED or _is_environment(here, name):
            Path(self._directory, path).symlink_to(Path(self._workspace, path).absolute())
        elif name not in _SKIPPED:
            Path(self._directory, path).mkdir(mode=0o700)
            with closed_after(os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=here)) as below:
                self._copy_folder(below, f"{path}/", depth + 1)

    def _link_packages(self, path: str) -> None:
        """A folder of its own with a link to each package: bundlers keep temporary files beside the packages."""
        folder, source = Path(self._directory, path), Path(self._workspace, path).absolute()
        folder.mkdir(mode=0o700)
        for package in source.iterdir():
            if not package.name.startswith((".vite", ".cache")):
                (folder / package.name).symlink_to(package)

    def _copy_file(self, here: int, name: str, path: str) -> None:
        self._files += 1
        source = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=here)
        with os.fdopen(source, "rb") as reading, Path(self._directory, path).open("xb") as writing:
            found = os.fstat(source)
            if not stat.S_ISREG(found.st_mode):
                return
            self._digest.update(_encode_name(path))
            while chunk := reading.read(_CHUNK):
                self._bytes += len(chunk)
                if self._files > MAX_FILES or self._bytes > MAX_BYTES:
                    raise CopyFailed(f"it has more than {MAX_FILES:,} files or {MAX_BYTES >> 20} MiB to copy")
                self._digest.update(chunk)
                writing.write(chunk)
            os.fchmod(writing.fileno(), stat.S_IMODE(found.st_mode) | stat.S_IRUSR | stat.S_IWUSR)

    def _write(self, path: str, content: bytes) -> None:
        file = Path(self._directory, path)
        root = os.path.realpath(self._directory)
        if not os.path.realpath(file.parent).startswith(root) or file.is_symlink():
            raise CopyFailed(f"{path} is behind a link")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        if content.startswith(b"#!"):
            file.chmod(0o755)
        self._digest.update(_encode_name(path) + content)


def _is_environment(here: int, name: str) -> bool:
    """Whether a folder is a Python environment, whatever its name."""
    for mark in ENVIRONMENT_MARKS:
        with suppress(OSError):
            os.stat(f"{name}/{mark}", dir_fd=here, follow_symlinks=False)
            return True
    return False


def _encode_name(path: str) -> bytes:
    return b"\0" + os.fsencode(path) + b"\0"
