from typing import Annotated

from pydantic import Field

from tools.builtin.git import GitPath, git
from tools.errors import InvalidArguments
from tools.host import Host
from tools.spec import Arguments, Call, Output, ToolResult, ToolSpec

Line = Annotated[int, Field(ge=1)]


class GitBlameArguments(Arguments):
    path: GitPath
    start_line: Line | None = None
    end_line: Line | None = None


class GitBlame:
    spec = ToolSpec(
        name="git_blame",
        description="Who last changed each line of a file, and in which commit.",
        arguments=GitBlameArguments,
        executor="hybrid",
        retryable=True,
    )

    async def run(self, args: GitBlameArguments, host: Host, call: Call, output: Output) -> ToolResult:
        if args.start_line and args.end_line and args.end_line < args.start_line:
            raise InvalidArguments("endLine comes before startLine.")
        await host.stat(args.path)
        part = [f"-L{args.start_line or 1},{args.end_line or ''}"] if args.start_line or args.end_line else []
        text = await git(host, call, ["blame", "--date=short", *part, "--", args.path])
        return ToolResult(text.rstrip("\n") or "(empty)", {"path": args.path}, f"{text.count(chr(10))} lines")
