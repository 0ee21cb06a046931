"""Three-way merge by lines: two sets of changes to one file, if they don't touch the same place."""

import stat
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sidecar.engine.comparison import opcodes


class Conflict(Exception):
    """Both sides changed the same place."""


class File(NamedTuple):
    """A content and a mode, `None` if unknown. The content of a link is its target."""

    content: bytes
    mode: int | None

    @property
    def linked(self) -> bool:
        return stat.S_ISLNK(self.mode or 0)


def merge_file(found: File | None, source: File | None, target: File | None) -> File | None:
    """`target` with the changes made to the file since it was `source`; `None` is a missing file."""
    if _alike(found, source):
        content = None if target is None else target.content
    elif _alike(found, target):
        content = None if found is None else found.content
    elif found is None or source is None or target is None or found.linked or source.linked or target.linked:
        raise Conflict
    else:
        content = merge(source.content, found.content, target.content)
    if content is None or target is None:
        return None
    return File(content, _mode(found, source, target))


def _alike(one: File | None, other: File | None) -> bool:
    if one is None or other is None:
        return one is other
    return one.content == other.content and one.linked == other.linked


def _mode(found: File | None, source: File | None, target: File) -> int | None:
    if found is None or found.mode is None or target.mode is None:
        return target.mode if target.mode is not None or found is None else found.mode
    # A mode that was changed since stays; the file type goes with the content.
    own = source is not None and source.mode is not None and found.mode != source.mode
    return found.mode if own and found.linked == target.linked else target.mode


def merge(base: bytes, ours: bytes, theirs: bytes) -> bytes:
    """`base` with the changes of both. Works on any bytes, split at line feeds."""
    if ours in (base, theirs):
        return theirs
    if theirs == base:
        return ours
    lines = base.splitlines(keepends=True)
    edits = sorted([*_edits(lines, ours), *_edits(lines, theirs)], key=lambda edit: (edit.start, edit.end))
    merged: list[bytes] = []
    place = 0
    for edit in _without_twins(edits):
        if edit.start < place:
            raise Conflict
        merged += lines[place : edit.start]
        merged += edit.lines
        place = edit.end
    return b"".join([*merged, *lines[place:]])


def mark_conflicts(base: bytes, ours: bytes, theirs: bytes, our_name: str, their_name: str) -> bytes:
    """The merge, with both sides between markers where they changed the same place, as Git writes them."""
    lines = base.splitlines(keepends=True)
    waiting = sorted(
        [(edit, side) for side, text in enumerate((ours, theirs)) for edit in _edits(lines, text)],
        key=lambda each: (each[0].start, each[0].end),
    )
    merged: list[bytes] = []
    place = 0
    while waiting:
        start, end = waiting[0][0].start, waiting[0][0].end
        parts: tuple[list[_Edit], list[_Edit]] = ([], [])
        while waiting and waiting[0][0].start <= end:
            edit, side = waiting.pop(0)
            parts[side].append(edit)
            end = max(end, edit.end)
        merged += lines[place:start]
        mine, other = (_with_edits(lines, edits, start, end) for edits in parts)
        if not parts[0] or not parts[1] or mine == other:
            merged += other if parts[1] else mine
        else:
            merged += [f"<<<<<<< {our_name}\n".encode(), *_ended(mine), b"=======\n", *_ended(other)]
            merged.append(f">>>>>>> {their_name}\n".encode())
        place = end
    return b"".join([*merged, *lines[place:]])


def _with_edits(lines: Sequence[bytes], edits: Sequence["_Edit"], start: int, end: int) -> list[bytes]:
    found: list[bytes] = []
    for edit in edits:
        found += [*lines[start : edit.start], *edit.lines]
        start = edit.end
    return [*found, *lines[start:end]]


def _ended(lines: Sequence[bytes]) -> list[bytes]:
    """A marker begins a line."""
    return [*lines[:-1], lines[-1] if lines[-1].endswith(b"\n") else lines[-1] + b"\n"] if lines else []


class _Edit:
    """The lines from `start` to before `end` are to become `lines`."""

    def __init__(self, start: int, end: int, lines: Sequence[bytes]) -> None:
        self.start = start
        self.end = end
        self.lines = list(lines)

    def same(self, other: "_Edit") -> bool:
        return (self.start, self.end, self.lines) == (other.start, other.end, other.lines)

    def touches(self, other: "_Edit") -> bool:
        """Adjacent edits touch too: an insertion next to a deletion is ambiguous."""
        return self.start <= other.end and other.start <= self.end


def _edits(base: Sequence[bytes], changed: bytes) -> Iterator[_Edit]:
    lines = changed.splitlines(keepends=True)
    for tag, start, end, first, last in opcodes(base, lines):
        if tag != "equal":
            yield _Edit(start, end, lines[first:last])


def _without_twins(edits: Sequence[_Edit]) -> list[_Edit]:
    """Drop edits that both sides made; different edits that touch are a conflict."""
    kept: list[_Edit] = []
    for edit in edits:
        if kept and kept[-1].same(edit):
            continue
        if kept and kept[-1].touches(edit):
            raise Conflict
        kept.append(edit)
    return kept
