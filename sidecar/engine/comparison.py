"""Compares two lists of lines, in a time that stays bounded whatever they hold."""

from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import TypeVar

Line = TypeVar("Line", str, bytes)
Opcode = tuple[str, int, int, int, int]

#: Pairs of equal lines that are compared at most. Beyond that, the middle counts as one change.
_MAX_PAIRS = 4_000_000


def opcodes(old: Sequence[Line], new: Sequence[Line]) -> list[Opcode]:
    """The edits that turn `old` into `new`, as `difflib` names them."""
    start, end = _common(old, new)
    middle_old, middle_new = old[start : len(old) - end], new[start : len(new) - end]
    found: list[Opcode] = [("equal", 0, start, 0, start)] if start else []
    found += [
        (tag, i1 + start, i2 + start, j1 + start, j2 + start) for tag, i1, i2, j1, j2 in _middle(middle_old, middle_new)
    ]
    if end:
        found.append(("equal", len(old) - end, len(old), len(new) - end, len(new)))
    return found


def grouped(found: Sequence[Opcode], context: int) -> list[list[Opcode]]:
    """Edits with so many equal lines around them; those that are near each other in one group."""
    groups: list[list[Opcode]] = []
    group: list[Opcode] = []
    for place, (tag, i1, i2, j1, j2) in enumerate(found):
        if tag != "equal":
            group.append((tag, i1, i2, j1, j2))
            continue
        first, last = place == 0, place == len(found) - 1
        if not first and not last and i2 - i1 <= 2 * context:
            group.append((tag, i1, i2, j1, j2))
            continue
        if not first:
            group.append((tag, i1, min(i2, i1 + context), j1, min(j2, j1 + context)))
            groups.append(group)
        group = [] if last else [(tag, max(i1, i2 - context), i2, max(j1, j2 - context), j2)]
    if any(tag != "equal" for tag, *_ in group):
        groups.append(group)
    return groups


def _common(old: Sequence[Line], new: Sequence[Line]) -> tuple[int, int]:
    """How many lines both begin and end with."""
    shorter = min(len(old), len(new))
    start = 0
    while start < shorter and old[start] == new[start]:
        start += 1
    end = 0
    while end < shorter - start and old[-1 - end] == new[-1 - end]:
        end += 1
    return start, end


def _middle(old: Sequence[Line], new: Sequence[Line]) -> list[Opcode]:
    if not old and not new:
        return []
    if not old or not new:
        return [("insert" if not old else "delete", 0, len(old), 0, len(new))]
    in_old, in_new = Counter(old), Counter(new)
    if sum(count * in_new[line] for line, count in in_old.items()) > _MAX_PAIRS:
        return [("replace", 0, len(old), 0, len(new))]
    return list(SequenceMatcher(None, old, new, autojunk=False).get_opcodes())
