import asyncio
import re
from typing import Annotated

from pydantic import Field, JsonValue

from sidecar.wire.text import plural
from tools.code.files import SOURCES, matching_files
from tools.code.outline import OutlineItem, outline_of
from tools.code.source import SourceText
from tools.errors import ToolError
from tools.host import Host
from tools.ripgrep import only
from tools.spec import Arguments, Call, Output, ToolResult, ToolSpec

_FILES = 500
_SIZE = 1 << 20
_SHOWN = 200


class FindSymbolsArguments(Arguments):
    query: Annotated[str, Field(min_length=1, max_length=200, description="A name, or part of one.")]
    path: str = "."


class FindSymbols:
    spec = ToolSpec(
        name="find_symbols",
        description="Find definitions of classes, functions, methods and types by name; exact matches come first.",
        arguments=FindSymbolsArguments,
        executor="hybrid",
        retryable=True,
    )

    async def run(self, args: FindSymbolsArguments, host: Host, call: Call, output: Output) -> ToolResult:
        paths = await _candidates(args, host, call)
        found: list[tuple[str, OutlineItem]] = []
        for number, path in enumerate(paths[:_FILES], 1):
            try:
                outline = outline_of(SourceText(path, await host.read(path, _SIZE)))
            except ToolError:
                continue  # gone meanwhile
            wanted = args.query.casefold()
            found += [(path, symbol) for symbol in outline.items if wanted in symbol.name.casefold()] if outline else []
            if number % 20 == 0:
                await asyncio.sleep(0)
        found.sort(key=lambda each: (each[1].name != args.query, len(each[1].name), each[0], each[1].line))
        if not found:
            return ToolResult(
                f"No symbol matches {args.query!r}. Use search_code for other text.", {"symbols": []}, "no symbol"
            )
        lines = [
            f"{path}:{symbol.line} {symbol.kind} {f'{symbol.parent}.' if symbol.parent else ''}{symbol.name}"
            for path, symbol in found[:_SHOWN]
        ]
        symbols: list[JsonValue] = [
            {
                "path": path,
                "name": symbol.name,
                "parent": symbol.parent,
                "kind": symbol.kind,
                "line": symbol.line,
                "endLine": symbol.end_line,
            }
            for path, symbol in found[:_SHOWN]
        ]
        more = f"\n… {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
        return ToolResult("\n".join(lines) + more, {"symbols": symbols}, plural(len(found), "symbol"))


async def _candidates(args: FindSymbolsArguments, host: Host, call: Call) -> list[str]:
    """Files that contain the query; only those are parsed. Files named after the symbol come first."""
    if (await host.stat(args.path)).kind == "file":
        return [args.path]
    options = ["--files-with-matches", "--null", "--ignore-case", "--fixed-strings", *only(SOURCES)]
    names = await matching_files(host, call, [*options, "--regexp", args.query, "--", "."], args.path)
    word = re.sub(r"\W|_", "", args.query).casefold()
    return sorted(names, key=lambda name: (word not in name.casefold(), name))
