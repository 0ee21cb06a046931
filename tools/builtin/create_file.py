from tools.changes import render_changes
from tools.errors import FileExists
from tools.host import FileChange, Host
from tools.spec import Arguments, Call, PreparedChange, ToolSpec
from tools.text_files import encode_text, read_existing


class CreateFileArguments(Arguments):
    path: str
    content: str = ""


class CreateFile:
    spec = ToolSpec(
        name="create_file",
        description="Create a file and missing directories. Fails if the file exists.",
        arguments=CreateFileArguments,
        executor="hybrid",
        effects="files",
    )

    async def prepare(self, args: CreateFileArguments, host: Host, call: Call) -> PreparedChange:
        if await read_existing(host, args.path) is not None:
            advice = "Use edit_file to change it, write_file to replace it."
            raise FileExists(f"{args.path} already exists.", advice=advice)
        changes = (FileChange(args.path, None, encode_text(args.content)),)
        return PreparedChange(changes, render_changes(changes))
