"""One name per file, however its path was written."""

import os
from collections.abc import Iterator


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


def folder_prefix(folder: str) -> str:
    """What the paths below a folder begin with; nothing for the workspace itself."""
    return "" if folder in (".", "") else f"{folder.rstrip('/')}/"


def parents(path: str) -> Iterator[str]:
    """The folders around a relative path, innermost first; the workspace itself is empty."""
    while path:
        path = path.rpartition("/")[0]
        yield path


def as_argument(path: str) -> str:
    """A path that no program mistakes for an option or a response file."""
    return f"./{path}" if path.startswith(("-", "@")) else path
