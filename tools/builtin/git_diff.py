from sidecar.wire.text import plural
from tools.code.files import parsed
from tools.git import GitPath, Reference, commit_of, path_in_ref, run_git
from tools.host import Host
from tools.secret_files import withhold_secrets
from tools.spec import Arguments, Call, Output, ToolResult, ToolSpec


class GitDiffArguments(Arguments):
    ref: Reference | None = None
    path: GitPath | None = None
    staged: bool = False

    def paths(self) -> tuple[str, ...]:
        return (self.path or ".", *path_in_ref(self.ref))


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
        words += [commit_of(args.ref)] if args.ref else []
        text = await run_git(host, call, [*words, "--", *([args.path] if args.path else [])])
        text = text if call.approved else await parsed(text, lambda: withhold_secrets(text))
        return ToolResult(
            text or "No changes.", {"lines": text.count("\n")}, f"{plural(text.count(chr(10)), 'line')} of diff"
        )
