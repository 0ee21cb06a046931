"""Proposed files: a standard or a skill that an agent suggests. A person sees the diff and accepts it, or doesn't."""

import difflib
import re

from sidecar.memory.notes import Note
from tools.errors import PathDenied, ToolError
from tools.host import FileChange
from tools.local.files import apply_change, whole_file
from tools.local.root import WorkspaceRoot

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
_FILES = {"standards": ".brain/standards/{}.md", "skills": ".brain/skills/{}/SKILL.md"}
_MAX_BYTES = 1 << 20


def is_file(note: Note) -> bool:
    """Whether accepting the note writes a file, which then takes its place."""
    return note.kind in _FILES


def problem_with(kind: str, title: str, text: str) -> str:
    """Why this can't become a file; "" if it can."""
    if kind not in _FILES:
        return ""
    if _NAME.fullmatch(title) is None:
        return "The title names the file: lower-case letters, digits and hyphens only, such as `error-handling`."
    if kind == "skills" and not re.match(r"---\n(?:.*\n)*?description:\s*\S.*\n(?:.*\n)*?---\n", text):
        return "A skill begins with front matter: `---`, `name: …`, `description: …`, `---`."
    return ""


def path_of_proposal(note: Note) -> str:
    return _FILES[note.kind].format(note.title)


def render_diff(note: Note) -> str:
    """What accepting the note changes in its workspace."""
    if not is_file(note):
        return ""
    path = path_of_proposal(note)
    root = WorkspaceRoot(note.workspace)
    try:
        before = _read(root, path)
    except (ToolError, OSError):
        return ""
    finally:
        root.close()
    old = (before or b"").decode("utf-8", "replace").splitlines(keepends=True)
    new = _content(note).decode().splitlines(keepends=True)
    return "".join(difflib.unified_diff(old, new, "/dev/null" if before is None else f"a/{path}", f"b/{path}"))


def write_proposal(note: Note) -> None:
    """Raises `ToolError` if the file can't be written, or if a link would put the text into another file."""
    root = WorkspaceRoot(note.workspace)
    try:
        path = path_of_proposal(note)
        apply_change(root, FileChange(path, _read(root, path), _content(note), located=True))
    finally:
        root.close()


def _read(root: WorkspaceRoot, path: str) -> bytes | None:
    if (real := root.real(path)) != path:
        # What you accept is a change of the file that the proposal names, and of no other.
        raise PathDenied(f"{path} leads to {real} through a link.", advice="Replace the link by a file.")
    if not root.seems_regular(path):
        return None
    return whole_file(root, path, _MAX_BYTES)[1]


def _content(note: Note) -> bytes:
    return f"{note.text.rstrip()}\n".encode()
