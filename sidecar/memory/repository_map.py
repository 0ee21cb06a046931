"""The repository map: the most connected files with their definitions, within a number of bytes.

PageRank over the import graph; the words of a task and the open files pull it to the part that matters.
"""

import sqlite3
from collections import defaultdict
from collections.abc import Mapping, Sequence

from sidecar.memory.postings import CHUNKS_PER_FILE, PATH_PLACE
from sidecar.memory.resolver import unit_of
from sidecar.memory.tokens import name_terms, query_terms
from tools.text import on_one_line

_DAMPING = 0.85
_ROUNDS = 12
_MAX_FILES = 60
_MAX_NODES = 20_000
_MAX_SYMBOLS = 12
#: How much more often a walk starts at an open file, and at a file that the task's words name.
_OPEN = 40.0
_NAMED = 12.0
_NAMES = f"""
SELECT chunks.name, max(chunks.complexity)
FROM files JOIN chunks ON chunks.id BETWEEN files.id * {CHUNKS_PER_FILE} AND files.id * {CHUNKS_PER_FILE} + {PATH_PLACE}
WHERE files.path = ? AND chunks.kind NOT IN ('section', 'text', 'block') AND chunks.name NOT LIKE '\\_%' ESCAPE '\\'
GROUP BY chunks.name
"""  # noqa: S608


def draw_map(store: sqlite3.Connection, budget: int, words: str = "", near: Sequence[str] = ()) -> str:
    """One line per file with the names it defines, the most important file first."""
    paths = [row[0] for row in store.execute("SELECT path FROM files WHERE kind = 'code' LIMIT ?", (_MAX_NODES,))]
    terms = frozenset(query_terms(words)) if words else frozenset[str]()
    starts = {path: _start(path, terms, near) for path in paths}
    ranks = _rank(paths, _links(store, frozenset(paths)), starts)
    lines: list[str] = []
    left = budget
    for path in sorted(paths, key=lambda each: (-ranks[each], each))[:_MAX_FILES]:
        line = _describe(store, path, terms)
        if len(line.encode()) + 1 > left:
            break
        lines.append(line)
        left -= len(line.encode()) + 1
    return "\n".join(lines)


def _start(path: str, terms: frozenset[str], near: Sequence[str]) -> float:
    weight = 1.0 + _NAMED * len(terms.intersection(name_terms(path)))
    return weight + _OPEN if path in near else weight


def _links(store: sqlite3.Connection, paths: frozenset[str]) -> dict[str, list[str]]:
    """The files that each file imports; a Go package is one node for its files."""
    units: dict[str, list[str]] = defaultdict(list)
    for path in paths:
        units[unit_of(path)].append(path)
    links: dict[str, list[str]] = defaultdict(list)
    rows = store.execute(
        "SELECT DISTINCT files.path, edges.target FROM edges JOIN files ON files.id = edges.source "
        "WHERE files.kind = 'code'"
    )
    for source, target in rows:
        if source in paths:
            links[source] += units.get(target, ())
    return links


def _rank(paths: Sequence[str], links: Mapping[str, list[str]], starts: Mapping[str, float]) -> dict[str, float]:
    total = sum(starts.values()) or 1.0
    base = {path: starts[path] / total for path in paths}
    ranks = dict(base)
    for _ in range(_ROUNDS):
        flow: dict[str, float] = defaultdict(float)
        lost = 0.0
        for path in paths:
            targets = links.get(path)
            if not targets:
                lost += ranks[path]
                continue
            share = ranks[path] / len(targets)
            for target in targets:
                flow[target] += share
        ranks = {path: (1 - _DAMPING + _DAMPING * lost) * base[path] + _DAMPING * flow[path] for path in paths}
    return ranks


def _describe(store: sqlite3.Connection, path: str, terms: frozenset[str]) -> str:
    rows = store.execute(_NAMES, (path,)).fetchall()
    rows.sort(key=lambda row: (-len(terms.intersection(name_terms(row[0]))), -(row[1] or 0), row[0]))
    names = [row[0] for row in rows[:_MAX_SYMBOLS]]
    return on_one_line(f"{path}: {', '.join(names)}" if names else path)
