"""A change of one file as hunks that you can reject one by one."""

import stat
from collections.abc import Collection, Mapping, Sequence
from hashlib import sha256
from typing import Literal

from sidecar.engine.comparison import Opcode, grouped, opcodes
from sidecar.engine.merge import File
from sidecar.engine.patch import git_patch
from sidecar.wire.tasks import DiffLine, FileDiff, Hunk

CONTEXT = 3
LARGEST = 2 * 1024 * 1024
#: A patch holds a larger or binary content whole, compressed.
LARGEST_PATCH = 16 * 1024 * 1024

_NO_TEXT = "Not text. You can rewind it, but not reject parts of it."
_LINK = "A link, now or before. You can rewind it, but not reject parts of it."
_TOO_LARGE = f"Larger than {LARGEST_PATCH >> 20} MiB, so it is not in the patch. You can rewind it."


def file_diff(path: str, before: File | None, after: File | None, states: Mapping[str, str]) -> FileDiff:
    change: Literal["created", "deleted", "modified"]
    change = "created" if before is None else "deleted" if after is None else "modified"
    old, new = _lines(before), _lines(after)
    patch, too_large = patch_of(path, before, after)
    linked = any(file is not None and file.linked for file in (before, after))
    if old is None or new is None or linked:
        note = _TOO_LARGE if too_large else _LINK if linked else _NO_TEXT
        return FileDiff(path=path, change=change, added=0, removed=0, diff=patch, hunks=[], note=note)
    groups = _groups(old, new)
    ids = _ids(path, groups, old, new)
    hunks = [_hunk(hunk_id, group, old, new, states) for hunk_id, group in zip(ids, groups, strict=True)]
    lines = [line.kind for hunk in hunks for line in hunk.lines]
    return FileDiff(
        path=path,
        change=change,
        added=lines.count("added"),
        removed=lines.count("removed"),
        diff=patch,
        hunks=hunks,
        note=_mode_note(before, after),
    )


def patch_of(path: str, before: File | None, after: File | None, renamed_from: str | None = None) -> tuple[str, bool]:
    """The change as a patch for Git, and whether it is too large for one."""
    if any(file is not None and len(file.content) > LARGEST_PATCH for file in (before, after)):
        return "", True
    if before is not None and after is not None and before.linked != after.linked:
        # Git has no change from a file to a link: one goes, the other comes.
        return patch_of(path, before, None)[0] + patch_of(path, None, after)[0], False
    old, new = _lines(before), _lines(after)
    hunks = None if old is None or new is None else [_text(group, old, new) for group in _groups(old, new)]
    return git_patch(path, before, after, hunks, renamed_from), False


def renamed(diff: FileDiff, source: str, before: File, after: File) -> FileDiff:
    """The diff of a created file as that of a renamed one. Its hunks still create it, so that each can be rejected."""
    changes = file_diff(diff.path, before, after, {})
    patch, _ = patch_of(diff.path, before, after, source)
    return diff.model_copy(
        update={
            "change": "renamed",
            "renamed_from": source,
            "diff": patch,
            "added": changes.added,
            "removed": changes.removed,
            "note": " ".join(filter(None, (f"Renamed from {source}.", diff.note))),
        }
    )


def unkept(path: str, change: Literal["created", "deleted", "modified"], why: str) -> FileDiff:
    """A change whose content can't be shown, with the reason."""
    return FileDiff(path=path, change=change, added=0, removed=0, diff="", hunks=[], note=why)


def _mode_note(before: File | None, after: File | None) -> str | None:
    if before is None or after is None or before.mode is None or after.mode is None or before.mode == after.mode:
        return None
    return f"Mode changed from {stat.S_IMODE(before.mode):o} to {stat.S_IMODE(after.mode):o}."


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


def without(path: str, before: File | None, after: File | None, rejected: Collection[str]) -> bytes | None:
    """The file after the change, with the rejected hunks as they were before it."""
    old, new = _lines(before), _lines(after)
    if old is None or new is None:
        return None if after is None else after.content
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


def _lines(file: File | None) -> list[str] | None:
    """`None` if it is not text, or too long for hunks."""
    if file is None:
        return []
    content = file.content
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
    return grouped(opcodes(old, new), CONTEXT)


def _hunk(
    hunk_id: str, group: Sequence[Opcode], old: Sequence[str], new: Sequence[str], states: Mapping[str, str]
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
