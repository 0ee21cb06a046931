"""A look at one project for one answer: which files there are, which hold a name, what it means there."""

import asyncio
import difflib
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tools.code import files
from tools.code.definitions import Definition, definitions
from tools.code.files import is_test
from tools.code.modules import Modules
from tools.code.source import SCOPED, Source
from tools.code.usages import Exports
from tools.errors import ToolError
from tools.host import Host
from tools.spec import Call

#: How many files are parsed for one answer.
FILES = 600
_DEFINED = r"\b(?:def|class|function|interface|type|enum|const|let|fn|func|struct|trait)\s+([A-Za-z_$][\w$]*)"
_NEAR = 20_000
#: How often a name may be given another one on its way.
_RENAMED = 3


class Found(NamedTuple):
    """The definitions that a name may mean, the likeliest first, and the files in which it stands."""

    word: str
    definitions: list[Definition]
    #: All of that name, also those that were not asked for.
    all: list[Definition]
    sources: dict[str, Source]
    left_out: int


class Lookup:
    def __init__(self, host: Host, call: Call) -> None:
        self._host = host
        self._call = call
        self._modules: Modules | None = None
        self._sources: dict[str, Source] = {}

    async def modules(self) -> Modules:
        if self._modules is None:
            self._modules = Modules(await files.listed(self._host, self._call))
        return self._modules

    async def sources(self, words: Sequence[str], first: str | None = None) -> tuple[dict[str, Source], int]:
        """The files that hold one of the words, within the limit, and how many had to be left out."""
        paths = await files.holding(self._host, self._call, words)
        paths.sort(key=lambda path: (path != first, is_test(path), path))
        return await self.opened(paths[:FILES]), max(0, len(paths) - FILES)

    async def opened(self, paths: Iterable[str]) -> dict[str, Source]:
        wanted = list(paths)
        self._sources |= await files.opened(self._host, [path for path in wanted if path not in self._sources])
        return {path: self._sources[path] for path in wanted if path in self._sources}

    async def find(self, symbol: str, path: str | None = None) -> Found:
        """`path` is the file or folder in which it is defined. Nothing found is an error that names what is near."""
        parts = [part for part in re.split(r"\.|::|#|->", symbol.strip().removesuffix("()")) if part]
        if not parts or not re.fullmatch(r"[\w$]+", parts[-1]):
            raise ToolError(
                f"{symbol!r} is no name of a symbol. Give a name like parse or Parser.parse.", code="no_symbol"
            )
        word = parts[-1]
        sources, left_out = await self.sources([word], path)
        every = await asyncio.to_thread(lambda: [each for one in sources.values() for each in definitions(one, word)])
        meant = [each for each in every if _fits(each, parts[:-1], path)]
        if not meant:
            raise await self._nothing(symbol, word, path, every)
        meant.sort(
            key=lambda each: (is_test(each.path), each.kind in ("variable", "attribute"), each.scope is not None)
        )
        return Found(word, meant, every, sources, left_out)

    async def users(self, found: Found) -> dict[str, Source]:
        """The files that may use the likeliest definition, also those that know it by another name only."""
        one, sources, modules = found.definitions[0], dict(found.sources), await self.modules()
        if one.owner or one.scope is not None or one.language not in SCOPED:
            return sources
        known = {found.word}
        for _ in range(_RENAMED):
            exports = (await asyncio.to_thread(Exports, one, sources, modules)).names()
            names = {name for each in exports.values() for name in each} - known
            if not names:
                break
            known |= names
            paths = await files.holding(self._host, self._call, sorted(names - {"default"}))
            if "default" in names:
                stems = {_stem(path) for path, each in exports.items() if "default" in each}
                paths += [line.path for stem in stems for line in await self._importing(stem)]
            sources |= await self.opened(dict.fromkeys(paths[:FILES]))
        return sources

    async def _importing(self, stem: str) -> list[files.Line]:
        pattern = rf"""['"/]{re.escape(stem)}(\.\w+)?['"]|from\s*['"]\.{{1,2}}/?['"]"""
        return await files.matching(self._host, self._call, pattern, files.SOURCES)

    async def _nothing(self, symbol: str, word: str, path: str | None, every: Sequence[Definition]) -> ToolError:
        if every:
            places = ", ".join(f"{each.qualified} ({each.place})" for each in every[:5])
            where = f" in {path}" if path else ""
            return ToolError(f"{symbol} is not defined{where}; there is {places}.", code="no_symbol")
        near = await self._near(word)
        hint = f" Did you mean {near}?" if near else ""
        return ToolError(f"No symbol {word} is defined in this project.{hint}", code="no_symbol")

    async def _near(self, word: str) -> str:
        lines = await files.matching(self._host, self._call, _DEFINED, files.SOURCES)
        named = {name: line for line in lines[:_NEAR] for name in re.findall(_DEFINED, line.text)}
        folded = {name.casefold(): name for name in named}
        close = difflib.get_close_matches(word.casefold(), folded, n=3, cutoff=0.75)
        return ", ".join(f"{folded[name]} ({named[folded[name]].path}:{named[folded[name]].number})" for name in close)


def _stem(path: str) -> str:
    """What an import calls a file: its name without its ending, or its folder's if it is the folder's index."""
    folder, _, name = path.rpartition("/")
    stem = name.partition(".")[0]
    return folder.rpartition("/")[2] if stem == "index" and folder else stem


def _fits(definition: Definition, owners: Sequence[str], path: str | None) -> bool:
    if path not in (None, ".", "") and path != definition.path:
        assert path is not None
        if not definition.path.startswith(f"{path.rstrip('/')}/"):
            return False
    around = definition.qualified.split(".")[:-1]
    module = definition.path.rpartition(".")[0].split("/")
    return not owners or [*module, *around][-len(owners) :] == list(owners)
