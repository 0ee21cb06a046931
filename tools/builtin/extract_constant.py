from typing import Annotated

from pydantic import Field

from tools.builtin.existing import required
from tools.changes import told
from tools.code.constants import Extraction, extracted
from tools.code.finding import Refusal
from tools.code.python import python_scopes
from tools.code.script import script_scopes
from tools.code.source_file import source_of
from tools.errors import InvalidArguments, ToolError
from tools.host import FileChange, Host
from tools.spec import Arguments, Call, PreparedChange, ToolSpec


class ExtractConstantArguments(Arguments):
    path: str
    name: Annotated[str, Field(min_length=1, max_length=100)]
    value: (
        Annotated[str, Field(max_length=1_000, description="As it is written in the code, quotes included.")] | None
    ) = None
    line: Annotated[int, Field(ge=1, description="Only there; else everywhere in the file.")] | None = None
    function: Annotated[str, Field(description="Only inside of it.")] | None = None


class ExtractConstant:
    spec = ToolSpec(
        name="extract_constant",
        description="Give a literal a name at the top of its file, and use that (Python, TypeScript, JavaScript).",
        arguments=ExtractConstantArguments,
        executor="hybrid",
        effects="files",
    )

    async def prepare(self, args: ExtractConstantArguments, host: Host, call: Call) -> PreparedChange:
        if args.value is None and args.line is None:
            raise InvalidArguments("Say which literal: its value, or its line.")
        before = await required(host, args.path)
        source = source_of(args.path, before)
        try:
            file = python_scopes(source) if source.family == "python" else script_scopes(source)
            done = extracted(Extraction(args.name, args.value, args.line, args.function), file)
        except Refusal as refusal:
            raise ToolError(refusal.message, code=refusal.code) from refusal
        source_of(args.path, done.content)
        changes = (FileChange(args.path, before, done.content),) if done.content != before else ()
        lines = ", ".join(map(str, done.lines[:20]))
        many = "s" if len(done.lines) != 1 else ""
        where = f"{len(done.lines)} place{many} (line{many} {lines})"
        new = f"; {args.name} was there already, at line {done.there}" if done.there else ""
        note = f"{done.value} is now {args.name} in {args.path}: {where}{new}."
        return PreparedChange(changes, told(changes, f"{note}\n")._replace(summary=note[:200]))
