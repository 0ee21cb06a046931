import asyncio
from collections.abc import Sequence

from pydantic import JsonValue

from sidecar.wire.text import listed, plural
from tools.code.files import SIZE, count_lines, list_files, open_outline, open_sources
from tools.code.folders import describe_folder, file_purpose, folder_purpose, size_by_language
from tools.code.graph import describe_go_package, go_package, import_graph, script_package
from tools.code.languages import language_of
from tools.code.modules import Modules
from tools.code.outline import Outline, OutlineItem
from tools.code.project import ResolvedImport, resolve_imports
from tools.code.source import SourceText
from tools.host import Host
from tools.paths import folder_prefix
from tools.spec import Arguments, Call, Output, ToolResult, ToolSpec
from tools.test_files import is_test

_SYMBOLS = 40
_SHOWN = 15
_BUSY = 3
_BRANCHES = 4
_LONG = 40
_FILES = 200


class DescribeFileArguments(Arguments):
    path: str


class DescribeFile:
    spec = ToolSpec(
        name="describe_file",
        description="Describe a source file or folder: purpose, outline, imports, importers, complex parts.",
        arguments=DescribeFileArguments,
        executor="hybrid",
        retryable=True,
    )

    async def run(self, args: DescribeFileArguments, host: Host, call: Call, output: Output) -> ToolResult:
        if (await host.stat(args.path)).kind == "directory":
            return await _folder(args.path, host, call)
        _, source, outline = await open_outline(host, args.path, SIZE)
        modules = await asyncio.to_thread(Modules, await list_files(host, call))
        imported = await asyncio.to_thread(resolve_imports, source, modules)
        importers = (await import_graph(host, call, modules)).importers(args.path)
        together = describe_go_package(go_package(args.path, modules)).strip()
        lines = _render(source, outline, imported, sorted(importers, key=lambda each: (is_test(each), each)))
        lines += f"\n\n{together}" if together else ""
        known: list[JsonValue] = [*sorted(importers)[:200]]
        details: dict[str, JsonValue] = {
            "path": args.path,
            "language": outline.language,
            "symbols": len(outline.items),
            "importers": known,
        }
        return ToolResult(lines, details, f"{outline.language}, {plural(len(outline.items), 'symbol')}")


async def _folder(path: str, host: Host, call: Call) -> ToolResult:
    files = await list_files(host, call)
    inside = [each for each in files if each.startswith(folder_prefix(path))]
    counted = await count_lines(host, call)
    sources = await open_sources(host, [each for each in inside if language_of(each) is not None][:_FILES])
    graph = await import_graph(host, call, await asyncio.to_thread(Modules, files))
    text = await folder_purpose(host, path, frozenset(files))
    described = await asyncio.to_thread(describe_folder, path, text, counted, inside, sources, graph)
    sizes = await asyncio.to_thread(size_by_language, inside, counted)
    total = sum(counted.get(each, 0) for each in inside)
    details: dict[str, JsonValue] = {"path": path, "files": len(inside), "lines": total, **sizes}
    return ToolResult(described, details, plural(len(inside), "file"))


def _render(source: SourceText, outline: Outline, imported: Sequence[ResolvedImport], importers: Sequence[str]) -> str:
    lines = source.content.count(b"\n") + (not source.content.endswith(b"\n") and bool(source.content))
    kind = "a test" if is_test(source.path) else "a file"
    parts = [f"**`{source.path}`** is {kind} in {outline.language}, {plural(lines, 'line')}."]
    if doc := file_purpose(source):
        parts.append("\n".join(f"> {line}".rstrip() for line in doc.splitlines()[:12]))
    if outline.errors:
        parts.append(f"It has a **syntax error** near line {outline.errors[0]}, so this may be incomplete.")
    parts += [each for each in (_outline(outline), _complex(outline), _imports(source, imported, outline)) if each]
    if importers:
        parts.append(f"**Imported by** ({len(importers)}) {_names(importers)}.")
    elif source.family is not None:
        parts.append("**Imported by** no other file in this project.")
    return "\n\n".join(parts)


def _outline(outline: Outline) -> str:
    shown = [each for each in outline.items if each.parent.count(".") < 1 and not _local(each, outline)]
    if not shown:
        return "It defines no functions or classes."
    lines = []
    for symbol in shown[:_SYMBOLS]:
        indent = "  " if symbol.parent else ""
        lines.append(f"{indent}- `{_short(symbol)}` — {symbol.kind}, line {symbol.line}")
    if len(shown) > _SYMBOLS:
        lines.append(f"- … {len(shown) - _SYMBOLS} more")
    return "\n".join(["**Defines**", *lines])


def _local(symbol: OutlineItem, outline: Outline) -> bool:
    """Whether a symbol is nested in a function."""
    return any(each.name == symbol.parent and each.kind in ("function", "method") for each in outline.items)


def _short(symbol: OutlineItem) -> str:
    line = symbol.signature.rstrip(" {:").removesuffix("=>").strip()
    return line if len(line) <= 100 and line.count("(") == line.count(")") else f"{symbol.name}(…)"


def _complex(outline: Outline) -> str:
    busy = [each for each in outline.items if (each.complexity or 0) > _BRANCHES or _length(each) > _LONG]
    busy = [each for each in busy if each.complexity is not None]
    busy.sort(key=lambda each: (-(each.complexity or 0), -_length(each)))
    if not busy:
        return ""
    text = [
        f"`{each.name}` ({plural((each.complexity or 1) - 1, 'branch', 'branches')}, {plural(_length(each), 'line')})"
        for each in busy[:_BUSY]
    ]
    return f"**Most complex** {', '.join(text)}."


def _length(symbol: OutlineItem) -> int:
    return symbol.end_line - symbol.line + 1


def _imports(source: SourceText, imported: Sequence[ResolvedImport], outline: Outline) -> str:
    if source.family is None:
        shown = ", ".join(f"`{each}`" for each in outline.imports[:_SHOWN])
        return f"**Imports** {shown}." if shown else ""
    own: dict[str, None] = dict.fromkeys(each.file for each in imported if each.file is not None)
    outside = dict.fromkeys(
        each.module.partition(".")[0] if source.family == "python" else script_package(each.module)
        for each in imported
        if each.file is None
    )
    lost = [each for each in imported if each.file is None and each.module.startswith(".")]
    outside = {name: None for name in outside if name}
    parts = []
    if own:
        parts.append(f"**Imports** from this project {_names(list(own))}")
    if outside:
        parts.append(f"{'from packages' if own else '**Imports** from packages'} {_names(list(outside))}")
    lines = "; ".join(parts) + "." if parts else ""
    if lost:
        lines += f" Not found: {_names(sorted({each.module for each in lost}))}."
    return lines.strip()


def _names(names: Sequence[str]) -> str:
    return listed([f"`{name}`" for name in names], _SHOWN)
