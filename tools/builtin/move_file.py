from typing import Annotated

from pydantic import Field

from tools.changes import render_changes
from tools.errors import FileExists, NotAFile
from tools.host import FileChange, Host
from tools.spec import Arguments, Call, PreparedChange, ToolSpec
from tools.text_files import read_existing, read_required


class MoveFileArguments(Arguments):
    from_: Annotated[str, Field(alias="from")]
    to: str

    def paths(self) -> tuple[str, ...]:
        return (self.from_, self.to)


class MoveFile:
    spec = ToolSpec(
        name="move_file",
        description="Move or rename one file. Fails if the new path exists.",
        arguments=MoveFileArguments,
        executor="hybrid",
        effects="files",
    )

    async def prepare(self, args: MoveFileArguments, host: Host, call: Call) -> PreparedChange:
        content = await read_required(host, args.from_)
        info = await host.stat(args.from_, follow=False)
        if info.kind != "file":
            raise NotAFile(f"{args.from_} is a symlink.", advice="Move it with run_command.")
        if await read_existing(host, args.to) is not None:
            raise FileExists(f"{args.to} already exists.", advice="Delete it first, or choose another name.")
        # The new file first, so that the content is never gone.
        changes = (FileChange(args.to, None, content, info.mode), FileChange(args.from_, content, None, info.mode))
        result = render_changes(changes)._replace(
            content=f"Moved {args.from_} to {args.to}.", summary=f"{args.from_} → {args.to}"
        )
        return PreparedChange(changes, result, replaces=True)
