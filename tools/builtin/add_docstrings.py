from typing import Annotated

from pydantic import Field

from tools.builtin.existing import required
from tools.changes import told
from tools.code.docstrings import skeletons
from tools.code.edits import edited
from tools.code.source_file import source_of
from tools.errors import NoMatch
from tools.host import FileChange, Host
from tools.spec import Arguments, Call, PreparedChange, ToolSpec

_LISTED = 20


class AddDocstringsArguments(Arguments):
    path: str
    symbol: Annotated[str, Field(max_length=200, description="Only this one.")] | None = None


class AddDocstrings:
    spec = ToolSpec(
        name="add_docstrings",
        description=(
            "Add skeletons of docstrings (Python) or JSDoc (TypeScript, JavaScript) to public functions and classes "
            "that have none: arguments named, … where words are missing."
        ),
        arguments=AddDocstringsArguments,
        executor="hybrid",
        effects="files",
    )

    async def prepare(self, args: AddDocstringsArguments, host: Host, call: Call) -> PreparedChange:
        before = await required(host, args.path)
        source = source_of(args.path, before)
        found = skeletons(source, args.symbol)
        if not found.added:
            if args.symbol is not None and not found.passed_over:
                raise NoMatch(f"{args.path} defines no {args.symbol}; nothing was changed.")
            why = f": {found.passed_over[0][1]}" if found.passed_over else ""
            what = args.symbol or "Everything public"
            note = (
                f"{what} in {args.path} needs no docstring{why}."
                if args.symbol
                else (f"{what} in {args.path} has its docstring; nothing was changed.")
            )
            return PreparedChange((), told((), note))
        after = source.bom + edited(source.text, found.edits)
        changes = (FileChange(args.path, before, after),)
        names = ", ".join(f"{each.full_name} (line {each.line})" for each in found.added[:_LISTED])
        more = f" and {len(found.added) - _LISTED} more" if len(found.added) > _LISTED else ""
        kind = "docstring" if source.family == "python" else "comment"
        count = f"{len(found.added)} {kind} skeleton{'s' if len(found.added) != 1 else ''}"
        lines = [f"Added {count} in {args.path}: {names}{more}.", "Fill in the “…”: only a person knows these words."]
        lines += [f"Left alone: {each.full_name} (line {each.line}), {why}." for each, why in found.passed_over[:5]]
        note = "\n".join(lines)
        return PreparedChange(changes, told(changes, f"{note}\n")._replace(summary=lines[0][:200]))
