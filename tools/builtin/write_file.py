from tools.builtin.encoding import TextFile, new_text
from tools.builtin.existing import existing
from tools.changes import render_changes
from tools.host import FileChange, Host
from tools.spec import Arguments, Call, PreparedChange, ToolSpec


class WriteFileArguments(Arguments):
    path: str
    content: str


class WriteFile:
    spec = ToolSpec(
        name="write_file",
        description=(
            "Write a whole file; missing directories are made. An existing file keeps its encoding, line "
            "endings and mode. To change a part of a file, use edit_file: it is shorter and safer."
        ),
        arguments=WriteFileArguments,
        brief="Write a whole file, new or not. To change a part of one, use edit_file.",
        executor="hybrid",
        effects="files",
    )

    async def prepare(self, args: WriteFileArguments, host: Host, call: Call) -> PreparedChange:
        before = await existing(host, args.path)
        after = new_text(args.content) if before is None else TextFile.of(before).rewritten(args.content, args.path)
        if after == before:
            return PreparedChange((), render_changes((), f"{args.path} has this content already."))
        changes = (FileChange(args.path, before, after),)
        return PreparedChange(changes, render_changes(changes), replaces=True)
