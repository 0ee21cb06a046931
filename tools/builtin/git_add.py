from typing import Annotated

from pydantic import Field

from tools.git import GitPath, run_git
from tools.host import Host
from tools.spec import Arguments, Call, Output, ToolResult, ToolSpec
from tools.text import plural


class GitAddArguments(Arguments):
    paths_: Annotated[list[GitPath], Field(alias="paths", min_length=1, max_length=1_000)]

    def paths(self) -> tuple[str, ...]:
        return tuple(self.paths_)


class GitAdd:
    spec = ToolSpec(
        name="git_add",
        description="Stage files for the next commit.",
        arguments=GitAddArguments,
        executor="hybrid",
        parallel=False,
        effects="command",
        repeatable=True,
    )

    async def run(self, args: GitAddArguments, host: Host, call: Call, output: Output) -> ToolResult:
        await run_git(host, call, ["add", "--", *args.paths()])
        names = ", ".join(args.paths()[:20])
        return ToolResult(
            f"Staged {names}.", {"paths": list(args.paths())}, f"staged {plural(len(args.paths()), 'path')}"
        )
