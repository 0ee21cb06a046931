"""One name per file, however its path was written; and regular files, which alone are opened."""

import errno
import os
import stat


def normalize(path: str, workspace: str) -> str:
    """The path relative to the workspace, which is `.`; a path that leads elsewhere stays as it is."""
    name = path
    if path.startswith("/"):
        root = workspace.rstrip("/")
        if not f"{path}/".startswith(f"{root}/"):
            root = os.path.realpath(workspace).rstrip("/")
        if not f"{path}/".startswith(f"{root}/"):
            return path
        name = path[len(root) :]
    parts = [part for part in name.split("/") if part not in ("", ".")]
    # `..` may follow a link, so it can't be removed from the text alone.
    return path if ".." in parts else "/".join(parts) or "."


def as_argument(path: str) -> str:
    """A path that no program mistakes for an option or a response file."""
    return f"./{path}" if path.startswith(("-", "@")) else path


def open_regular(path: str | os.PathLike[str], *, dir_fd: int | None = None, follow: bool = True) -> int:
    """A handle on a regular file, for reading. Raises `OSError` for anything else.

    Pipes and devices are not even opened: that would disturb whoever is at the other end, or make something happen.
    """
    if not stat.S_ISREG(os.stat(path, dir_fd=dir_fd, follow_symlinks=follow).st_mode):
        raise OSError(errno.ENXIO, "not a regular file")
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | (0 if follow else os.O_NOFOLLOW)
    handle = os.open(path, flags, dir_fd=dir_fd)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)  # exchanged in between
        raise OSError(errno.ENXIO, "not a regular file")
    return handle
