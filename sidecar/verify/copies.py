"""A private copy of a workspace, with some of its files as they were: what fails there, failed before.

Only for this user, in a directory of its own; what is large and nobody's own work is linked, caches are left out. Links
are copied as links, and nothing is read or written through one.
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

MOST_FILES = 20_000
MOST_BYTES = 256 * 1024 * 1024
_DEPTH = 100
_PREFIX = "brain-copy-"
#: A copy that is older than any run may be was left by a process that is gone.
_FORGOTTEN_SECONDS = 86_400
_PIECE = 1 << 20
_LINKED = frozenset({".git", "node_modules", ".venv", "venv", ".tox", ".nox", "vendor"})
_LEFT_OUT = frozenset({"__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", "target", ".next", ".cache"})


class NoCopy(Exception):
    """The workspace cannot be copied; the message says why, as the end of a sentence."""


class Copy(NamedTuple):
    """Where it is, and a name for everything that is in it."""

    place: str
    content: str


@asynccontextmanager
async def copied(workspace: str, mark: str, put: Mapping[str, bytes | None]) -> AsyncIterator[Copy]:
    """A copy in which the files of `put` have these contents; `None` is a file that does not exist.

    `mark` names whose copy it is: what a killed process left of it is removed first.
    """
    prefix = f"{_PREFIX}{mark}-"
    place = await asyncio.to_thread(_empty, prefix)
    copying = _Copying(workspace, place, put)
    made = asyncio.ensure_future(asyncio.to_thread(copying.run))
    try:
        yield Copy(place, await asyncio.shield(made))
    except OSError as error:
        raise NoCopy(f"the workspace cannot be copied ({error.strerror or error})") from error
    finally:
        copying.stop.set()
        await asyncio.wait((made,))
        await asyncio.to_thread(shutil.rmtree, place, ignore_errors=True)


def _empty(prefix: str) -> str:
    with suppress(OSError):
        for left in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
            found = left.stat(follow_symlinks=False)
            forgotten = left.name.startswith(prefix) or time.time() - found.st_mtime > _FORGOTTEN_SECONDS
            if forgotten and found.st_uid == os.getuid():
                shutil.rmtree(left, ignore_errors=True)
    return tempfile.mkdtemp(prefix=prefix)


class _Copying:
    def __init__(self, workspace: str, place: str, put: Mapping[str, bytes | None]) -> None:
        self.stop = threading.Event()
        self._workspace = workspace
        self._place = place
        self._put = put
        self._total = hashlib.sha256()
        self._files = 0
        self._bytes = 0

    def run(self) -> str:
        top = os.open(self._workspace, os.O_RDONLY | os.O_DIRECTORY)
        try:
            self._folder(top, "", 0)
        finally:
            os.close(top)
        for path, content in sorted(self._put.items()):
            if content is not None:
                self._write(path, content)
        return self._total.hexdigest()

    def _folder(self, here: int, inside: str, depth: int) -> None:
        if depth > _DEPTH:
            raise NoCopy("its folders are nested too deeply to be copied")
        for entry in sorted(os.scandir(here), key=lambda each: each.name):
            if self.stop.is_set():
                raise NoCopy("the copying was stopped")
            path, kind = f"{inside}{entry.name}", entry.stat(follow_symlinks=False).st_mode
            if stat.S_ISLNK(kind):
                Path(self._place, path).symlink_to(os.readlink(entry.name, dir_fd=here))
            elif stat.S_ISDIR(kind):
                self._subfolder(here, entry.name, path, depth)
            elif stat.S_ISREG(kind) and path not in self._put:
                self._file(here, entry.name, path)

    def _subfolder(self, here: int, name: str, path: str, depth: int) -> None:
        if name in _LINKED:
            Path(self._place, path).symlink_to(Path(self._workspace, path).absolute())
        elif name not in _LEFT_OUT:
            Path(self._place, path).mkdir(mode=0o700)
            below = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=here)
            try:
                self._folder(below, f"{path}/", depth + 1)
            finally:
                os.close(below)

    def _file(self, here: int, name: str, path: str) -> None:
        self._files += 1
        source = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=here)
        with os.fdopen(source, "rb") as reading, Path(self._place, path).open("xb") as writing:
            found = os.fstat(source)
            if not stat.S_ISREG(found.st_mode):
                return
            self._total.update(_named(path))
            while piece := reading.read(_PIECE):
                self._bytes += len(piece)
                if self._files > MOST_FILES or self._bytes > MOST_BYTES:
                    raise NoCopy(f"it has more than {MOST_FILES:,} files or {MOST_BYTES >> 20} MiB to copy")
                self._total.update(piece)
                writing.write(piece)
            os.fchmod(writing.fileno(), stat.S_IMODE(found.st_mode) | stat.S_IRUSR | stat.S_IWUSR)

    def _write(self, path: str, content: bytes) -> None:
        file = Path(self._place, path)
        root = os.path.realpath(self._place)
        if not os.path.realpath(file.parent).startswith(root) or file.is_symlink():
            raise NoCopy(f"{path} stands behind a link")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        if content.startswith(b"#!"):
            file.chmod(0o755)
        self._total.update(_named(path) + content)


def _named(path: str) -> bytes:
    return b"\0" + os.fsencode(path) + b"\0"
