"""Paths of the user's files, and how to open and write files safely. Light to import: every command needs it."""

import errno
import os
import stat
from collections.abc import Mapping
from pathlib import Path

APP = "rainy-brain"
READY_FILE = "sidecar.json"
TOKEN_FILE = "token"  # noqa: S105 - the name of the file
_LEAST_FREE_BYTES = 16 * 1024


def config_file() -> Path:
    import platformdirs

    return Path(platformdirs.user_config_dir(APP, appauthor=False)) / "config.toml"


def policy_file() -> Path:
    """The user's own table of programs."""
    return config_file().with_name("policy.toml")


def default_data_dir(environ: Mapping[str, str]) -> Path:
    named = environ.get("BRAIN_DATA_DIR")
    if named:
        return Path(named).absolute()
    import platformdirs

    return Path(platformdirs.user_data_dir(APP, appauthor=False))


def redirect_file(directory: Path, code: str) -> Path:
    """The file that leads a browser to the panel; its name tells nothing about the code."""
    import hashlib

    return directory / f"open-{hashlib.sha256(code.encode('utf-8', 'replace')).hexdigest()[:32]}.html"


def write_private(file: Path, text: str, *, keep_mode: bool = False) -> None:
    """Replace a file in one step. No other user can read it meanwhile, or plant a link under its temporary name."""
    temporary = file.with_name(f".{file.name}-{os.urandom(8).hex()}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            stream.write(text)
        if keep_mode and file.exists():
            temporary.chmod(file.stat().st_mode & 0o777)
        temporary.replace(file)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise


def free_bytes(directory: Path) -> int:
    disk = os.statvfs(directory)
    return disk.f_bavail * disk.f_frsize


def is_disk_full(directory: Path) -> bool:
    """Whether there is no room for even the token and the log of a start."""
    try:
        return free_bytes(directory) < _LEAST_FREE_BYTES
    except OSError:
        return False


def lacks_space(error: object) -> bool:
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)


def disk_full_message(directory: Path) -> str:
    return (
        f"the disk of its data directory {directory} is full. Nothing was changed. Free some space there, or name "
        "another directory with --data-dir, and start it again."
    )


class closed_after:
    """A file handle that is closed at the end of the block. Quicker than a generator, because every read uses it."""

    __slots__ = ("_handle",)

    def __init__(self, handle: int) -> None:
        self._handle = handle

    def __enter__(self) -> int:
        return self._handle

    def __exit__(self, *_: object) -> None:
        os.close(self._handle)


def open_regular(path: str | os.PathLike[str], *, dir_fd: int | None = None, follow: bool = True) -> int:
    """A handle on a regular file, for reading. Raises `OSError` for anything else.

    Pipes and devices are not even opened: that would disturb the program at the other end, or start something.
    """
    if not stat.S_ISREG(os.stat(path, dir_fd=dir_fd, follow_symlinks=follow).st_mode):
        raise OSError(errno.ENXIO, "not a regular file")
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | (0 if follow else os.O_NOFOLLOW)
    handle = os.open(path, flags, dir_fd=dir_fd)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)  # exchanged in between
        raise OSError(errno.ENXIO, "not a regular file")
    return handle
