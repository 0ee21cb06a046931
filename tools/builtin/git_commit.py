from typing import Annotated

from pydantic import Field

from tools.git import run_git
from tools.host import Host
from tools.spec import Arguments, Call, Output, ToolResult, ToolSpec


class GitCommitArguments(Arguments):
    message: Annotated[str, Field(min_length=1, max_length=20_000)]


class GitCommit:
    spec = ToolSpec(
        name="git_commit",
        description="Commit the staged changes; in a trusted workspace the repository's hooks run, in the sandbox.",
        arguments=GitCommitArguments,
        executor="hybrid",
        timeout=120.0,
        parallel=False,
        effects="command",
    )

    async def run(self, args: GitCommitArguments, host: Host, call: Call, output: Output) -> ToolResult:
        text = await run_git(host, call, ["commit", f"--message={args.message}"])
        commit = (await run_git(host, call, ["rev-parse", "HEAD"])).strip()
        return ToolResult(text.strip(), {"commit": commit}, f"commit {commit[:10]}")
