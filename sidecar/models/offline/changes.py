"""What a diff and a status say, in words: which files and symbols changed, and a message for a commit of it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from sidecar.models.port import ToolReturn

_STATE = re.compile(r"^(?P<state>[ MADRCTU?!]{2}) (?P<path>.+?)(?: \(from (?P<origin>.+)\))?$")
_SYMBOL = re.compile(
    r"^\s*(?:export\s+)?(?:default\s+)?(?:abstract\s+)?(?:pub(?:\([^)]*\))?\s+)?(?:async\s+)?"
    r"(?:def|class|function\*?|interface|type|enum|fn|func|struct|trait)\s+(?:\([^)]*\)\s*)?([A-Za-z_$][\w$]*)"
)
_CONST = re.compile(r"^(?:export\s+)?const\s+([A-Za-z_$][\w$]*)\s*=\s*(?:async\s*)?\(")
_HUNK = re.compile(r"^@@ [^@]* @@ ?(.*)$")
_TEST = re.compile(
    r"(^|/)(tests?|__tests__|spec|e2e)/|(^|/)(test_[^/]*|conftest\.py|[^/]*(_test|\.test|\.spec)\.[^/]+)$"
)
_BUILD = re.compile(
    r"(^|/)(package(-lock)?\.json|pyproject\.toml|setup\.(py|cfg)|requirements[^/]*\.txt|Cargo\.(toml|lock)|go\.(mod|sum)|"
    r"Makefile|Dockerfile|[^/]*\.lock|pnpm-lock\.yaml|tsconfig[^/]*\.json)$"
)
_CI = re.compile(r"^\.github/|^\.gitlab-ci|^\.circleci/|(^|/)Jenkinsfile$")
_DOCS = re.compile(r"\.(md|rst|txt|adoc)$|^docs?/|(^|/)LICEN[CS]E")
_STYLE = re.compile(r"\.(css|scss|sass|less)$")
#: What programs leave behind: nobody means it when they speak of their changes.
_LEFT = re.compile(
    r"(^|/)(__pycache__|node_modules|\.venv|venv|\.pytest_cache|\.mypy_cache|\.ruff_cache|\.DS_Store|\.idea|coverage|"
    r"[^/]*\.egg-info)/?$|\.pyc$"
)
_SUBJECT = 72


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
        elif hunk := _HUNK.match(line):
            within = _Within()
            within.read(hunk[1])
        elif within.begun:
            _take(current, within, line)
    for change in known.values():
        both = set(change.added) & set(change.removed)
        change.touched += [name for name in change.added if name in both]
        change.added = [name for name in change.added if name not in both]
        change.removed = [name for name in change.removed if name not in both]
    return list(known.values())


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
    names, count = (change.added, "plus") if line[0] == "+" else (change.removed, "minus")
    setattr(change, count, getattr(change, count) + 1)
    if name := _symbol(line[1:]):
        if name not in names:
            names.append(name)
    elif within.name and line[1:].strip():
        change.touched.append(within.name)


def _symbol(line: str) -> str | None:
    found = _SYMBOL.match(line) or _CONST.match(line)
    return found[1] if found else None


def message(changes: Sequence[Change]) -> str:
    """A conventional commit message that says what changed. Why it changed, no diff can say."""
    kind = _kind(changes)
    scope = _scope(changes)
    subject = f"{kind}{f'({scope})' if scope else ''}: {_subject(changes)}"
    if len(subject) > _SUBJECT:
        subject = f"{subject[: _SUBJECT - 1].rstrip(' ,')}…"
    body = [_line(change) for change in changes]
    return subject if len(changes) == 1 and len(body[0]) < 60 else "\n".join([subject, "", *body[:30]])


def _kind(changes: Sequence[Change]) -> str:
    paths = [change.path for change in changes]
    for kind, pattern in (("ci", _CI), ("test", _TEST), ("docs", _DOCS), ("build", _BUILD), ("style", _STYLE)):
        if all(pattern.search(path) for path in paths):
            return kind
    code = [change for change in changes if not _TEST.search(change.path) and not _DOCS.search(change.path)]
    if any(change.how == "added" or _public(change.added) for change in code):
        return "feat"
    if all(change.how in ("deleted", "renamed") for change in code):
        return "refactor"
    # Whether it mends a fault or only looks better, the lines do not say.
    return "change"


def _public(names: Sequence[str]) -> list[str]:
    return [name for name in names if not name.startswith("_")]


def _scope(changes: Sequence[Change]) -> str:
    code = [change for change in changes if not _TEST.search(change.path) and not _DOCS.search(change.path)]
    if len(code) == 1:
        return PurePosixPath(code[0].path).stem.partition(".")[0] if "/" in code[0].path else ""
    folders = {str(PurePosixPath(change.path).parent) for change in code}
    common = folders.pop() if len(folders) == 1 else ""
    return "" if common in ("", ".", "src", "lib") else PurePosixPath(common).name


def _subject(changes: Sequence[Change]) -> str:
    parts = []
    for word, names in (
        ("add", [name for change in changes for name in _public(change.added) if not _TEST.search(change.path)]),
        ("add", [change.name for change in changes if change.how == "added" and not _public(change.added)]),
        ("remove", [change.name for change in changes if change.how == "deleted"]),
        ("remove", [name for change in changes if change.how != "deleted" for name in _public(change.removed)]),
        ("rename", [f"{PurePosixPath(change.origin).name} to {change.name}" for change in changes if change.origin]),
        ("change", [name for change in changes if change.how == "changed" for name in change.symbols()]),
    ):
        if names:
            parts.append(f"{word} {_some(names)}")
    if not parts:
        return f"update {_some([change.name for change in changes])}"
    return ", ".join(dict.fromkeys(parts[:2]))


def _some(names: Sequence[str], most: int = 3) -> str:
    unique = list(dict.fromkeys(names))
    if len(unique) > most:
        return f"{', '.join(unique[: most - 1])} and {len(unique) - most + 1} more"
    return " and ".join(filter(None, (", ".join(unique[:-1]), unique[-1])))


def _line(change: Change) -> str:
    said = []
    if change.how == "renamed":
        said.append(f"renamed from {change.origin}")
    elif change.how in ("added", "deleted"):
        new = "new folder" if change.path.endswith("/") else "new file"
        said.append(new if change.how == "added" else "deleted")
    if change.how != "deleted":
        said += [f"add {_some(change.added, 4)}"] if change.added else []
        said += [f"remove {_some(change.removed, 4)}"] if change.removed else []
        said += [f"change {_some(change.symbols(), 4)}"] if change.symbols() else []
    if not said:
        said.append(f"+{change.plus} −{change.minus} lines")
    return f"- {change.path}: {'; '.join(said)}"
