"""What a diff and a status say: which files and symbols changed, and how."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from sidecar.models.port import ToolReturn
from sidecar.offline.renames import Line, otherwise, renamed_symbols

_STATE = re.compile(r"^(?P<state>[ MADRCTU?!]{2}) (?P<path>.+?)(?: \(from (?P<origin>.+)\))?$")
_SYMBOL = re.compile(
    r"^\s*(?:export\s+)?(?:default\s+)?(?:abstract\s+)?(?:pub(?:\([^)]*\))?\s+)?(?:async\s+)?"
    r"(?:def|class|function\*?|interface|type|enum|fn|func|struct|trait)\s+(?:\([^)]*\)\s*)?([A-Za-z_$][\w$]*)"
)
_CONST = re.compile(r"^(?:export\s+)?const\s+([A-Za-z_$][\w$]*)\s*=\s*(?:async\s*)?\(")
_HUNK = re.compile(r"^@@ [^@]* @@ ?(.*)$")
#: What programs leave behind: nobody means it when they speak of their changes.
_LEFT = re.compile(
    r"(^|/)(__pycache__|node_modules|\.venv|venv|\.pytest_cache|\.mypy_cache|\.ruff_cache|\.DS_Store|\.idea|coverage|"
    r"[^/]*\.egg-info)/?$|\.pyc$"
)


@dataclass(slots=True)
class Change:
    path: str
    #: added, deleted, renamed, changed
    how: str = "changed"
    staged: bool = False
    origin: str = ""
    plus: int = 0
    minus: int = 0
    added: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    touched: list[str] = field(default_factory=list)
    #: The symbols that have another name now, by the one that they had.
    renames: dict[str, str] = field(default_factory=dict)
    lines: list[Line] = field(default_factory=list)
    #: Nothing in it is otherwise than that names of the project are others now.
    only_renames: bool = False

    @property
    def name(self) -> str:
        return PurePosixPath(self.path).name + ("/" if self.path.endswith("/") else "")

    def symbols(self) -> list[str]:
        """The symbols that are in it still, but otherwise than before."""
        return [name for name in dict.fromkeys(self.touched) if name not in self.added and name not in self.removed]


def meant(changes: Sequence[Change]) -> tuple[list[Change], list[str]]:
    """What a person means by their changes, and what programs have left beside it."""
    left = [each.path for each in changes if each.how == "added" and not each.staged and _LEFT.search(each.path)]
    return [each for each in changes if each.path not in left], left


def changes_in(returns: Sequence[ToolReturn]) -> list[Change]:
    """From what `git_status` and `git_diff` returned, in this order."""
    _, changes = read_status(returns[0].content)
    return read_diff(returns[1].content if returns[1].status == "success" else "", changes)


def read_status(text: str) -> tuple[str, list[Change]]:
    """The branch as Git says it, and what is not committed."""
    first, *lines = text.splitlines() or [""]
    changes = []
    for line in lines:
        if found := _STATE.match(line):
            state = found["state"]
            how = "added" if "?" in state or "A" in state else "deleted" if "D" in state else "changed"
            how = "renamed" if state[0] == "R" else "conflicted" if "U" in state or state == "AA" else how
            staged = state[0] not in " ?"
            changes.append(Change(found["path"].strip('"'), how, staged, found["origin"] or ""))
    return first.removeprefix("on "), changes


def read_diff(text: str, changes: Sequence[Change]) -> list[Change]:
    """The changes with their lines and symbols; a file that only the diff knows is added to them."""
    known = {change.path: change for change in changes}
    current, within = Change(""), _Within()
    for line in text.splitlines():
        if line.startswith("diff --git "):
            path = line.rpartition(" b/")[2].strip('"')
            current, within = known.setdefault(path, Change(path)), _Within()
        elif line.startswith("new file mode"):
            current.how = "added"
        elif line.startswith("deleted file mode"):
            current.how = "deleted"
        elif line.startswith("rename from "):
            current.how, current.origin = "renamed", line.removeprefix("rename from ").strip('"')
        elif hunk := _HUNK.match(line):
            within = _Within()
            within.read(hunk[1])
        elif within.begun:
            _take(current, within, line)
    for change in known.values():
        change.renames = renamed_symbols(change.lines)
    names = {old: new for change in known.values() for old, new in change.renames.items()}
    for change in known.values():
        _sum_up(change, names)
    return list(known.values())


def _sum_up(change: Change, names: dict[str, str]) -> None:
    """The symbols that came, went, or are otherwise; what has only another name is none of these."""
    lines = otherwise(change.lines, names) if names else change.lines
    change.only_renames = bool(change.lines) and not lines
    added, removed = ([each.defines for each in lines if each.sign == sign and each.defines] for sign in "+-")
    both = set(added) & set(removed)
    change.added = [name for name in dict.fromkeys(added) if name not in both]
    change.removed = [name for name in dict.fromkeys(removed) if name not in both]
    inside = (each.within if not each.defines else each.defines for each in lines if each.text.strip())
    change.touched = [name for name in inside if name and name not in {*change.added, *change.removed}]


class _Within:
    """The symbol that the lines of a hunk stand in, as far as their indentation tells."""

    def __init__(self) -> None:
        self.name: str | None = None
        self.begun = False
        self._indent = 0

    def read(self, line: str) -> None:
        self.begun = True
        indent = len(line) - len(line.lstrip())
        if name := _symbol(line):
            self.name, self._indent = name, indent
        elif line.strip() and indent <= self._indent and not line.lstrip().startswith(("}", ")", "]")):
            self.name = None


def _take(change: Change, within: _Within, line: str) -> None:
    within.read(line[1:])
    if line[:1] not in ("+", "-"):
        return
    count = "plus" if line[0] == "+" else "minus"
    setattr(change, count, getattr(change, count) + 1)
    change.lines.append(Line(line[0], line[1:], _symbol(line[1:]) or "", within.name or ""))


def _symbol(line: str) -> str | None:
    found = _SYMBOL.match(line) or _CONST.match(line)
    return found[1] if found else None
