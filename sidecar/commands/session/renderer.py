"""Renders a task for a session: like `brain run`, with reading calls folded into one line and edits as diffs."""

from collections import Counter
from typing import Any

from sidecar.commands.render import TaskRenderer
from sidecar.commands.summary import NextSteps
from sidecar.commands.text import Style, paint_diff, safe, safe_line
from sidecar.wire.text import plural

Event = dict[str, Any]

DIFF_ROWS = 40
#: Calls that only look, as one and as several.
_FOLDED = {
    "read_file": ("read 1 file", "read {} files"),
    "read_files": ("read files", "read files {} times"),
    "list_dir": ("listed a directory", "listed {} directories"),
    "read_directory_tree": ("listed the directories", "listed the directories {} times"),
    "search_code": ("searched", "searched {} times"),
    "find_files": ("looked for files", "looked for files {} times"),
    "find_symbols": ("looked up a symbol", "looked up {} symbols"),
    "find_code": ("searched the index", "searched the index {} times"),
    "impact": ("looked up dependents", "looked up dependents {} times"),
    "similar": ("searched the index", "searched the index {} times"),
    "tests_of": ("looked up tests", "looked up tests {} times"),
    "recall": ("looked at past work", "looked at past work {} times"),
    "analyze_code": ("analyzed 1 file", "analyzed {} files"),
    "describe_file": ("described 1 file", "described {} files"),
    "describe_project": ("described the project", "described the project {} times"),
    "find_commands": ("looked for commands", "looked for commands {} times"),
    "get_workspace_info": ("looked at the workspace", "looked at the workspace {} times"),
    "get_diagnostics": ("read diagnostics", "read diagnostics {} times"),
    "git_status": ("checked Git's status", "checked Git's status {} times"),
    "git_diff": ("looked at a diff", "looked at {} diffs"),
    "git_log": ("read the Git log", "read the Git log {} times"),
    "git_show": ("looked at a commit", "looked at {} commits"),
    "git_blame": ("looked at who changed lines", "looked at who changed lines {} times"),
}


class SessionRenderer(TaskRenderer):
    next_steps = NextSteps(
        "Say it in other words.",
        "A message continues it.",
        "Tell it what to change.",
        "/retry resumes it; a message continues it.",
        "A message continues it from there.",
    )

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
            one, several = _FOLDED[tool]
            parts.append(one if count == 1 else several.format(count))
        text = ", ".join(parts)
        return f"  {self._style.green('✓')} {self._style.dim(safe_line(text[:1].upper() + text[1:]))}"

    def _diff(self, event: Event) -> list[str]:
        details = event.get("details")
        if not isinstance(details, dict) or details.get("preview") is True:
            return []
        found = details.get("files")
        files = [file for file in found if isinstance(file, dict)] if isinstance(found, list) else []
        rows: list[str] = []
        for file in files:
            if not isinstance(text := file.get("diff"), str):
                continue
            # The call's own line names a single file; of several, each has its name.
            rows += [safe_line(str(file.get("path")))] if len(files) > 1 else []
            rows += safe(text).rstrip("\n").split("\n")[2:]
        shown = [f"    {paint_diff(self._style, row)}" for row in rows[:DIFF_ROWS]]
        more = (
            [self._style.dim(f"    … {plural(len(rows) - DIFF_ROWS, 'more line')}: /diff")]
            if len(rows) > DIFF_ROWS
            else []
        )
        return [*shown, *more]
