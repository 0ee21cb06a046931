import asyncio
from collections.abc import Sequence
from posixpath import dirname
from typing import Annotated

from pydantic import Field, JsonValue

from sidecar.wire.text import bulleted, plural
from tools.builtin.describe_symbol import COPY_NOTE, render_usages
from tools.code.files import is_copied
from tools.code.graph import Graph, describe_go_package, go_package, import_graph
from tools.code.languages import language_of
from tools.code.modules import Modules
from tools.code.symbol_search import DEPTH, FILES, Impact, Reached, SearchResult, SymbolSearch, find_impact
from tools.errors import ToolError
from tools.host import Host
from tools.paths import normalize
from tools.spec import Arguments, Call, Output, ToolResult, ToolSpec
from tools.test_files import is_test

_SHOWN = 40
_LEVEL = 15


class FindUsagesArguments(Arguments):
    symbol: Annotated[str, Field(min_length=1, max_length=1_000, description="parse, Parser.parse, or a file's path")]
    path: Annotated[str, Field(description="The file or folder that defines it.")] | None = None
    transitive: Annotated[bool, Field(description="Also indirect users, up to the tests.")] = False

    def paths(self) -> tuple[str, ...]:
        return (self.path or ".",)


class FindUsages:
    spec = ToolSpec(
        name="find_usages",
        description="List who uses a symbol or imports a file; transitive: what a change may break, and its tests.",
        arguments=FindUsagesArguments,
        executor="hybrid",
        timeout=60.0,
        retryable=True,
    )

    async def run(self, args: FindUsagesArguments, host: Host, call: Call, output: Output) -> ToolResult:
        if args.path is not None:
            await host.stat(args.path)
        search = SymbolSearch(host, call)
        modules = await search.modules()
        named = await asyncio.to_thread(_files, normalize(args.symbol, host.workspace), modules)
        found: SearchResult | None = None
        try:
            found = None if named else await search.find(args.symbol, args.path)
        except ToolError as error:
            named = await asyncio.to_thread(_modules_named, args, modules, error)
        if found is None:
            graph = await import_graph(host, call, modules)
            if args.symbol in graph.packages() or args.symbol in graph.standard:
                raise ToolError(f"No symbol {args.symbol} is defined in this project.", code="no_symbol")
            return _importers(named, graph, args.transitive, modules)
        one = found.definitions[0]
        head = f"`{one.qualified}` — {one.kind}, `{one.place}`{COPY_NOTE if is_copied(one.path) else ''}"
        if args.transitive:
            reach = await find_impact(found, search)
            # Without scopes, another symbol of the same name is a user, too.
            doubt = "" if one.family is not None else f"{one.language}: users are matched by name only."
            text = "\n\n".join(filter(None, [_render_impact(head, reach), doubt if reach.reached else ""]))
            return ToolResult(text, _reached_details(reach), f"{len(reach.reached)} reached")
        used = await search.find_usages(found)
        parts = [head, render_usages(one, used, _SHOWN)]
        if others := found.others:
            shown = ", ".join(f"`{each.qualified}` ({each.place})" for each in others[:5])
            parts.append(f"Other definitions: {shown}. Name the class or the file to choose one.")
        if found.left_out:
            parts.append(f"Only the first {FILES} files with this name were read; {found.left_out} were skipped.")
        details: list[JsonValue] = [
            {
                "path": each.path,
                "line": each.line,
                "within": each.within,
                "kind": each.kind,
                "certainty": each.certainty,
            }
            for each in used[:500]
        ]
        answer: dict[str, JsonValue] = {"usages": details, "copied": is_copied(one.path)}
        return ToolResult("\n\n".join(parts), answer, f"{plural(len(used), 'usage')} of {one.qualified}")


def _files(path: str, modules: Modules) -> list[str]:
    """The source files that a path names: one, or those of a folder."""
    named = [path] if path in modules else modules.inside(path) if "/" in path and modules.holds(path) else []
    return [each for each in named if language_of(each) is not None]


def _modules_named(args: FindUsagesArguments, modules: Modules, error: ToolError) -> list[str]:
    """The module that a name means if it is no symbol; raises the error if it is no module either."""
    named = modules.named(args.symbol) if error.code == "no_symbol" and args.path is None else []
    named = [each for each in named if language_of(each) is not None]
    own = [each for each in named if not is_test(each) and not is_copied(each)] or named
    if not own:
        raise error
    if len(own) > 1 and not (own[0].endswith(".go") and len({dirname(each) for each in own}) == 1):
        shown = ", ".join(own[:8])
        raise ToolError(f"{args.symbol} is the name of several modules ({shown}). Give a path.", code="ambiguous")
    return own


def _render_impact(head: str, reach: Impact) -> str:
    tests = [each for each in reach.reached if is_test(each.path)]
    code = [each for each in reach.reached if not is_test(each.path)]
    parts = [head]
    if not reach.reached:
        parts.append("Nothing in this project uses it, as far as can be seen.")
    for depth in range(1, DEPTH + 1):
        level = [each for each in code if each.depth == depth]
        if level:
            what = "**Uses it directly**" if depth == 1 else f"**{depth} steps away**"
            parts.append("\n".join([f"{what} ({len(level)}):", *_listed(level, depth > 1)]))
    if tests:
        files = sorted({each.path for each in tests})
        parts.append(
            "\n".join(
                [
                    f"**Tests that reach it** ({len(tests)} in {plural(len(files), 'file')}):",
                    *_listed(tests, False),
                ]
            )
        )
    elif code:
        parts.append("**No test** reaches it.")
    if reach.limit:
        parts.append(reach.limit)
    return "\n\n".join(parts)


def _listed(reached: Sequence[Reached], through: bool) -> list[str]:
    lines = []
    for each in reached:
        name = f"`{each.name}`" if each.name else "the module itself"
        way = f" (through `{each.through}`)" if through else ""
        perhaps = " (perhaps)" if each.certainty == "likely" else ""
        lines.append(f"{name} — `{each.path}:{each.line}`{way}{perhaps}")
    return bulleted(lines, _LEVEL)


def _reached_details(reach: Impact) -> JsonValue:
    return {
        "reached": [
            {"name": each.name, "path": each.path, "line": each.line, "depth": each.depth, "certainty": each.certainty}
            for each in reach.reached[:500]
        ]
    }


def _importers(named: Sequence[str], graph: Graph, transitive: bool, modules: Modules) -> ToolResult:
    path = named[0] if len(named) == 1 else dirname(named[0])
    levels = graph.affected(named, DEPTH if transitive else 1)
    count = sum(map(len, levels))
    together = describe_go_package(go_package(path, modules))
    if not levels:
        no_importer = f"No file in this project imports `{path}`.{together}"
        return ToolResult(no_importer, {"importers": []}, "no importer")
    parts = [together.strip()] if together else []
    for depth, level in enumerate(levels, 1):
        names = sorted(level, key=lambda each: (is_test(each), each))
        what = f"**Imported by** ({len(names)}):" if depth == 1 else f"**{depth} steps away** ({len(names)}):"
        parts.append("\n".join([what, *bulleted([f"`{name}`" for name in names], _LEVEL)]))
    if transitive:
        tests = sum(is_test(each) for level in levels for each in level)
        parts.append(
            f"Tests among the {plural(count, 'file')}: {tests}."
            if tests
            else "No test imports it, directly or indirectly."
        )
    importers: list[JsonValue] = [
        {"path": each, "depth": depth} for depth, level in enumerate(levels, 1) for each in level
    ]
    return ToolResult("\n\n".join([f"`{path}`", *parts]), {"importers": importers[:500]}, plural(count, "file"))
