"""Renders a task for a session: like `brain run`, with reading calls folded into one line and edits as diffs."""

from collections import Counter
from typing import Any

from sidecar.commands.render import TaskRenderer
from sidecar.commands.text import Style, paint_diff, safe, safe_line

Event = dict[str, Any]

DIFF_ROWS = 40
_VERBS = {
    "read_file": "read {} file",
    "read_files": "read files {} time",
    "list_dir": "listed {} directory",
    "search_code": "searched {} time",
    "find_files": "looked for files {} time",
    "find_symbols": "looked up symbols {} time",
}
_FOLDED = frozenset({*_VERBS, "read_directory_tree", "find_code", "impact", "recall", "analyze_code"}) | {
    "get_workspace_info",
    "get_diagnostics",
    "git_status",
    "git_diff",
    "git_log",
    "git_show",
    "git_blame",
}


class SessionRenderer(TaskRenderer):
    def __init__(self, style: Style, columns: int) -> None:
        super().__init__(style, columns, wrap=True)
        self._folded: list[tuple[str, list[str]]] = []
        #: The lines behind the last folded one.
        self.last_fold: list[str] = []

    def render(self, event: Event, connected_at: str = "") -> list[str]:
        lines = super().render(event, connected_at)
        if event["type"] == "tool" and event["status"] == "success" and lines:
            if event["tool"] in _FOLDED:
                # The call's own line is the last one; text before it was said earlier.
                self._folded.append((event["tool"], lines[-1:]))
                return [*self.unfold(), *lines[:-1]] if lines[:-1] else []
            lines += self._diff(event)
        return [*self.unfold(), *lines] if lines else []

    def live(self, elapsed: float, columns: int) -> list[str]:
        lines = super().live(elapsed, columns)
        return [self._fold_line(), *lines] if self._folded and lines else lines

    def unfold(self) -> list[str]:
        """The one line for the reading calls so far."""
        if not self._folded:
            return []
        line = self._fold_line()
        self.last_fold = [row for _, rows in self._folded for row in rows]
        self._folded = []
        return [line]

    def _fold_line(self) -> str:
        parts = []
        for tool, count in Counter(tool for tool, _ in self._folded).items():
            words = _VERBS.get(tool, f"{tool.replace('_', ' ')} {{}} time").format(count)
            plural = words.removesuffix("y") + "ies" if words.endswith("y") else f"{words}s"
            parts.append(words if count == 1 else plural)
        text = ", ".join(parts)
        return f"  {self._style.green('✓')} {self._style.dim(safe_line(text[:1].upper() + text[1:]))}"

    def _diff(self, event: Event) -> list[str]:
        details = event.get("details")
        files = details.get("files") if isinstance(details, dict) else None
        rows: list[str] = []
        for file in files if isinstance(files, list) else ():
            text = file.get("diff") if isinstance(file, dict) else None
            # Without the two lines of file names, which the call's own line has.
            rows += safe(text).split("\n")[2:] if isinstance(text, str) else []
        shown = [f"    {paint_diff(self._style, row)}" for row in rows[:DIFF_ROWS]]
        more = [self._style.dim(f"    … {len(rows) - DIFF_ROWS} more lines: /diff")] if len(rows) > DIFF_ROWS else []
        return [*shown, *more]
