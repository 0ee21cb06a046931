from tools.changes import render_changes
from tools.host import FileChange, Host
from tools.replacement import replace_in
from tools.spec import Arguments, Call, PreparedChange, ToolSpec
from tools.text_files import TextFile, read_required


class EditFileArguments(Arguments):
    path: str
    old_text: str
    new_text: str
    replace_all: bool = False


class EditFile:
    spec = ToolSpec(
        name="edit_file",
        description=(
            "Replace text in a file. oldText must match exactly, spaces included, and only once unless replaceAll is "
            "set. The rest of the file keeps its bytes."
        ),
        arguments=EditFileArguments,
        brief="Replace oldText, which must match exactly and only once (unless replaceAll), with newText.",
        executor="hybrid",
        effects="files",
    )

    async def prepare(self, args: EditFileArguments, host: Host, call: Call) -> PreparedChange:
        before = await read_required(host, args.path)
        file = TextFile.decode(before, args.path)
        edited = await replace_in(file, args.old_text, args.new_text, args.path, every=args.replace_all)
        changes = (FileChange(args.path, before, file.encode(edited.text, args.path)),)
        return PreparedChange(changes, render_changes(changes, written=True))
