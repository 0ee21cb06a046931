"""One name for a file, whichever way its path was written; and how a program is told it."""

import os


def normalize(path: str, workspace: str) -> str:
    """A path from the workspace, without dots, also of what was written absolutely; what leads elsewhere stays.

    The workspace itself is `.`.
    """
    name = path
    if path.startswith("/"):
        root = workspace.rstrip("/")
        if not f"{path}/".startswith(f"{root}/"):
            root = os.path.realpath(workspace).rstrip("/")
        if not f"{path}/".startswith(f"{root}/"):
            return path
        name = path[len(root) :]
    parts = [part for part in name.split("/") if part not in ("", ".")]
    # What goes up again may go through a link, and who follows it by its text ends somewhere else.
    return path if ".." in parts else "/".join(parts) or "."


def as_argument(path: str) -> str:
    """A path that a program takes for one, also where its name begins like an option or like a file of options."""
    return f"./{path}" if path.startswith(("-", "@")) else path
