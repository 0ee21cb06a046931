from typing import Annotated

from pydantic import Field

from tools.changes import render_changes
from tools.code.codebase import Codebase
from tools.code.rename import RenameRequest, RenameResult, plan_rename
from tools.host import FileChange, Host
from tools.spec import Arguments, Call, PreparedChange, ToolSpec

_LISTED = 20


class RenameSymbolArguments(Arguments):
    symbol: Annotated[str, Field(min_length=1, max_length=200, description="name, Class.member or function.local")]
    new_name: Annotated[str, Field(min_length=1, max_length=100)]
    path: Annotated[str, Field(description="Its file, if several symbols have this name.")] | None = None
    line: Annotated[int, Field(ge=1)] | None = None
    include_strings: Annotated[bool, Field(description="Also whole words in strings and comments.")] = False
    preview: Annotated[bool, Field(description="Only show the diff.")] = False

    def paths(self) -> tuple[str, ...]:
        return (".",)


class RenameSymbol:
    spec = ToolSpec(
        name="rename_symbol",
        description=(
            "Rename a function, class, method, attribute, variable or parameter everywhere, following scopes and "
            "imports (Python, TypeScript, JavaScript). Uncertain places are listed and left alone."
        ),
        arguments=RenameSymbolArguments,
        executor="hybrid",
        effects="files",
    )

    async def prepare(self, args: RenameSymbolArguments, host: Host, call: Call) -> PreparedChange:
        also = [args.path] if args.path and (await host.stat(args.path)).kind == "file" else []
        word = args.symbol.rpartition(".")[2]
        base = await Codebase.with_words([word], host, call, also, analyzed=frozenset({word, args.new_name}))
        request = RenameRequest(args.symbol, args.new_name, args.path, args.line, args.include_strings)
        done = await base.ask(lambda project: plan_rename(request, project))
        changes = tuple(
            FileChange(path, base.contents[path], content) for path, content in sorted(done.contents.items())
        )
        note = _note(done, args, base)
        result = render_changes(changes, f"{note}\n")
        files = result.details.get("files") if isinstance(result.details, dict) else None
        summary = note.partition("\n")[0]
        result = result._replace(
            summary=summary,
            details={
                "note": note,
                "symbol": done.symbol.details,
                "files": files,
                "places": done.places + done.in_strings,
                "unsure": [f"{path}:{line}" for path, line in done.references.likely_lines[:200]],
                "preview": args.preview,
            },
        )
        return PreparedChange(() if args.preview else changes, result)


def _note(done: RenameResult, args: RenameSymbolArguments, base: Codebase) -> str:
    places, files = done.places + done.in_strings, len(done.contents)
    act = "Preview, nothing was written: renaming" if args.preview else "Renamed"
    where = f"{places} place{'s' if places != 1 else ''} in {files} file{'s' if files != 1 else ''}"
    symbol = done.symbol
    lines = [f"{act} {symbol.kind} {symbol.qualified_name} ({symbol.path}:{symbol.line}) to {args.new_name}: {where}."]
    if done.in_strings:
        lines.append(f"{done.in_strings} of them in strings and comments.")
    if unsure := done.references.likely_lines:
        shown = ", ".join(f"{path}:{line}" for path, line in unsure[:_LISTED])
        more = f" and {len(unsure) - _LISTED} more" if len(unsure) > _LISTED else ""
        lines.append(f"Not sure, left alone: {shown}{more}.")
    lines += list(dict.fromkeys(done.references.notes))[:5]
    broken = [(path, why) for path, why in sorted(base.project.skipped.items()) if path in base.matches]
    lines += [f"Left alone: {path}, {why}." for path, why in broken[:_LISTED]]
    return "\n".join(lines)
