"""Search a project for a symbol: its definitions, its usages, and what a change of it may reach."""

import asyncio
import difflib
import re
import time
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from sidecar.wire.text import plural
from tools.code import files
from tools.code.definitions import Definition, find_definitions
from tools.code.files import is_copied
from tools.code.modules import Modules
from tools.code.source import SourceText
from tools.code.symbols import Certainty
from tools.code.usages import SymbolUsage, UsageFinder, UsageReport
from tools.errors import ToolError
from tools.host import Host
from tools.spec import Call
from tools.test_files import is_test

#: How many files are parsed for one answer.
FILES = 600
_DEFINED = r"\b(?:def|class|function|interface|type|enum|const|let|fn|func|struct|trait)\s+([A-Za-z_$][\w$]*)"
_NEAR = 20_000
_STUBS = (".pyi", ".d.ts", ".d.mts", ".d.cts")
#: How often a search may need files that it has not read.
_ROUNDS = 4
#: How far a change is followed.
DEPTH = 4
_SYMBOLS = 250
_SECONDS = 2.5


class SearchResult(NamedTuple):
    """The definitions that a name may mean, likeliest first."""

    word: str
    definitions: list[Definition]
    #: All definitions of the name, also in other files and classes.
    all: list[Definition]
    #: The files that hold the name.
    sources: dict[str, SourceText]
    left_out: int

    @property
    def others(self) -> list[Definition]:
        """What else the name may mean: not the overloads of the likeliest definition."""
        one = self.definitions[0]
        return [each for each in self.definitions[1:] if (each.path, each.qualified) != (one.path, one.qualified)]


class SymbolSearch:
    def __init__(self, host: Host, call: Call) -> None:
        self._host = host
        self._call = call
        self._modules: Modules | None = None
        self.opened: dict[str, SourceText] = {}

    async def modules(self) -> Modules:
        if self._modules is None:
            paths = await files.list_files(self._host, self._call)
            self._modules = await asyncio.to_thread(Modules, paths)
        return self._modules

    async def sources(self, words: Sequence[str], first: str | None = None) -> tuple[dict[str, SourceText], int]:
        """Return the files that hold one of the words, within the limit, and how many are left out."""
        paths = await files.files_with_words(self._host, self._call, words)
        paths.sort(key=lambda path: (path != first, is_test(path), is_copied(path), path))
        return await self.open(paths[:FILES]), max(0, len(paths) - FILES)

    async def open(self, paths: Iterable[str]) -> dict[str, SourceText]:
        wanted = list(paths)
        self.opened |= await files.open_sources(self._host, [path for path in wanted if path not in self.opened])
        return {path: self.opened[path] for path in wanted if path in self.opened}

    async def find(self, symbol: str, path: str | None = None) -> SearchResult:
        """Find the definitions, with `path` only in that file or folder. Raise an error that names close matches."""
        parts = [part for part in re.split(r"\.|::|#|->", symbol.strip().removesuffix("()")) if part]
        if not parts or not re.fullmatch(r"[\w$]+", parts[-1]):
            raise ToolError(
                f"{symbol!r} is not the name of a symbol. Give a name like parse or Parser.parse.", code="no_symbol"
            )
        word = parts[-1]
        sources, left_out = await self.sources([word], path)
        every = await asyncio.to_thread(
            lambda: [each for source in sources.values() for each in find_definitions(source, word)]
        )
        meant = [each for each in every if _fits(each, parts[:-1], path)]
        meant = meant or [each for each in every if _in_package(each, parts[:-1], path)]
        if not meant:
            raise await self._not_found(symbol, word, path, every)
        meant.sort(key=_unlikeliness)
        return SearchResult(word, meant, every, sources, left_out)

    async def finder(self, words: Iterable[str], *, members: bool) -> UsageFinder:
        return UsageFinder(await self.modules(), words, members=members)

    async def find_usages(self, found: SearchResult) -> list[SymbolUsage]:
        """Find the usages of the likeliest definition, also in files that know it by another name only."""
        one = found.definitions[0]
        finder = await self.finder([found.word], members=bool(one.owner))
        sources, known = found.sources, {found.word}
        for _ in range(_ROUNDS):
            report = await asyncio.to_thread(_find, finder, one, sources)
            more = await self._with_names(report, set(report.names) - known)
            known.update(report.names)
            missing = dict.fromkeys([*more, *sorted(finder.project.wanted)])
            sources = await self.open(path for path in missing if path not in finder.project.sources)
            if not sources:
                break
        assigned = {(each.path, each.line) for each in found.all if each.assigned}
        return [each for each in report.usages if (each.path, each.line) not in assigned]

    async def _with_names(self, report: UsageReport, names: set[str]) -> list[str]:
        """Return the files that may use a definition by these other names."""
        paths = await files.files_with_words(self._host, self._call, sorted(names - {"default"}))
        if "default" in names:
            stems = "|".join(re.escape(_stem(path)) for path in sorted(report.default_exporters))
            pattern = rf"""['"/](?:{stems})(\.\w+)?['"]|from\s*['"]\.{{1,2}}/?['"]"""
            paths += [line.path for line in await files.matching_lines(self._host, self._call, pattern, files.SOURCES)]
        return paths[:FILES]

    async def _not_found(self, symbol: str, word: str, path: str | None, every: Sequence[Definition]) -> ToolError:
        if every:
            places = ", ".join(f"{each.qualified} ({each.place})" for each in every[:5])
            where = f" in {path}" if path else ""
            return ToolError(f"{symbol} is not defined{where}; there is {places}.", code="no_symbol")
        near = await self._close_matches(word)
        hint = f" Did you mean {near}?" if near else ""
        return ToolError(f"No symbol {word} is defined in this project.{hint}", code="no_symbol")

    async def _close_matches(self, word: str) -> str:
        lines = await files.matching_lines(self._host, self._call, _DEFINED, files.SOURCES)
        return await asyncio.to_thread(_closest, word, lines[:_NEAR])


