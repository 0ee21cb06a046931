from typing import Annotated

from pydantic import Field

from tools.changes import render_changes
from tools.errors import NoMatch
from tools.host import FileChange, Host
from tools.replacement import replace_in
from tools.spec import Arguments, Call, PreparedChange, ToolSpec
from tools.text_files import TextFile, read_required


class Edit(Arguments):
    old_text: str
    new_text: str


class MultiEditArguments(Arguments):
    path: str
    edits: Annotated[list[Edit], Field(min_length=1, max_length=200)]


class MultiEdit:
    spec = ToolSpec(
        name="multi_edit",
        description="Make several replacements in one file, in order; if one fails, none is made.",
        brief="Several edits of one file, all or none.",
        arguments=MultiEditArguments,
        executor="hybrid",
        effects="files",
    )

    async def prepare(self, args: MultiEditArguments, host: Host, call: Call) -> PreparedChange:
        before = await read_required(host, args.path)
        file = edited = TextFile.decode(before, args.path)
        for number, edit in enumerate(args.edits, 1):
            try:
                edited = await replace_in(edited, edit.old_text, edit.new_text, args.path)
            except NoMatch as error:
                message = f"Edit {number} of {len(args.edits)} failed, so no edit was made. {error.message}"
                raise NoMatch(message, advice=error.advice) from error
        after = file.encode(edited.text, args.path)
        if after == before:
            return PreparedChange((), render_changes((), f"The edits don't change {args.path}."))
        changes = (FileChange(args.path, before, after),)
        return PreparedChange(changes, render_changes(changes, written=True))
