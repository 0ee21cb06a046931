"""Renders file changes: a short diff for the model, details by file for the panel, the full diff for an approval."""

import re
from collections.abc import Sequence

from sidecar.wire.base import JsonObject
from sidecar.wire.text import listed, plural
from tools.host import FileChange
from tools.ledger import digest
from tools.spec import ToolResult

_DIFF_LINES = 80
_PLACES = 12
_HUNK = re.compile(r"@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@")
_CONTEXT = 2
_FULL_LINES = 5_000
#: Longer files take too long to compare.
_DIFF_BYTES = 1_000_000


def render_changes(changes: Sequence[FileChange], note: str = "", *, written: bool = False) -> ToolResult:
    """One result for a set of changes, with `note` in front.

    `written`: the model wrote the new text itself, so it reads only where that is now.
    """
    if not changes:
        return ToolResult(
            content=note or "No changes.",
            details={"note": note.strip(), "files": []},
            summary=note or "no change",
        )
    files: list[JsonObject] = []
    parts = [note] if note else []
    for change in changes:
        diff = unified_diff(change)
        added = sum(line.startswith("+") for line in diff[2:])
        removed = sum(line.startswith("-") for line in diff[2:])
        kind = "created" if change.before is None else "deleted" if change.after is None else "modified"
        files.append(
            {
                "path": change.path,
                "change": kind,
                "added": added,
                "removed": removed,
                **({"hash": digest(change.after)} if change.after is not None else {}),
                "diff": "\n".join(diff[:_DIFF_LINES]),
            }
        )
        places = _changed_lines(diff) if written and kind == "modified" else ""
        parts.append(f"{kind.capitalize()} {change.path} (+{added} −{removed}){places}")
        if kind == "modified" and not written:
            parts.extend(diff[2:_DIFF_LINES])
            if len(diff) > _DIFF_LINES:
                parts.append(f"… {plural(len(diff) - _DIFF_LINES, 'more line')} of the diff")
    first = files[0]
    rest = f" and {len(files) - 1} more" if len(files) > 1 else ""
    summary = f"{first['change']} {first['path']}{rest}"
    return ToolResult(content="\n".join(parts), details={"note": note.strip(), "files": list(files)}, summary=summary)


def _changed_lines(diff: Sequence[str]) -> str:
    """The lines of the new file that differ, or around which lines are gone."""
    spans: list[tuple[int, int]] = []
    line = 0
    for row in diff[2:]:
        if hunk := _HUNK.match(row):
            line = max(int(hunk[1]), 1)
        elif row.startswith("+") and spans and spans[-1][1] >= line - 1:
            spans[-1] = (spans[-1][0], line)
        elif row.startswith(("+", "-")) and not (spans and spans[-1][0] <= line <= spans[-1][1]):
            spans.append((line, line))
        line += not row.startswith(("-", "@"))
    shown = [str(first) if first == last else f"{first}–{last}" for first, last in spans]
    lines = "line" if len(shown) == 1 and shown[0].isdigit() else "lines"
    return f", now at {lines} {listed(shown, _PLACES)}" if shown else ""


def render_full_diff(changes: Sequence[FileChange]) -> tuple[str, int]:
    """The diff for an approval prompt, and how many lines of a huge one are left out."""
    lines = [line for change in changes for line in unified_diff(change)]
    return "\n".join(lines[:_FULL_LINES]), max(0, len(lines) - _FULL_LINES)


def unified_diff(change: FileChange) -> list[str]:
    before, after = change.before or b"", change.after or b""
    if b"\0" in before[:8192] or b"\0" in after[:8192]:
        return ["--- binary", "+++ binary", f"@@ {len(before)} bytes → {len(after)} bytes @@"]
    if len(before) + len(after) > _DIFF_BYTES and change.before is not None and change.after is not None:
        return ["--- before", "+++ after", f"@@ {len(before)} bytes → {len(after)} bytes, too long to compare @@"]
    old, new = before.decode("utf-8", "replace").splitlines(), after.decode("utf-8", "replace").splitlines()
    source = "/dev/null" if change.before is None else f"a/{change.path}"
    target = "/dev/null" if change.after is None else f"b/{change.path}"
    return _compare(old, new, source, target)


def _compare(old: list[str], new: list[str], source: str, target: str) -> list[str]:
    """Only what is between the first and the last difference: many equal lines take `difflib` quadratic time."""
    from difflib import SequenceMatcher

    if old == new:
        return []
    start = _common_lines(old, new)
    end = min(_common_lines(old[::-1], new[::-1]), min(len(old), len(new)) - start)
    last_old, last_new = len(old) - end, len(new) - end
    matcher = SequenceMatcher(None, old[start:last_old], new[start:last_new])
    # What `get_opcodes` returns from now on, and groups are made of.
    vars(matcher)["opcodes"] = [
        ("equal", 0, start, 0, start),
        *[(tag, a + start, b + start, c + start, d + start) for tag, a, b, c, d in matcher.get_opcodes()],
        ("equal", last_old, len(old), last_new, len(new)),
    ]
    lines: list[str] = []
    for group in matcher.get_grouped_opcodes(_CONTEXT):
        lines.append(f"@@ -{_range(group[0][1], group[-1][2])} +{_range(group[0][3], group[-1][4])} @@")
        for tag, a, b, c, d in group:
            if tag == "equal":
                lines += [f" {line}" for line in old[a:b]]
            else:
                lines += [*[f"-{line}" for line in old[a:b]], *[f"+{line}" for line in new[c:d]]]
    return [f"--- {source}", f"+++ {target}", *lines]


def _common_lines(one: list[str], other: list[str]) -> int:
    """How many lines at the beginning are the same."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((number for number, (line, same) in pairs if line != same), min(len(one), len(other)))


def _range(first: int, end: int) -> str:
    """As in a unified diff: one line needs no length, and no line counts from the one before it."""
    return str(end) if end - first == 1 else f"{first + (end > first)},{end - first}"
