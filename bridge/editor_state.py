"""What editors report about their workspaces: changed files, the focused file, and diagnostics."""

import os
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from pydantic import JsonValue

from sidecar.wire.base import JsonObject
from sidecar.wire.bridge import Diagnostic, NotifyFrame
from sidecar.wire.text import plural
from tools.spec import ToolResult

DIAGNOSTICS_TOOL = "get_diagnostics"
_MAX_WORKSPACES = 64
_MAX_PATHS = 1_000
_MAX_PER_PATH = 200
_MAX_SHOWN = 200

Stamp = tuple[int, int] | None


@dataclass(slots=True)
class _Workspace:
    focus: str | None = None
    unsaved: frozenset[str] | None = None
    #: Those of an editor that is asked for them.
    answered: frozenset[str] = frozenset()
    found: OrderedDict[str, tuple[Stamp, list[Diagnostic]]] = field(default_factory=OrderedDict)


class EditorState:
    """Calls `changed` with the absolute path of every changed file."""

    def __init__(self, changed: Callable[[str], None]) -> None:
        self._changed = changed
        self._workspaces: OrderedDict[str, _Workspace] = OrderedDict()

    def update(self, workspace: str, frame: NotifyFrame) -> None:
        state = self._workspaces.setdefault(workspace, _Workspace())
        self._workspaces.move_to_end(workspace)
        if len(self._workspaces) > _MAX_WORKSPACES:
            self._workspaces.popitem(last=False)
        named = [frame.path] if frame.path is not None else []
        paths = _relative_paths(workspace, [*named, *(frame.paths or ())])
        if frame.event == "unsaved":
            state.unsaved = frozenset(islice(paths, _MAX_PATHS))
            return
        for path in paths:
            match frame.event:
                case "file_changed":
                    state.found.pop(path, None)
                    self._changed(f"{workspace}/{path}")
                case "diagnostics":
                    found = list(frame.diagnostics or ())[:_MAX_PER_PATH]
                    state.found[path] = (_stamp(workspace, path), found)
                    state.found.move_to_end(path)
                    if len(state.found) > _MAX_PATHS:
                        state.found.popitem(last=False)
                case "focus":
                    state.focus = path

    def focus(self, workspace: str) -> str | None:
        state = self._workspaces.get(workspace)
        return state.focus if state else None

    def unsaved(self, workspace: str, paths: Iterable[str]) -> list[str] | None:
        """Which of these files have unsaved changes; `None` if no editor reports them."""
        state = self._workspaces.get(workspace)
        if state is None or (state.unsaved is None and not state.answered):
            return None
        known = state.answered | (state.unsaved or frozenset())
        return [path for path in _relative_paths(workspace, paths) if path in known]

    def answer_unsaved(self, workspace: str, asked: Iterable[str], unsaved: Iterable[str]) -> None:
        """What an editor answered about some files."""
        state = self._workspaces.setdefault(workspace, _Workspace())
        others = state.answered - frozenset(_relative_paths(workspace, asked))
        state.answered = frozenset(islice((*_relative_paths(workspace, unsaved), *others), _MAX_PATHS))

    def forget_unsaved(self, workspace: str) -> None:
        """A shell connected: it reports its unsaved files itself, if at all."""
        if workspace in self._workspaces:
            self._workspaces[workspace].unsaved = None
            self._workspaces[workspace].answered = frozenset()

    def all_unsaved(self, workspace: str) -> Iterable[str]:
        state = self._workspaces.get(workspace)
        return () if state is None else state.answered | (state.unsaved or frozenset())

    def diagnostics(self, workspace: str) -> dict[str, list[Diagnostic]] | None:
        """By path; `None` if there are none, or a file has changed since."""
        state = self._workspaces.get(workspace)
        if state is None or not state.found:
            return None
        if any(_stamp(workspace, path) != stamp for path, (stamp, _) in state.found.items()):
            return None
        return {path: found for path, (_, found) in state.found.items()}


def render_diagnostics(
    found: Mapping[str, Sequence[Diagnostic]], args: JsonObject, workspace: str, shell: str
) -> ToolResult:
    """The result of `get_diagnostics`, for a shell that reports diagnostics but doesn't offer the tool."""
    given = args.get("paths")
    named = [path for path in given if isinstance(path, str)] if isinstance(given, list) else []
    asked = [_relative(workspace, path) or path for path in named] or [*found]
    lines: list[str] = []
    shown: list[JsonValue] = []
    errors = 0
    for path in asked:
        for each in sorted(found.get(path, ()), key=lambda each: (each.line, each.column)):
            errors += each.severity == "error"
            lines.append(f"{path}:{each.line}:{each.column} {each.severity}: {each.message}")
            shown.append(
                {
                    "path": path,
                    "line": each.line,
                    "column": each.column,
                    "severity": each.severity,
                    "message": each.message,
                    "checker": each.source or shell,
                    "new": False,
                }
            )
    unknown = [path for path in asked if path not in found]
    notes = [f"{shell} has reported nothing about {', '.join(unknown[:20])}."] if unknown else []
    if len(lines) > _MAX_SHOWN:
        lines[_MAX_SHOWN:] = [f"… {len(lines) - _MAX_SHOWN} more"]
    warnings = len(shown) - errors
    return ToolResult(
        content="\n".join([*(lines or ["No problems found."]), *notes, f"checked with: {shell}"]),
        details={"diagnostics": shown[:_MAX_SHOWN], "checkers": [shell], "new": 0},
        summary=f"{plural(errors, 'error')}, {plural(warnings, 'warning')} ({shell})",
    )


def _relative(workspace: str, path: str) -> str | None:
    """A path below the workspace, however it is written; `None` for one outside."""
    name = os.path.normpath(path if os.path.isabs(path) else f"{workspace}/{path}")  # noqa: PTH117 text, as it came
    return name[len(workspace) + 1 :] if name.startswith(f"{workspace}/") else None


def _relative_paths(workspace: str, paths: Iterable[str]) -> Iterable[str]:
    return (name for path in paths if "\0" not in path and (name := _relative(workspace, path)) is not None)


def _stamp(workspace: str, path: str) -> Stamp:
    try:
        found = os.stat(f"{workspace}/{path}")  # noqa: PTH116 a Path costs more than the call
    except (OSError, ValueError):
        return None
    return found.st_size, found.st_mtime_ns
