"""Reads the result of `git_status` and `git_diff`: which files and symbols changed, and how."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import NamedTuple

from sidecar.models.port import ToolReturn
from sidecar.offline.results import records
from sidecar.wire.base import JsonObject
from tools.patch import read_diff
from tools.skipped import is_skipped

_SYMBOL = re.compile(
    r"^\s*(?:export\s+)?(?:default\s+)?(?:abstract\s+)?(?:pub(?:\([^)]*\))?\s+)?(?:async\s+)?"
    r"(?:def|class|function\*?|interface|type|enum|fn|func|struct|trait)\s+(?:\([^)]*\)\s*)?([A-Za-z_$][\w$]*)"
)
_CONST = re.compile(r"^(?:export\s+)?const\s+([A-Za-z_$][\w$]*)\s*=\s*(?:async\s*)?\(")
#: Files that programs leave behind; people don't mean them by “my changes”.
_LEFTOVER = re.compile(r"(^|/)(\.idea|coverage|[^/]*\.egg-info)/?$")
#: Share of common lines that makes two files the same, as in Git.
_SIMILAR = 0.5


class Line(NamedTuple):
    """An added (`+`) or removed (`-`) line, the symbol that it defines, and the one that contains it."""

    sign: str
    text: str
    defines: str = ""
    within: str = ""


@dataclass(slots=True)
class Change:
    path: str
    #: added, deleted, renamed, changed, conflicted
    how: str = "changed"
    staged: bool = False
    origin: str = ""
    plus: int = 0
    minus: int = 0
    added: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    touched: list[str] = field(default_factory=list)
    #: New names of renamed symbols, by their old ones.
    renames: dict[str, str] = field(default_factory=dict)
    lines: list[Line] = field(default_factory=list)
    #: Whether every changed line differs only by renamed symbols.
    only_renames: bool = False

    @property
    def name(self) -> str:
        return PurePosixPath(self.path).name + ("/" if self.path.endswith("/") else "")

    def symbols(self) -> list[str]:
        """The symbols that changed, without those that were added or removed."""
        return [name for name in dict.fromkeys(self.touched) if name not in self.added and name not in self.removed]


def without_leftovers(changes: Sequence[Change]) -> tuple[list[Change], list[str]]:
    """The changes without files that programs left behind, and those files."""
    left = [each.path for each in changes if _is_leftover(each)]
    return [each for each in changes if each.path not in left], left


def _is_leftover(change: Change) -> bool:
    new = change.how == "added" and not change.staged
    return new and (is_skipped(change.path) or bool(_LEFTOVER.search(change.path)))


def read_changes(status: ToolReturn, diff: ToolReturn) -> list[Change]:
    """The uncommitted changes, with the lines of the diff."""
    changes = [_read_state(each) for each in records(status, "changes")]
    return _read_lines(diff.content if diff.status == "success" else "", changes)


def _read_state(entry: JsonObject) -> Change:
    """From Git's two letters: the state in the index and in the working tree."""
    state = str(entry["state"])
    how = "added" if "?" in state or "A" in state else "deleted" if "D" in state else "changed"
    how = "renamed" if state[0] == "R" else "conflicted" if "U" in state or state == "AA" else how
    return Change(str(entry["path"]), how, state[0] not in " ?", str(entry.get("from", "")))


def _read_lines(diff: str, changes: Sequence[Change]) -> list[Change]:
    """Add the lines and symbols of a diff to the changes, and the files that only the diff has."""
    known = {change.path: change for change in changes}
    for file in read_diff(diff):
        change = known.setdefault(file.path, Change(file.path))
        if file.source is None or file.target is None:
            change.how = "added" if file.source is None else "deleted"
        elif file.source != file.target:
            change.how, change.origin = "renamed", file.source
        for hunk in file.hunks:
            container = _Container()
            container.read(hunk.heading)
            for line in hunk.lines:
                _add_line(change, container, line)
    for change in known.values():
        change.renames = find_renames(change.lines)
    names = {old: new for change in known.values() for old, new in change.renames.items()}
    for change in known.values():
        _find_symbols(change, names)
    return list(known.values())


def _find_symbols(change: Change, names: dict[str, str]) -> None:
    """Find added, removed and changed symbols; renamed ones are none of these."""
    lines = without_renames(change.lines, names) if names else change.lines
    change.only_renames = bool(change.lines) and not lines
    added, removed = ([each.defines for each in lines if each.sign == sign and each.defines] for sign in "+-")
    both = set(added) & set(removed)
    change.added = [name for name in dict.fromkeys(added) if name not in both]
    change.removed = [name for name in dict.fromkeys(removed) if name not in both]
    inside = (each.within if not each.defines else each.defines for each in lines if each.text.strip())
    change.touched = [name for name in inside if name and name not in {*change.added, *change.removed}]


class _Container:
    """The symbol that contains the current line of a hunk, judged by indentation."""

    def __init__(self) -> None:
        self.name: str | None = None
        self._indent = 0

    def read(self, line: str) -> None:
        indent = len(line) - len(line.lstrip())
        if name := _symbol(line):
            self.name, self._indent = name, indent
        elif line.strip() and indent <= self._indent and not line.lstrip().startswith(("}", ")", "]")):
            self.name = None


def _add_line(change: Change, container: _Container, line: str) -> None:
    container.read(line[1:])
    if line[:1] not in ("+", "-"):
        return
    count = "plus" if line[0] == "+" else "minus"
    setattr(change, count, getattr(change, count) + 1)
    change.lines.append(Line(line[0], line[1:], _symbol(line[1:]) or "", container.name or ""))


def _symbol(line: str) -> str | None:
    found = _SYMBOL.match(line) or _CONST.match(line)
    return found[1] if found else None


def find_renames(lines: Sequence[Line]) -> dict[str, str]:
    """Removed definitions that were added again with only the name changed."""
    removed = {each.defines: each.text for each in lines if each.sign == "-" and each.defines}
    added = {each.defines: each.text for each in lines if each.sign == "+" and each.defines}
    names: dict[str, str] = {}
    for old in (name for name in removed if name not in added):
        left = [name for name in added if name not in removed and name not in names.values()]
        new = next((name for name in left if _apply_renames(removed[old], {old: name}) == added[name]), None)
        if new is not None:
            names[old] = new
    return names


def without_renames(lines: Sequence[Line], names: Mapping[str, str]) -> list[Line]:
    """The lines that changed by more than these names."""
    went = [_apply_renames(each.text, names) for each in lines if each.sign == "-"]
    before = [each.text for each in lines if each.sign == "-"]
    named = Counter(now for now, then in zip(went, before, strict=True) if now != then)
    same = named & Counter(each.text for each in lines if each.sign == "+")
    unmatched = {"+": Counter(same), "-": Counter(same)}
    left = []
    for each in lines:
        text = each.text if each.sign == "+" else _apply_renames(each.text, names)
        if unmatched[each.sign][text] and (each.sign == "+" or text != each.text):
            unmatched[each.sign][text] -= 1
        else:
            left.append(each)
    return left


def is_similar(one: Iterable[str], other: Iterable[str]) -> bool:
    """Whether two files share enough lines to be a move, as Git counts it."""
    mine, theirs = Counter(one), Counter(other)
    most = max(mine.total(), theirs.total())
    return most > 0 and (mine & theirs).total() >= most * _SIMILAR


def _apply_renames(text: str, names: Mapping[str, str]) -> str:
    words = "|".join(map(re.escape, names))
    return re.sub(rf"(?<![\w$])(?:{words})(?![\w$])", lambda found: names[found[0]], text)
