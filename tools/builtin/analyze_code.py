from pydantic import JsonValue

from sidecar.wire.text import plural
from tools.code.files import open_outline
from tools.code.outline import Outline
from tools.host import Host
from tools.spec import Arguments, Call, Output, ResultSource, ToolResult, ToolSpec

_SIZE = 4 * 1024 * 1024
_CALLS = 40
_COMPLEX = 10


class AnalyzeCodeArguments(Arguments):
    path: str


class AnalyzeCode:
    spec = ToolSpec(
        name="analyze_code",
        description=(
            "Outline a source file: classes, functions and their lines, imports, frequent calls, complex functions. "
            "Python, JavaScript, TypeScript, TSX, Go, Rust, Java, C, C++."
        ),
        arguments=AnalyzeCodeArguments,
        executor="hybrid",
        retryable=True,
        cache="files",
    )

    async def run(self, args: AnalyzeCodeArguments, host: Host, call: Call, output: Output) -> ToolResult:
        info, _, outline = await open_outline(host, args.path, _SIZE)
        return ToolResult(
            content=_render(args.path, outline),
            details=_details(args.path, outline),
            summary=f"{outline.language}: {plural(len(outline.items), 'symbol')}",
            sources=(ResultSource(info),),
        )


def _render(path: str, outline: Outline) -> str:
    lines = [f"{path} ({outline.language})"]
    for symbol in outline.items:
        indent = "  " * (symbol.parent.count(".") + 1 if symbol.parent else 0)
        branches = f"  [complexity {symbol.complexity}]" if (symbol.complexity or 0) >= _COMPLEX else ""
        lines.append(f"{indent}{symbol.line}–{symbol.end_line} {symbol.kind} {symbol.name}{branches}")
    if outline.imports:
        lines += ["imports:", *(f"  {each}" for each in outline.imports)]
    if outline.calls:
        lines.append("calls: " + ", ".join(f"{name} ×{count}" for name, count in outline.calls.most_common(_CALLS)))
    if outline.errors:
        lines.append("syntax errors at lines " + ", ".join(map(str, outline.errors[:20])))
    return "\n".join(lines)


def _details(path: str, outline: Outline) -> JsonValue:
    symbols: list[JsonValue] = [
        {
            "name": symbol.name,
            "kind": symbol.kind,
            "line": symbol.line,
            "endLine": symbol.end_line,
            "parent": symbol.parent,
            "complexity": symbol.complexity,
        }
        for symbol in outline.items
    ]
    imports: list[JsonValue] = [*outline.imports]
    calls: dict[str, JsonValue] = dict(outline.calls.most_common(_CALLS))
    errors: list[JsonValue] = [*outline.errors[:100]]
    return {
        "path": path,
        "language": outline.language,
        "symbols": symbols,
        "imports": imports,
        "calls": calls,
        "syntaxErrors": errors,
    }
