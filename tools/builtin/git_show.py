from sidecar.wire.text import plural
from tools.code.files import parsed
from tools.git import Reference, commit_of, path_in_ref, run_git
from tools.host import Host
from tools.secret_files import withhold_secrets
from tools.spec import Arguments, Call, Output, ToolResult, ToolSpec


class GitShowArguments(Arguments):
    ref: Reference

    def paths(self) -> tuple[str, ...]:
        return path_in_ref(self.ref) or (".",)


class GitShow:
    spec = ToolSpec(
        name="git_show",
        description="Show a commit with its diff, or a file at a ref (ref:path).",
        arguments=GitShowArguments,
        executor="hybrid",
        retryable=True,
    )

    async def run(self, args: GitShowArguments, host: Host, call: Call, output: Output) -> ToolResult:
        text = await run_git(
            host, call, ["show", "--no-ext-diff", "--no-textconv", "--no-color", commit_of(args.ref), "--"]
        )
        text = text if call.approved else await parsed(text, lambda: withhold_secrets(text))
        return ToolResult(text or "(empty)", {"ref": args.ref}, f"{args.ref}: {plural(text.count(chr(10)), 'line')}")
