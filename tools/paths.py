"""One name for a file, whichever way its path was written."""

import os


def plain(path: str, workspace: str) -> str:
    """A path from the workspace, without dots, also of what was written absolutely; what leads elsewhere stays."""
    for root in (workspace, os.path.realpath(workspace)) if path.startswith("/") else ():
        path = path.removeprefix(f"{root.rstrip('/')}/")
    parts = [part for part in path.split("/") if part not in ("", ".")]
    # What goes up again may go through a link, and who follows it by its text ends somewhere else.
    return path if path.startswith("/") or ".." in parts or not parts else "/".join(parts)
