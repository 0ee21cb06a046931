import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Annotated

from pydantic import Field, JsonValue

from sidecar.wire.text import bulleted, listed, plural
from tools.code.definitions import Definition
from tools.code.files import is_copied
from tools.code.modules import Modules
from tools.code.outline import outline_of
from tools.code.source import SourceText
from tools.code.symbol_search import FILES, SearchResult, SymbolSearch
from tools.code.usages import Callee, SymbolUsage, find_callees, locate_callee
from tools.host import Host
from tools.spec import Arguments, Call, Output, ToolResult, ToolSpec
from tools.test_files import is_test

_SHOWN = 12
_TESTS_SHOWN = 5
#: After a definition that is not this project's own.
COPY_NOTE = ", in a copy of another project's code; this project itself defines none of this name"
_CALLEE_FILES = 30
_MEMBERS = 20
_TYPES = frozenset({"class", "interface", "enum", "struct", "trait", "record"})


class DescribeSymbolArguments(Arguments):
    symbol: Annotated[str, Field(min_length=1, max_length=300, description="parse, or Parser.parse")]
    path: Annotated[str, Field(description="The file or folder that defines it.")] | None = None

    def paths(self) -> tuple[str, ...]:
        return (self.path or ".",)


class DescribeSymbol:
    spec = ToolSpec(
        name="describe_symbol",
        description="Describe a symbol: signature, doc, definition, usages, and what it calls.",
        arguments=DescribeSymbolArguments,
        executor="hybrid",
        retryable=True,
    )

    async def run(self, args: DescribeSymbolArguments, host: Host, call: Call, output: Output) -> ToolResult:
        if args.path is not None:
            await host.stat(args.path)
        search = SymbolSearch(host, call)
        found = await search.find(args.symbol, args.path)
        modules = await search.modules()
        one = found.definitions[0]
        used = await search.find_usages(found)
        calls = await asyncio.to_thread(find_callees, one, found.sources[one.path], modules)
        places = await _places(calls, found.sources, search, modules)
        summary = f"{one.kind} {one.qualified}, {one.place}"
        return ToolResult(_render(one, found, used, calls, places), _details(one, found, used), summary)


async def _places(
    calls: Sequence[Callee], known: Mapping[str, SourceText], search: SymbolSearch, modules: Modules
) -> dict[str, Definition]:
    files = dict.fromkeys(callee.file for callee in calls if callee.file is not None)
    sources = {**known, **await search.open(list(files)[:_CALLEE_FILES])}
    found = await asyncio.to_thread(
        lambda: [(callee.name, locate_callee(callee, sources, modules)) for callee in calls]
    )
    return {name: place for name, place in found if place is not None}


def _render(
    one: Definition,
    found: SearchResult,
    used: Sequence[SymbolUsage],
    calls: Sequence[Callee],
    places: Mapping[str, Definition],
) -> str:
    length = one.end_line - one.line + 1
    size = f", {length} lines" if length > 1 else ""
    branching = (one.complexity or 1) - 1
    branches = f", {plural(branching, 'branch', 'branches')}" if branching else ""
    copy = COPY_NOTE if is_copied(one.path) else ""
    parts = [f"**`{one.qualified}`** is a {one.language} {one.kind} at `{one.place}`{size}{branches}{copy}."]
    if one.kind not in ("variable", "constant", "attribute") or "\n" in one.signature or len(one.signature) < 200:
        parts.append(f"```{_fence(one.language)}\n{one.signature}\n```")
    if one.doc:
        parts.append("\n".join(f"> {line}".rstrip() for line in one.doc.splitlines()[:15]))
    if members := _members(one, found.sources[one.path]):
        parts.append(members)
    parts.append(render_usages(one, used))
    if calls and one.kind not in _TYPES:
        parts.append(_render_calls(one, calls, places))
    if others := [f"`{each.qualified}` ({each.place})" for each in found.others[:_SHOWN]]:
        parts.append(f"Also defined elsewhere: {', '.join(others)}.")
    if found.left_out:
        parts.append(f"Only the first {FILES} files with this name were read; {found.left_out} were skipped.")
    return "\n\n".join(parts)


def _members(one: Definition, source: SourceText) -> str:
    if one.kind not in _TYPES:
        return ""
    outline = outline_of(source)
    own = [each for each in outline.items if each.parent == one.qualified] if outline else []
    return f"**Members** {listed([f'`{each.name}` (line {each.line})' for each in own], _MEMBERS)}." if own else ""


