from tools.git import GitPath, Reference, run_git
from tools.host import Host
from tools.spec import Arguments, Call, Output, ToolResult, ToolSpec
from tools.text import plural


class GitDiffArguments(Arguments):
    ref: Reference | None = None
    path: GitPath | None = None
    staged: bool = False


class GitDiff:
    spec = ToolSpec(
        name="git_diff",
        description="Show changes in the working tree, in the index, or against a ref.",
        arguments=GitDiffArguments,
        executor="hybrid",
        retryable=True,
    )

    async def run(self, args: GitDiffArguments, host: Host, call: Call, output: Output) -> ToolResult:
        words = ["diff", "--no-ext-diff", "--no-textconv", "--no-color"]
        words += ["--cached"] if args.staged else []
        words += [args.ref] if args.ref else []
        text = await run_git(host, call, [*words, "--", *([args.path] if args.path else [])])
        return ToolResult(
            text or "No changes.", {"lines": text.count("\n")}, f"{plural(text.count(chr(10)), 'line')} of diff"
        )
