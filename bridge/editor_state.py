"""What the editors have said of their workspaces: which files changed, and what their language servers found."""

import os
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from sidecar.wire.bridge import Diagnostic, NotifyFrame

MOST_WORKSPACES = 64
MOST_PATHS = 1_000
MOST_OF_A_PATH = 200

Changed = Callable[[str], None]
Stamp = tuple[int, int] | None


@dataclass(slots=True)
class _Workspace:
    focus: str | None = None
    found: OrderedDict[str, tuple[Stamp, list[Diagnostic]]] = field(default_factory=OrderedDict)


class EditorState:
    """`changed` is told the absolute path of every file that an editor says has changed."""

    def __init__(self, changed: Changed) -> None:
        self._changed = changed
        self._workspaces: OrderedDict[str, _Workspace] = OrderedDict()

    def take(self, workspace: str, frame: NotifyFrame) -> None:
        notes = self._workspaces.setdefault(workspace, _Workspace())
        self._workspaces.move_to_end(workspace)
        if len(self._workspaces) > MOST_WORKSPACES:
            self._workspaces.popitem(last=False)
        paths = [frame.path] if frame.path is not None else []
        for path in _relative(workspace, [*paths, *(frame.paths or ())]):
            match frame.event:
                case "file_changed":
                    notes.found.pop(path, None)
                    self._changed(f"{workspace}/{path}")
                case "diagnostics":
                    found = list(frame.diagnostics or ())[:MOST_OF_A_PATH]
                    notes.found[path] = (_stamp(workspace, path), found)
                    notes.found.move_to_end(path)
                    if len(notes.found) > MOST_PATHS:
                        notes.found.popitem(last=False)
                case "focus":
                    notes.focus = path

    def focus(self, workspace: str) -> str | None:
        notes = self._workspaces.get(workspace)
        return notes.focus if notes else None

    def diagnostics(self, workspace: str) -> dict[str, list[Diagnostic]] | None:
        """By path; nothing unless something was said, and is still of the files as they are now."""
        notes = self._workspaces.get(workspace)
        if notes is None or not notes.found:
            return None
        if any(_stamp(workspace, path) != stamp for path, (stamp, _) in notes.found.items()):
            return None
        return {path: found for path, (_, found) in notes.found.items()}


def relative(workspace: str, path: str) -> str | None:
    """A path below the workspace, however it was written; nothing for one outside."""
    name = os.path.normpath(path if os.path.isabs(path) else f"{workspace}/{path}")  # noqa: PTH117 text, as it came
    return name[len(workspace) + 1 :] if name.startswith(f"{workspace}/") else None


def _relative(workspace: str, paths: Iterable[str]) -> Iterable[str]:
    return (name for path in paths if "\0" not in path and (name := relative(workspace, path)) is not None)


def _stamp(workspace: str, path: str) -> Stamp:
    try:
        found = os.stat(f"{workspace}/{path}")  # noqa: PTH116 a Path costs more than the call
    except (OSError, ValueError):
        return None
    return found.st_size, found.st_mtime_ns
