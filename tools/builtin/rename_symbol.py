import asyncio
from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field, JsonValue

from sidecar.wire.text import listed, plural
from tools.changes import render_changes
from tools.code.codebase import Codebase
from tools.code.rename import OTHER_CODE, RenameRequest, RenameResult, plan_rename
from tools.errors import ToolError
from tools.host import FileChange, Host
from tools.spec import Arguments, Call, PreparedChange, ToolSpec

_LISTED = 20


class RenameSymbolArguments(Arguments):
    symbol: Annotated[str, Field(min_length=1, max_length=200, description="name, Class.member or function.local")]
    new_name: Annotated[str, Field(min_length=1, max_length=200)]
    path: Annotated[str, Field(description="Its file, if several symbols have this name.")] | None = None
    line: Annotated[int, Field(ge=1)] | None = None
    include_strings: Annotated[bool, Field(description="Also whole words in strings and comments.")] = False
    uncertain: Annotated[
        Literal["refuse", "leave", "rename"], Field(description="Places that may mean something else; look first.")
    ] = "refuse"
    preview: Annotated[bool, Field(description="Only show the diff.")] = False

    def paths(self) -> tuple[str, ...]:
        return (".",)


class RenameSymbol:
    spec = ToolSpec(
        name="rename_symbol",
        description=(
            "Rename a function, class, method, attribute, variable or parameter everywhere, following scopes and "
            "imports (Python, TypeScript, JavaScript). If a place is uncertain, it lists these and changes nothing."
        ),
        arguments=RenameSymbolArguments,
        executor="hybrid",
        effects="files",
    )

    async def prepare(self, args: RenameSymbolArguments, host: Host, call: Call) -> PreparedChange:
        also = [args.path] if args.path and (await host.stat(args.path)).kind == "file" else []
        word, new = args.symbol.rpartition(".")[2], args.new_name.rpartition(".")[2]
        base = await Codebase.with_words([word], host, call, also, analyzed=frozenset({word, new}))
        await base.read_texts([word])
        request = RenameRequest(
            args.symbol, args.new_name, args.path, args.line, args.include_strings, args.uncertain == "rename"
        )
        done = await base.ask(lambda project: plan_rename(request, project, base.texts))
        doubts = _doubts(done, args, base)
        if doubts and args.uncertain == "refuse" and not args.preview:
            raise ToolError(
                "\n".join(
                    [f"Nothing was renamed, because it may break the program. Certain: {_where(done)}.", *doubts]
                ),
                advice='Look at these places, then call again with uncertain "leave" or "rename".',
                code="uncertain",
                details={"unsure": _unsure(done), "symbol": done.symbol.details},
            )
        befores = {**base.texts, **base.contents}
        changes = tuple(FileChange(path, befores[path], content) for path, content in sorted(done.contents.items()))
        note = "\n".join([_first_line(done, args), *doubts, *_notes(done, base)])
        result = await asyncio.to_thread(render_changes, changes, f"{note}\n")
        files = result.details.get("files") if isinstance(result.details, dict) else None
        result = result._replace(
            summary=note.partition("\n")[0],
            details={
                "note": note,
                "symbol": done.symbol.details,
                "files": files,
                "places": _count(done),
                "leftAlone": [f"{path}:{line}" for path, line in done.mentions[:200]],
                "unsure": _unsure(done),
                "preview": args.preview,
            },
        )
        return PreparedChange(() if args.preview else changes, result)


def _unsure(done: RenameResult) -> list[JsonValue]:
    return [f"{path}:{line}" for path, line in done.references.likely_lines[:200]]


def _count(done: RenameResult) -> int:
    return done.places + done.in_strings + done.in_documents


def _where(done: RenameResult) -> str:
    return f"{plural(_count(done), 'place')} in {plural(len(done.contents), 'file')}"


def _first_line(done: RenameResult, args: RenameSymbolArguments) -> str:
    symbol = done.symbol
    act = "Preview, nothing was written: renaming" if args.preview else "Renamed"
    what = f"{symbol.kind} {symbol.qualified_name} ({symbol.path}:{symbol.line})"
    return f"{act} {what} to {args.new_name}: {_where(done)}."


def _doubts(done: RenameResult, args: RenameSymbolArguments, base: Codebase) -> list[str]:
    """What may break the program: places that may mean the symbol, and files that can't be changed."""
    found = []
    if (unsure := done.references.likely_lines) and args.uncertain != "rename":
        found.append(f"Not sure, left alone: {_listed(unsure)}.")
    found += list(dict.fromkeys(done.references.risks))[:_LISTED]
    other = [(path, line) for path, line in done.mentions if path.endswith(OTHER_CODE)]
    if other:
        found.append(f"Not sure, in another language, left alone: {_listed(other)}.")
    locked = [(path, why) for path, why in _skipped(base) if not _is_broken(path, base)]
    return found + [f"Left alone: {path}, {why}." for path, why in locked[:_LISTED]]


def _notes(done: RenameResult, base: Codebase) -> list[str]:
    """What stays as it is and breaks nothing."""
    lines = [f"{done.in_strings} of them in strings and comments."] if done.in_strings else []
    lines += [f"{done.in_documents} of them in documents."] if done.in_documents else []
    lines += list(dict.fromkeys(done.references.notes))[:5]
    if written := [each for each in done.mentions if not each[0].endswith(OTHER_CODE)]:
        lines.append(f"Also named in strings, comments and documents, left alone: {_listed(written)}.")
    broken = [(path, why) for path, why in _skipped(base) if _is_broken(path, base)]
    return lines + [f"Left alone: {path}, {why}." for path, why in broken[:_LISTED]]


def _skipped(base: Codebase) -> list[tuple[str, str]]:
    return [(path, why) for path, why in sorted(base.project.skipped.items()) if path in base.matches]


def _is_broken(path: str, base: Codebase) -> bool:
    """Whether a file has a syntax error, so that no program runs it."""
    source = base.project.sources.get(path)
    return source is not None and source.is_utf8 and bool(source.errors)


def _listed(places: Sequence[tuple[str, int]]) -> str:
    return listed([f"{path}:{line}" for path, line in places], _LISTED)
