from tools.changes import render_changes
from tools.errors import NotAFile
from tools.host import FileChange, Host
from tools.spec import Arguments, Call, PreparedChange, ToolSpec
from tools.text_files import read_required


class DeleteFileArguments(Arguments):
    path: str


class DeleteFile:
    spec = ToolSpec(
        name="delete_file",
        description="Delete one file; this can be undone. For directories use run_command.",
        arguments=DeleteFileArguments,
        executor="hybrid",
        effects="files",
    )

    async def prepare(self, args: DeleteFileArguments, host: Host, call: Call) -> PreparedChange:
        info = await host.stat(args.path, follow=False)
        if info.kind != "file":
            raise NotAFile(f"{args.path} is a {info.kind}, not a file.", advice="Delete it with run_command.")
        content = await read_required(host, args.path)
        changes = (FileChange(args.path, content, None, info.mode),)
        result = render_changes(changes)._replace(content=f"Deleted {args.path}.")
        return PreparedChange(changes, result, replaces=True)
