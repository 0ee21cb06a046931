"""Words a commit message from the changes."""

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from sidecar.offline.changes import Change
from tools.test_files import is_test

_BUILD = re.compile(
    r"(^|/)(package(-lock)?\.json|pyproject\.toml|setup\.(py|cfg)|requirements[^/]*\.txt|Cargo\.(toml|lock)|go\.(mod|sum)|"
    r"Makefile|Dockerfile|[^/]*\.lock|pnpm-lock\.yaml|tsconfig[^/]*\.json)$"
)
_CI = re.compile(r"^\.github/|^\.gitlab-ci|^\.circleci/|(^|/)Jenkinsfile$")
_DOCS = re.compile(r"\.(md|rst|txt|adoc)$|^docs?/|(^|/)LICEN[CS]E")
_STYLE = re.compile(r"\.(css|scss|sass|less)$")
_SUBJECT = 72


def commit_message(changes: Sequence[Change]) -> str:
    """A conventional commit message. It says what changed; a diff can't say why."""
    kind = _kind(changes)
    scope = _scope(changes)
    subject = f"{kind}{f'({scope})' if scope else ''}: {_subject(changes)}"
    if len(subject) > _SUBJECT:
        subject = f"{subject[: _SUBJECT - 1].rstrip(' ,')}…"
    body = [_line(change) for change in changes]
    return subject if len(changes) == 1 and len(body[0]) < 60 else "\n".join([subject, "", *body[:30]])


def _kind(changes: Sequence[Change]) -> str:
    paths = [change.path for change in changes]
    for kind, matches in (
        ("ci", _CI.search),
        ("test", is_test),
        ("docs", _DOCS.search),
        ("build", _BUILD.search),
        ("style", _STYLE.search),
    ):
        if all(matches(path) for path in paths):
            return kind
    code = [change for change in changes if not is_test(change.path) and not _DOCS.search(change.path)]
    if any(change.how == "added" or _public(change.added) for change in code):
        return "feat"
    if all(change.how in ("deleted", "renamed") or change.only_renames for change in code):
        return "refactor"
    # The lines don't say whether it fixes a bug.
    return "change"


def _public(names: Sequence[str]) -> list[str]:
    return [name for name in names if not name.startswith("_")]


def _scope(changes: Sequence[Change]) -> str:
    code = [change for change in changes if not is_test(change.path) and not _DOCS.search(change.path)]
    if len(code) == 1:
        return PurePosixPath(code[0].path).stem.partition(".")[0] if "/" in code[0].path else ""
    folders = {str(PurePosixPath(change.path).parent) for change in code}
    common = folders.pop() if len(folders) == 1 else ""
    return "" if common in ("", ".", "src", "lib") else PurePosixPath(common).name


def _subject(changes: Sequence[Change]) -> str:
    parts = []
    for word, names in (
        ("rename", [f"{old} to {new}" for change in changes for old, new in change.renames.items()]),
        ("rename", [_renamed(change) for change in changes if change.how == "renamed" and not _moved(change)]),
        ("move", [_renamed(change) for change in changes if change.how == "renamed" and _moved(change)]),
        ("add", [name for change in changes for name in _public(change.added) if not is_test(change.path)]),
        ("add", [change.name for change in changes if change.how == "added" and not _public(change.added)]),
        ("remove", [change.name for change in changes if change.how == "deleted"]),
        ("remove", [name for change in changes if change.how != "deleted" for name in _public(change.removed)]),
        ("change", [name for change in changes if change.how == "changed" for name in change.symbols()]),
    ):
        if names:
            parts.append(f"{word} {_some(names)}")
    if not parts:
        return f"update {_some([change.name for change in changes])}"
    return ", ".join(dict.fromkeys(parts[:2]))


def _moved(change: Change) -> bool:
    return PurePosixPath(change.origin).name == change.name


def _renamed(change: Change) -> str:
    old, new = PurePosixPath(change.origin), PurePosixPath(change.path)
    if _moved(change):
        return f"{old.name} to {'the top' if str(new.parent) == '.' else f'{new.parent}/'}"
    return f"{old.name} to {new.name if old.parent == new.parent else new}"


def _some(names: Sequence[str], most: int = 3) -> str:
    unique = list(dict.fromkeys(names))
    if len(unique) > most:
        return f"{', '.join(unique[: most - 1])} and {len(unique) - most + 1} more"
    return " and ".join(filter(None, (", ".join(unique[:-1]), unique[-1])))


def _line(change: Change) -> str:
    parts = []
    if change.how == "renamed":
        parts.append(f"{'moved' if _moved(change) else 'renamed'} from {change.origin}")
    elif change.how in ("added", "deleted"):
        new = "new folder" if change.path.endswith("/") else "new file"
        parts.append(new if change.how == "added" else "deleted")
    parts += [f"rename {old} to {new}" for old, new in list(change.renames.items())[:4]]
    if change.how != "deleted":
        parts += [f"add {_some(change.added, 4)}"] if change.added else []
        parts += [f"remove {_some(change.removed, 4)}"] if change.removed else []
        parts += [f"change {_some(change.symbols(), 4)}"] if change.symbols() else []
    if not parts and change.only_renames:
        parts.append("use the new names")
    elif not parts:
        parts.append(f"+{change.plus} −{change.minus} lines")
    return f"- {change.path}: {'; '.join(parts)}"
