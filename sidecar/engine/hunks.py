"""A change of one file as hunks that you can reject one by one."""

import stat
from collections.abc import Collection, Sequence
from difflib import SequenceMatcher
from hashlib import sha256
from typing import Literal

from sidecar.wire.tasks import DiffLine, FileDiff, Hunk

CONTEXT = 3
LARGEST = 2 * 1024 * 1024

Opcode = tuple[str, int, int, int, int]


_NO_TEXT = "Not text, or too large to show. You can rewind it, but not reject parts of it."
_LINK = "A link, now or before. You can rewind it, but not reject parts of it."


def file_diff(
    path: str,
    before: bytes | None,
    after: bytes | None,
    states: dict[str, str],
    modes: tuple[int | None, int | None] = (None, None),
) -> FileDiff:
    change: Literal["created", "deleted", "modified"]
    change = "created" if before is None else "deleted" if after is None else "modified"
    header, note = _modes(path, before is not None, after is not None, modes)
    old, new = _lines(before), _lines(after)
    linked = any(stat.S_ISLNK(mode or 0) for mode in modes)
    if old is None or new is None or linked:
        return FileDiff(
            path=path, change=change, added=0, removed=0, diff="", hunks=[], note=_LINK if linked else _NO_TEXT
        )
    groups = _groups(old, new)
    ids = _ids(path, groups, old, new)
    hunks = [_hunk(hunk_id, group, old, new, states) for hunk_id, group in zip(ids, groups, strict=True)]
    lines = [line.kind for hunk in hunks for line in hunk.lines]
    return FileDiff(
        path=path,
        change=change,
        added=lines.count("added"),
        removed=lines.count("removed"),
        diff=header + _patch(path, before, after, [_text(group, old, new) for group in groups]),
        hunks=hunks,
        note=note,
    )


def unkept(path: str, change: Literal["created", "deleted", "modified"], why: str) -> FileDiff:
    """A change whose content can't be shown, with the reason."""
    return FileDiff(path=path, change=change, added=0, removed=0, diff="", hunks=[], note=why)


def _modes(path: str, was: bool, now: bool, modes: tuple[int | None, int | None]) -> tuple[str, str | None]:
    """The mode lines of a Git patch, and the same in words."""
    before, after = modes
    start = f"diff --git a/{path} b/{path}\n"
    if was and now and before is not None and after is not None and before != after:
        note = f"Mode changed from {stat.S_IMODE(before):o} to {stat.S_IMODE(after):o}."
        return f"{start}old mode {_git_mode(before)}\nnew mode {_git_mode(after)}\n", note
    if was != now and (mode := after if now else before) is not None and mode & 0o100:
        return f"{start}{'new' if now else 'deleted'} file mode {_git_mode(mode)}\n", None
    return "", None


def _git_mode(mode: int) -> str:
    return "100755" if mode & 0o100 else "100644"


def _patch(path: str, before: bytes | None, after: bytes | None, hunks: Sequence[str]) -> str:
    if not hunks and before is not None and after is not None:
        return ""
    source, target = "/dev/null" if before is None else f"a/{path}", "/dev/null" if after is None else f"b/{path}"
    return f"--- {source}\n+++ {target}\n" + "".join(hunks)


def _text(group: Sequence[Opcode], old: Sequence[str], new: Sequence[str]) -> str:
    """A hunk in patch format, with a note if its last line has no newline."""
    parts = [_header(group) + "\n"]
    for tag, i1, i2, j1, j2 in group:
        if tag == "equal":
            parts += [f" {line}" for line in old[i1:i2]]
        else:
            parts += [f"-{line}" for line in old[i1:i2]]
            parts += [f"+{line}" for line in new[j1:j2]]
    return "".join(part if part.endswith("\n") else f"{part}\n\\ No newline at end of file\n" for part in parts)


def _header(group: Sequence[Opcode]) -> str:
    first, last = group[0], group[-1]
    return f"@@ -{_span(first[1], last[2])} +{_span(first[3], last[4])} @@"


def hunk_text(hunk: Hunk) -> str:
    return f"{hunk.header}\n" + "".join(f"{_MARKS[line.kind]}{line.text}\n" for line in hunk.lines)


def without(path: str, before: bytes | None, after: bytes | None, rejected: Collection[str]) -> bytes | None:
    """The file after the change, with the rejected hunks as they were before it."""
    old, new = _lines(before), _lines(after)
    if old is None or new is None:
        return after
    groups = _groups(old, new)
    ids = _ids(path, groups, old, new)
    if before is None and set(ids) <= set(rejected):
        return None
    result: list[str] = []
    place = 0
    for hunk_id, group in zip(ids, groups, strict=True):
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                continue
            result += old[place:i1]
            result += old[i1:i2] if hunk_id in rejected else new[j1:j2]
            place = i2
    return "".join([*result, *old[place:]]).encode()


_MARKS = {"context": " ", "added": "+", "removed": "-"}


def _lines(content: bytes | None) -> list[str] | None:
    if content is None:
        return []
    if len(content) > LARGEST or b"\0" in content:
        return None
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return None
    # Split at line feeds only: a carriage return belongs to its line.
    parts = text.split("\n")
    lines = [f"{part}\n" for part in parts[:-1]]
    return [*lines, parts[-1]] if parts[-1] else lines


def _groups(old: Sequence[str], new: Sequence[str]) -> list[list[Opcode]]:
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    return [list(group) for group in matcher.get_grouped_opcodes(CONTEXT)]


def _hunk(
    hunk_id: str, group: Sequence[Opcode], old: Sequence[str], new: Sequence[str], states: dict[str, str]
) -> Hunk:
    lines: list[DiffLine] = []
    for tag, i1, i2, j1, j2 in group:
        if tag == "equal":
            lines += [DiffLine(kind="context", text=line.rstrip("\n")) for line in old[i1:i2]]
        else:
            lines += [DiffLine(kind="removed", text=line.rstrip("\n")) for line in old[i1:i2]]
            lines += [DiffLine(kind="added", text=line.rstrip("\n")) for line in new[j1:j2]]
    return Hunk(id=hunk_id, header=_header(group), lines=lines, state="accepted" if hunk_id in states else "pending")


def _ids(path: str, groups: Sequence[Sequence[Opcode]], old: Sequence[str], new: Sequence[str]) -> list[str]:
    """Hashes of what the hunks change: a hunk keeps its id while other parts of the file change."""
    ids: list[str] = []
    for group in groups:
        changed = [(tag, old[i1:i2], new[j1:j2]) for tag, i1, i2, j1, j2 in group if tag != "equal"]
        name = sha256(repr((path, changed)).encode()).hexdigest()[:16]
        twins = sum(earlier.partition("-")[0] == name for earlier in ids)
        ids.append(f"{name}-{twins + 1}" if twins else name)
    return ids


def _span(start: int, end: int) -> str:
    return f"{start + 1 if end > start else start},{end - start}"
