"""What a diff shows as gone here and new there, and what is the same under another name."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

#: How much of two files must be the same for one to be the other: as much as Git asks for.
_ALIKE = 0.5


class Line(NamedTuple):
    """A line that came (`+`) or went (`-`): the symbol that it defines, or else the one that it stands in."""

    sign: str
    text: str
    defines: str = ""
    within: str = ""


def renamed_symbols(lines: Sequence[Line]) -> dict[str, str]:
    """Definitions that went, and came with no other difference than the name."""
    gone = {each.defines: each.text for each in lines if each.sign == "-" and each.defines}
    come = {each.defines: each.text for each in lines if each.sign == "+" and each.defines}
    names: dict[str, str] = {}
    for old in (name for name in gone if name not in come):
        left = [name for name in come if name not in gone and name not in names.values()]
        new = next((name for name in left if _renamed(gone[old], {old: name}) == come[name]), None)
        if new is not None:
            names[old] = new
    return names


def otherwise(lines: Sequence[Line], names: Mapping[str, str]) -> list[Line]:
    """The lines that are others for more than these names."""
    went = [_renamed(each.text, names) for each in lines if each.sign == "-"]
    before = [each.text for each in lines if each.sign == "-"]
    named = Counter(now for now, then in zip(went, before, strict=True) if now != then)
    same = named & Counter(each.text for each in lines if each.sign == "+")
    open_ends = {"+": Counter(same), "-": Counter(same)}
    left = []
    for each in lines:
        text = each.text if each.sign == "+" else _renamed(each.text, names)
        if open_ends[each.sign][text] and (each.sign == "+" or text != each.text):
            open_ends[each.sign][text] -= 1
        else:
            left.append(each)
    return left


def alike(one: Iterable[str], other: Iterable[str]) -> bool:
    """Whether a file of these lines may have been the other."""
    mine, theirs = Counter(one), Counter(other)
    most = max(mine.total(), theirs.total())
    return most > 0 and (mine & theirs).total() >= most * _ALIKE


def _renamed(text: str, names: Mapping[str, str]) -> str:
    words = "|".join(map(re.escape, names))
    return re.sub(rf"(?<![\w$])(?:{words})(?![\w$])", lambda found: names[found[0]], text)
