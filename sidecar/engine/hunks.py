"""A change of one file, cut into hunks that can be taken back one by one."""

from collections.abc import Collection, Sequence
from difflib import SequenceMatcher
from hashlib import sha256
from typing import Literal

from sidecar.wire.tasks import DiffLine, FileDiff, Hunk

CONTEXT = 3
LARGEST = 2 * 1024 * 1024

Opcode = tuple[str, int, int, int, int]


def file_diff(path: str, before: bytes | None, after: bytes | None, states: dict[str, str]) -> FileDiff:
    change: Literal["created", "deleted", "modified"]
    change = "created" if before is None else "deleted" if after is None else "modified"
    old, new = _lines(before), _lines(after)
    if old is None or new is None:
        note = "It is not text, or too large to be shown; it can be rewound, not taken back in parts."
        return FileDiff(path=path, change=change, added=0, removed=0, diff="", hunks=[], note=note)
    groups = _groups(old, new)
    ids = _ids(path, groups, old, new)
    hunks = [_hunk(hunk_id, group, old, new, states) for hunk_id, group in zip(ids, groups, strict=True)]
    text = "".join(hunk_text(hunk) for hunk in hunks)
    names = (
        f"--- {'/dev/null' if before is None else f'a/{path}'}\n+++ {'/dev/null' if after is None else f'b/{path}'}\n"
    )
    lines = [line.kind for hunk in hunks for line in hunk.lines]
    return FileDiff(
        path=path,
        change=change,
        added=lines.count("added"),
        removed=lines.count("removed"),
        diff=names + text,
        hunks=hunks,
    )


def hunk_text(hunk: Hunk) -> str:
    return f"{hunk.header}\n" + "".join(f"{_MARKS[line.kind]}{line.text}\n" for line in hunk.lines)


def without(path: str, before: bytes | None, after: bytes | None, rejected: Collection[str]) -> bytes | None:
    """The file after the change, but for the rejected hunks, in which it is as before."""
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
    # Cut at line feeds only: a carriage return belongs to its line.
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
    first, last = group[0], group[-1]
    header = f"@@ -{_span(first[1], last[2])} +{_span(first[3], last[4])} @@"
    return Hunk(id=hunk_id, header=header, lines=lines, state="accepted" if hunk_id in states else "pending")


def _ids(path: str, groups: Sequence[Sequence[Opcode]], old: Sequence[str], new: Sequence[str]) -> list[str]:
    """Named after what they change, so that a hunk keeps its name while other places of the file change."""
    ids: list[str] = []
    for group in groups:
        changed = [(tag, old[i1:i2], new[j1:j2]) for tag, i1, i2, j1, j2 in group if tag != "equal"]
        name = sha256(repr((path, changed)).encode()).hexdigest()[:16]
        twins = sum(earlier.partition("-")[0] == name for earlier in ids)
        ids.append(f"{name}-{twins + 1}" if twins else name)
    return ids


def _span(start: int, end: int) -> str:
    return f"{start + 1 if end > start else start},{end - start}"
