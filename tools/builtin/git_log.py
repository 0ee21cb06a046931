from typing import Annotated

from pydantic import Field

from tools.builtin.git import GitPath, git
from tools.host import Host
from tools.spec import Arguments, Call, Output, ToolResult, ToolSpec


class GitLogArguments(Arguments):
    path: GitPath | None = None
    limit: Annotated[int, Field(ge=1, le=1_000)] = 20


class GitLog:
    spec = ToolSpec(
        name="git_log",
        description="The latest commits, newest first, of all or of one path.",
        arguments=GitLogArguments,
        executor="hybrid",
        retryable=True,
    )

    async def run(self, args: GitLogArguments, host: Host, call: Call, output: Output) -> ToolResult:
        words = ["log", f"--max-count={args.limit}", "--no-color", "--date=iso-strict", "--format=%h %ad %an: %s"]
        text = await git(host, call, [*words, "--", *([args.path] if args.path else [])])
        count = len(text.splitlines())
        return ToolResult(text.rstrip("\n") or "No commit.", {"commits": count}, f"{count} commits")
