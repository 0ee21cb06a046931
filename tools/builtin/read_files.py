import asyncio
from typing import Annotated

from pydantic import Field, JsonValue

from tools.builtin.read_file import read_path
from tools.errors import SecretFile, ToolError
from tools.host import Host
from tools.spec import Arguments, Call, Output, ResultSource, ToolResult, ToolSpec
from tools.text import CONTENT, clip, plural

_CHUNK = 20


class ReadFilesArguments(Arguments):
    paths_: Annotated[list[str], Field(alias="paths", min_length=1, max_length=500)]

    def paths(self) -> tuple[str, ...]:
        return tuple(self.paths_)


class ReadFiles:
    spec = ToolSpec(
        name="read_files",
        description="Read several files at once, with line numbers. A file that can't be read doesn't stop the others.",
        arguments=ReadFilesArguments,
        executor="hybrid",
        retryable=True,
        cache="files",
    )

    async def run(self, args: ReadFilesArguments, host: Host, call: Call, output: Output) -> ToolResult:
        paths = list(dict.fromkeys(args.paths()))
        parts: list[str] = []
        files: list[JsonValue] = []
        sources: list[ResultSource] = []
        share = max(CONTENT // len(paths) - 100, 1_000)
        failed = 0
        for number, path in enumerate(paths, 1):
            try:
                result = await read_path(host, path, None, None)
            except SecretFile:
                raise  # the whole call asks
            except ToolError as error:
                failed += 1
                parts.append(f"── {path}: {error.message}")
                files.append({"path": path, "error": {"code": error.code, "message": error.message}})
            else:
                parts.append(f"── {path}\n{clip(result.content, share)}")
                files.append(result.details)
                sources.extend(result.sources)
            if number % _CHUNK == 0:
                await asyncio.sleep(0)  # let other tasks run
        # A missing file may appear later, so such a result is not cached.
        kept = tuple(sources) if not failed else ()
        summary = f"{len(paths) - failed} of {len(paths)} files" if failed else plural(len(paths), "file")
        return ToolResult("\n".join(parts), {"files": files}, summary, sources=kept)
