"""What a change of a definition may reach: its users, their users, up to the tests."""

import asyncio
import time
from collections.abc import Sequence
from typing import NamedTuple

from tools.code.definitions import Definition, find_definitions
from tools.code.files import is_test
from tools.code.source import Source
from tools.code.symbol_search import SearchResult, SymbolSearch
from tools.code.symbols import Certainty
from tools.code.usages import SymbolUsage, UsageFinder

DEPTH = 4
_SYMBOLS = 250
_SECONDS = 2.5


class Reached(NamedTuple):
    """A definition, or with an empty name a module, that a change may reach."""

    name: str
    path: str
    line: int
    depth: int
    #: What it uses, one step nearer to the change.
    through: str
    certainty: Certainty


class Impact(NamedTuple):
    reached: list[Reached]
    #: Why there may be more.
    limit: str


async def find_impact(found: SearchResult, search: SymbolSearch) -> Impact:
    start = found.definitions[0]
    seen = {(start.path, start.qualified)}
    reached: list[Reached] = []
    sources = found.sources
    used = await search.find_usages(found)
    step = await asyncio.to_thread(_follow, start, found.all, used, search.opened)
    ends = time.monotonic() + _SECONDS
    for depth in range(1, DEPTH + 1):
        frontier = []
        for usage, through, definition in step:
            name = definition.qualified if definition else usage.within
            if (usage.path, name) in seen:
                continue
            seen.add((usage.path, name))
            line = definition.line if definition else usage.line
            reached.append(Reached(name, usage.path, line, depth, through, usage.certainty))
            if definition is not None and not is_test(usage.path):
                frontier.append(definition)
        if not frontier:
            return Impact(reached, "")
        if depth == DEPTH:
            break
        if len(reached) > _SYMBOLS or time.monotonic() > ends:
            return Impact(reached, f"Followed {depth} step{'s' if depth > 1 else ''}; there is more behind that.")
        sources, left_out = await search.sources(sorted({each.name for each in frontier}))
        if left_out:
            return Impact(reached, f"Followed {depth} step{'s' if depth > 1 else ''}; too many files are behind that.")
        finder = await search.finder({each.name for each in frontier}, members=any(each.owner for each in frontier))
        step = await asyncio.to_thread(_step, frontier, finder, sources)
    return Impact(reached, f"Followed {DEPTH} steps.")


def _step(
    frontier: Sequence[Definition], finder: UsageFinder, sources: dict[str, Source]
) -> list[tuple[SymbolUsage, str, Definition | None]]:
    finder.add(sources.values())
    found = []
    for one in frontier:
        word = one.name.encode()
        near = [path for path, source in sources.items() if word in source.text]
        same = [each for path in near for each in find_definitions(sources[path], one.name)]
        found += _follow(one, same, finder.find(one, near).usages, sources)
    return found


def _follow(
    one: Definition, same: Sequence[Definition], used: Sequence[SymbolUsage], sources: dict[str, Source]
) -> list[tuple[SymbolUsage, str, Definition | None]]:
    # A likely usage is followed only if no other class has a member of that name.
    unambiguous = len({each.owner for each in same}) <= 1
    return [
        (usage, one.qualified, _enclosing(usage, sources[usage.path]))
        for usage in used
        if usage.kind != "import" and (usage.certainty == "certain" or unambiguous)
    ]


def _enclosing(usage: SymbolUsage, source: Source) -> Definition | None:
    """Return the outermost function or method around a usage, else its class, or None in a module."""
    parts = usage.within.split(".")
    last = None
    for number, part in enumerate(parts, 1):
        name = ".".join(parts[:number])
        last = next((each for each in find_definitions(source, part) if each.qualified == name), None) if part else None
        if last is None or last.kind in ("function", "method", "constructor"):
            return last
    return last
