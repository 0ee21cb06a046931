import re
from typing import Annotated

from pydantic import Field, JsonValue

from sidecar.wire.text import plural
from tools.errors import InvalidArguments
from tools.git import GitPath, run_git
from tools.host import Host
from tools.spec import Arguments, Call, Output, ToolResult, ToolSpec

#: Git's own format: `^1a2b3c4 path (Author 2024-01-31 12) text`; the path only if the file was renamed.
_LINE = re.compile(
    r"^\^?(?P<hash>[0-9a-f]+)\s+(?:\S+\s+)?\((?P<author>.+?)\s+(?P<date>\d{4}-\d\d-\d\d)\s+(?P<line>\d+)\)"
    r" ?(?P<text>.*)$",
    re.MULTILINE,
)
_LISTED = 1_000
Line = Annotated[int, Field(ge=1)]


class GitBlameArguments(Arguments):
    path: GitPath
    start_line: Line | None = None
    end_line: Line | None = None


class GitBlame:
    spec = ToolSpec(
        name="git_blame",
        description="Show who last changed each line of a file, and in which commit.",
        arguments=GitBlameArguments,
        executor="hybrid",
        retryable=True,
    )

    async def run(self, args: GitBlameArguments, host: Host, call: Call, output: Output) -> ToolResult:
        if args.start_line and args.end_line and args.end_line < args.start_line:
            raise InvalidArguments("endLine is before startLine.")
        await host.stat(args.path)
        part = [f"-L{args.start_line or 1},{args.end_line or ''}"] if args.start_line or args.end_line else []
        text = await run_git(host, call, ["blame", "--date=short", *part, "--", args.path])
        lines: list[JsonValue] = [{**found.groupdict(), "line": int(found["line"])} for found in _LINE.finditer(text)]
        details: JsonValue = {"path": args.path, "lines": lines[:_LISTED]}
        return ToolResult(text.rstrip("\n") or "(empty)", details, plural(text.count("\n"), "line"))
