import asyncio
import re
import time
from collections.abc import Callable
from typing import Annotated

from pydantic import Field, JsonValue

from sidecar.wire.text import plural
from tools.errors import InvalidArguments, NotADirectory, TimedOut
from tools.globs import matcher
from tools.host import Host
from tools.paths import folder_prefix
from tools.ripgrep import run_ripgrep
from tools.skipped import LEFT_OUT, without_build_output
from tools.spec import Arguments, Call, Output, ToolResult, ToolSpec

_SHOWN = 500
_MATCH_SECONDS = 30.0


class FindFilesArguments(Arguments):
    pattern: Annotated[str, Field(min_length=1, max_length=1_000, description="A glob: *.py, src/**/test_*.ts.")]
    path: str = "."


class FindFiles:
    spec = ToolSpec(
        name="find_files",
        description=f"Find files by a glob over names or paths; {LEFT_OUT}",
        arguments=FindFilesArguments,
        brief="Find files by a glob, such as src/**/*.py.",
        executor="hybrid",
        retryable=True,
    )

    async def run(self, args: FindFilesArguments, host: Host, call: Call, output: Output) -> ToolResult:
        if (await host.stat(args.path)).kind != "directory":
            raise NotADirectory(f"{args.path} is a file.", advice="Pass the directory to search.")
        pattern = args.pattern.removeprefix("./")
        # ripgrep handles an excluding glob itself.
        out = [f"--glob={pattern}"] if pattern.startswith("!") else []
        try:
            fits = matcher("*" if out else pattern)
        except (ValueError, re.error) as error:
            raise InvalidArguments(
                f"{args.pattern} is not a valid glob: {error}.", advice="Correct the pattern."
            ) from error
        listed = await run_ripgrep(host, call, ["--files", "--null", "--hidden", *out], args.path, named=pattern)
        # Many names, or a pattern with many ways to match, must not hold up everybody else.
        deadline = time.monotonic() + _MATCH_SECONDS
        fitting = await asyncio.to_thread(_fitting, listed, folder_prefix(args.path), fits, deadline)
        found = await without_build_output(host, fitting, args.path, pattern)
        if not found:
            return ToolResult(f"No file matches {args.pattern}. Try **/ in front, or *.", {"paths": []}, "no file")
        more = f"\n… {len(found) - _SHOWN} more; use a narrower pattern" if len(found) > _SHOWN else ""
        paths: list[JsonValue] = [*found[:_SHOWN]]
        return ToolResult("\n".join(found[:_SHOWN]) + more, {"paths": paths}, plural(len(found), "file"))


def _fitting(listed: str, prefix: str, fits: Callable[[str], bool], deadline: float) -> list[str]:
    found = []
    for name in listed.split("\0"):
        if name and fits(name := name.removeprefix("./")):
            found.append(f"{prefix}{name}")
        if time.monotonic() > deadline:
            raise TimedOut(
                f"Matching the names took longer than {_MATCH_SECONDS:g} s.", advice="Use a simpler pattern."
            )
    return sorted(found)
