"""What a change of a definition may reach: who uses it, who uses those, up to the tests."""

import asyncio
import time
from collections.abc import Sequence
from typing import NamedTuple

from tools.code.definitions import Definition, definitions
from tools.code.files import is_test
from tools.code.lookup import Found, Lookup
from tools.code.modules import Modules
from tools.code.source import Source
from tools.code.usages import Usage, usages

DEPTH = 4
_SYMBOLS = 250
_SECONDS = 2.5


class Reached(NamedTuple):
    """Something that a change may reach: a definition, or with no name a module."""

    name: str
    path: str
    line: int
    depth: int
    #: What it uses, one step nearer to the change.
    through: str


class Impact(NamedTuple):
    reached: list[Reached]
    #: Why it may not be all.
    cut: str


async def impact(found: Found, lookup: Lookup, modules: Modules) -> Impact:
    start = found.definitions[0]
    seen = {(start.path, start.qualified)}
    reached: list[Reached] = []
    frontier, sources, every = [start], await lookup.users(found), found.all
    ends = time.monotonic() + _SECONDS
    for depth in range(1, DEPTH + 1):
        step = await asyncio.to_thread(_step, frontier, every, sources, modules)
        frontier = []
        for usage, through, definition in step:
            name = definition.qualified if definition else usage.within
            if (usage.path, name) in seen:
                continue
            seen.add((usage.path, name))
            reached.append(Reached(name, usage.path, definition.line if definition else usage.line, depth, through))
            if definition is not None and not is_test(usage.path):
                frontier.append(definition)
        if not frontier:
            return Impact(reached, "")
        if len(reached) > _SYMBOLS or time.monotonic() > ends:
            return Impact(reached, f"It was followed {depth} steps far; there is more behind that.")
        words = sorted({each.name for each in frontier})
        sources, left_out = await lookup.sources(words)
        if left_out:
            return Impact(reached, f"It was followed {depth} steps far; behind that are too many files.")
        every = await asyncio.to_thread(_defined, sources, words)
    return Impact(reached, f"It was followed {DEPTH} steps far.")


def _defined(sources: dict[str, Source], words: Sequence[str]) -> list[Definition]:
    return [
        each
        for source in sources.values()
        for word in words
        if word.encode() in source.content
        for each in definitions(source, word)
    ]


def _step(
    frontier: Sequence[Definition], every: Sequence[Definition], sources: dict[str, Source], modules: Modules
) -> list[tuple[Usage, str, Definition | None]]:
    found = []
    for one in frontier:
        word = one.name.encode()
        # The first is also looked for where it goes by another name; there are few files to look at then.
        near = {path: each for path, each in sources.items() if len(frontier) == 1 or word in each.content}
        same = [each for each in every if each.name == one.name]
        # A member that several classes have is followed only where it is sure whose it is.
        alone = len({each.owner for each in same}) <= 1
        for usage in usages(one, same, near, modules):
            if usage.use != "import" and (usage.sure or alone):
                found.append((usage, one.qualified, _around(usage, sources[usage.path])))
    return found


def _around(usage: Usage, source: Source) -> Definition | None:
    """The function or method that a use stands in, the outermost one; else the class, or nothing for the module."""
    parts = usage.within.split(".")
    last = None
    for number, part in enumerate(parts, 1):
        name = ".".join(parts[:number])
        last = next((each for each in definitions(source, part) if each.qualified == name), None) if part else None
        if last is None or last.kind in ("function", "method", "constructor"):
            return last
    return last
