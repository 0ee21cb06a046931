from typing import Annotated

from pydantic import Field

from tools.builtin.encoding import TextFile
from tools.builtin.existing import required
from tools.builtin.replacement import replaced
from tools.changes import render_changes
from tools.errors import NoMatch
from tools.host import FileChange, Host
from tools.spec import Arguments, Call, PreparedChange, ToolSpec


class Edit(Arguments):
    old_text: str
    new_text: str


class MultiEditArguments(Arguments):
    path: str
    edits: Annotated[list[Edit], Field(min_length=1, max_length=200)]


class MultiEdit:
    spec = ToolSpec(
        name="multi_edit",
        description="Make several replacements in one file, one after the other: all of them, or none if one fails.",
        arguments=MultiEditArguments,
        executor="hybrid",
        effects="files",
    )

    async def prepare(self, args: MultiEditArguments, host: Host, call: Call) -> PreparedChange:
        before = await required(host, args.path)
        file = edited = TextFile.of(before, args.path)
        for number, edit in enumerate(args.edits, 1):
            try:
                edited = replaced(edited, edit.old_text, edit.new_text, args.path)
            except NoMatch as error:
                message = f"Edit {number} of {len(args.edits)} failed, so none was made. {error.message}"
                raise NoMatch(message) from error
        after = file.encoded(edited.text, args.path)
        if after == before:
            return PreparedChange((), render_changes((), f"The edits leave {args.path} as it is."))
        changes = (FileChange(args.path, before, after),)
        return PreparedChange(changes, render_changes(changes))
