from tools.builtin.encoding import TextFile
from tools.builtin.existing import required
from tools.builtin.replacement import replaced
from tools.changes import render_changes
from tools.host import FileChange, Host
from tools.spec import Arguments, Call, PreparedChange, ToolSpec


class EditFileArguments(Arguments):
    path: str
    old_text: str
    new_text: str
    replace_all: bool = False


class EditFile:
    spec = ToolSpec(
        name="edit_file",
        description=(
            "Replace a text in a file. oldText must be there exactly, spaces included, and only once unless replaceAll "
            "is set. Everything else in the file keeps its bytes."
        ),
        arguments=EditFileArguments,
        brief="Replace oldText, which must be there exactly and, without replaceAll, once, by newText.",
        executor="hybrid",
        effects="files",
    )

    async def prepare(self, args: EditFileArguments, host: Host, call: Call) -> PreparedChange:
        before = await required(host, args.path)
        file = TextFile.of(before, args.path)
        edited = replaced(file, args.old_text, args.new_text, args.path, every=args.replace_all)
        changes = (FileChange(args.path, before, file.encoded(edited.text, args.path)),)
        return PreparedChange(changes, render_changes(changes))
