from tools.git import Reference, run_git
from tools.host import Host
from tools.spec import Arguments, Call, Output, ToolResult, ToolSpec
from tools.text import plural


class GitShowArguments(Arguments):
    ref: Reference


class GitShow:
    spec = ToolSpec(
        name="git_show",
        description="Show a commit with its diff, or a file at a ref (ref:path).",
        arguments=GitShowArguments,
        executor="hybrid",
        retryable=True,
    )

    async def run(self, args: GitShowArguments, host: Host, call: Call, output: Output) -> ToolResult:
        text = await run_git(host, call, ["show", "--no-ext-diff", "--no-textconv", "--no-color", args.ref, "--"])
        return ToolResult(text or "(empty)", {"ref": args.ref}, f"{args.ref}: {plural(text.count(chr(10)), 'line')}")