def render_usages(one: Definition, used: Sequence[SymbolUsage], shown: int = _SHOWN) -> str:
    """Who uses it: code before tests, certain usages before likely ones."""
    sure = _by_place([each for each in used if each.certainty == "certain" and each.kind != "import"])
    importers = {each.path for each in used if each.kind == "import"} - {path for path, _ in sure}
    perhaps = _by_place([each for each in used if each.certainty == "likely"])
    scoped = one.family is not None
    lines = []
    if sure:
        lines += [f"**Used by** {_count(sure)}:", *_bullets(sure, shown)]
    if perhaps:
        why = "receiver type unknown" if scoped else f"{one.language}: matched by name only"
        also = "Likely also used by" if sure else "**Likely used by**"
        lines += [f"{also} {_count(perhaps)} ({why}):", *_bullets(perhaps, shown if not sure else shown // 2)]
    if importers and not sure:
        lines.append(
            f"Imported, but not used by name, in {', '.join(f'`{path}`' for path in sorted(importers)[:shown])}."
        )
    if not lines:
        lines.append("**Used by** nothing in this project, as far as can be seen.")
    return "\n".join(lines)


def _by_place(used: Sequence[SymbolUsage]) -> dict[tuple[str, str], list[SymbolUsage]]:
    found: dict[tuple[str, str], list[SymbolUsage]] = {}
    for each in sorted(used, key=lambda each: (is_test(each.path), each.path, each.line)):
        found.setdefault((each.path, each.within), []).append(each)
    return found


def _count(places: Mapping[tuple[str, str], Sequence[SymbolUsage]]) -> str:
    count, files = len(places), len({path for path, _ in places})
    tests = sum(is_test(path) for path, _ in places)
    words = f"{plural(count, 'place')} in {plural(files, 'file')}"
    if tests == count > 0:
        return f"{words}, in tests" if count == 1 else f"{words}, all in tests"
    return f"{words} ({tests} of them in tests)" if tests else words


def _bullets(places: Mapping[tuple[str, str], Sequence[SymbolUsage]], shown: int) -> list[str]:
    tests = Counter(path for path, _ in places if is_test(path))
    # Long lists of tests say little beside the code that uses it.
    folded = tests if _TESTS_SHOWN < tests.total() < len(places) else Counter[str]()
    lines = bulleted([_usage_line(key, places[key]) for key in places if key[0] not in folded], shown)
    lines += [f"- {plural(count, 'place')} in `{path}`" for path, count in folded.most_common(_TESTS_SHOWN)]
    if len(folded) > _TESTS_SHOWN:
        lines.append(f"- … and in {plural(len(folded) - _TESTS_SHOWN, 'more test file')}")
    return lines


def _usage_line(place: tuple[str, str], used: Sequence[SymbolUsage]) -> str:
    path, within = place
    more = f" ×{len(used)}" if len(used) > 1 else ""
    base = " (extends it)" if any(each.kind == "base" for each in used) else ""
    name = f"`{within}`" if within else "the module itself"
    return f"{name}{base} — `{path}:{used[0].line}`{more}"


def _render_calls(one: Definition, calls: Sequence[Callee], places: Mapping[str, Definition]) -> str:
    own = [callee for callee in calls if callee.name in places and places[callee.name].span != one.span]
    outside = [f"`{callee.name}`" for callee in calls if callee.name not in places and callee.outside]
    unknown = [f"`{callee.name}`" for callee in calls if callee.name not in places and not callee.outside]
    lines = []
    if own:
        lines.append("**Calls**")
        lines += bulleted([f"`{callee.name}` — `{places[callee.name].place}`" for callee in own], _SHOWN)
    for names, where in ((outside, "from outside the project"), (unknown, "defined where rules can't tell")):
        if names:
            what = "Also" if lines else "**Calls**"
            lines.append(f"{what}, {where}: {listed(names, _SHOWN)}.")
    return "\n".join(lines)


def _fence(language: str) -> str:
    return {"C++": "cpp", "TSX": "tsx"}.get(language, language.lower())


def _details(one: Definition, found: SearchResult, used: Sequence[SymbolUsage]) -> JsonValue:
    return {
        "name": one.qualified,
        "kind": one.kind,
        "language": one.language,
        "signature": one.signature,
        "elsewhere": [{"name": each.qualified, "path": each.path, "line": each.line} for each in found.others],
        "path": one.path,
        "line": one.line,
        "endLine": one.end_line,
        "usages": [
            {"path": each.path, "line": each.line, "within": each.within, "certainty": each.certainty}
            for each in used[:200]
        ],
    }
