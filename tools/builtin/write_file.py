from tools.changes import render_changes
from tools.host import FileChange, Host
from tools.spec import Arguments, Call, PreparedChange, ToolSpec
from tools.text_files import TextFile, encode_text, read_existing


class WriteFileArguments(Arguments):
    path: str
    content: str


class WriteFile:
    spec = ToolSpec(
        name="write_file",
        description=(
            "Write a whole file and create missing directories. An existing file keeps its encoding, line endings and "
            "mode. To change part of a file, use edit_file: it is shorter and safer."
        ),
        arguments=WriteFileArguments,
        brief="Write a whole file. To change part of one, use edit_file.",
        executor="hybrid",
        effects="files",
    )

    async def prepare(self, args: WriteFileArguments, host: Host, call: Call) -> PreparedChange:
        before = await read_existing(host, args.path)
        after = (
            encode_text(args.content) if before is None else TextFile.decode(before).rewrite(args.content, args.path)
        )
        if after == before:
            return PreparedChange((), render_changes((), f"{args.path} already has this content."))
        changes = (FileChange(args.path, before, after),)
        return PreparedChange(changes, render_changes(changes, written=True), replaces=True)