def _closest(word: str, lines: Sequence[files.MatchingLine]) -> str:
    named = {name: line for line in lines for name in re.findall(_DEFINED, line.text)}
    folded = {name.casefold(): name for name in named}
    close = difflib.get_close_matches(word.casefold(), folded, n=3, cutoff=0.75)
    return ", ".join(f"{folded[name]} ({named[folded[name]].path}:{named[folded[name]].number})" for name in close)


#: A signature without a body: the definition follows the overloads.
_OVERLOAD = re.compile(r"(?:@.*\n)*?@(?:\w+\.)?overload\b")


def _unlikeliness(each: Definition) -> tuple[bool, ...]:
    """What a bare name means least comes last: tests, copies, stubs, overloads, variables, locals, methods, private."""
    return (
        is_test(each.path),
        is_copied(each.path),
        each.path.endswith(_STUBS),
        _OVERLOAD.match(each.signature) is not None,
        each.kind in ("variable", "attribute", "module"),
        each.local,
        bool(each.owner) or each.assigned,
        each.name.startswith("_"),
        any(part.startswith("_") and part != "__init__.py" for part in each.path.split("/")),
    )


def _find(finder: UsageFinder, one: Definition, sources: dict[str, SourceText]) -> UsageReport:
    finder.project.wanted.clear()
    finder.add(sources.values())
    return finder.find(one)


def _stem(path: str) -> str:
    """Return the name that imports give a file: its stem, or its folder's name for an index file."""
    folder, _, name = path.rpartition("/")
    stem = name.partition(".")[0]
    return folder.rpartition("/")[2] if stem == "index" and folder else stem


#: Files that represent their folder.
_FOLDER_FILES = frozenset({"__init__", "index", "mod"})


def _fits(definition: Definition, owners: Sequence[str], path: str | None) -> bool:
    around = definition.qualified.split(".")[:-1]
    module = _module_of(definition)
    return _is_in(definition, path) and (not owners or [*module, *around][-len(owners) :] == list(owners))


def _in_package(definition: Definition, owners: Sequence[str], path: str | None) -> bool:
    """Whether a package with this name holds it at the top of one of its modules, which it may re-export."""
    folders, count = definition.path.split("/")[:-1], len(owners)
    held = any(folders[start : start + count] == list(owners) for start in range(len(folders)))
    return held and definition.qualified == definition.name and _is_in(definition, path)


def _is_in(definition: Definition, path: str | None) -> bool:
    return path in (None, ".", "", definition.path) or definition.path.startswith(f"{(path or '').rstrip('/')}/")


def _module_of(definition: Definition) -> list[str]:
    """The folders and the name of its module; Go's packages are folders."""
    *folders, stem = definition.path.rpartition(".")[0].split("/")
    return folders if definition.language == "Go" or stem in _FOLDER_FILES else [*folders, stem]


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
            return Impact(reached, f"Followed {plural(depth, 'step')}; there is more behind that.")
        sources, left_out = await search.sources(sorted({each.name for each in frontier}))
        if left_out:
            return Impact(reached, f"Followed {plural(depth, 'step')}; too many files are behind that.")
        finder = await search.finder({each.name for each in frontier}, members=any(each.owner for each in frontier))
        step = await asyncio.to_thread(_step, frontier, finder, sources)
    return Impact(reached, f"Followed {DEPTH} steps.")


def _step(
    frontier: Sequence[Definition], finder: UsageFinder, sources: dict[str, SourceText]
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
    one: Definition, same: Sequence[Definition], used: Sequence[SymbolUsage], sources: dict[str, SourceText]
) -> list[tuple[SymbolUsage, str, Definition | None]]:
    # A likely usage is followed only if no other class has a member of that name.
    unambiguous = len({each.owner for each in same}) <= 1
    return [
        (usage, one.qualified, _enclosing(usage, sources[usage.path]))
        for usage in used
        if usage.kind != "import" and (usage.certainty == "certain" or unambiguous)
    ]


def _enclosing(usage: SymbolUsage, source: SourceText) -> Definition | None:
    """Return the outermost function or method around a usage, else its class, or None in a module."""
    parts = usage.within.split(".")
    last = None
    for number, part in enumerate(parts, 1):
        name = ".".join(parts[:number])
        last = next((each for each in find_definitions(source, part) if each.qualified == name), None) if part else None
        if last is None or last.kind in ("function", "method", "constructor"):
            return last
    return last
