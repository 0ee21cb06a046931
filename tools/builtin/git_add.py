from typing import Annotated

from pydantic import Field

from sidecar.wire.text import plural
from tools.git import GitPath, run_git
from tools.host import Host
from tools.spec import Arguments, Call, Output, ToolResult, ToolSpec

_CHANGED = ("-z", "--modified", "--deleted", "--others", "--exclude-standard")
_STAGED = ("--add", "--remove", "--replace")
_BATCH = 500


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
        """Not with `git add`: it asks every submodule for its status, by a Git with the submodule's configuration."""
        changed = await run_git(host, call, ["ls-files", *_CHANGED, "--", *args.paths()])
        # A repository in the workspace that isn't a submodule ends with a slash.
        paths = list(dict.fromkeys(path for path in changed.split("\0") if path and not path.endswith("/")))
        if not paths:
            # Nothing to do, or a path that Git doesn't know, which is an error.
            await run_git(host, call, ["ls-files", "--error-unmatch", "--", *args.paths()])
        for start in range(0, len(paths), _BATCH):
            await run_git(host, call, ["update-index", *_STAGED, "--", *paths[start : start + _BATCH]])
        names = ", ".join(args.paths()[:20])
        return ToolResult(
            f"Staged {names}.", {"paths": list(args.paths())}, f"staged {plural(len(args.paths()), 'path')}"
        )
