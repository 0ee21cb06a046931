import asyncio
from typing import Annotated

from pydantic import Field, JsonValue

from sidecar.wire.text import plural
from tools.builtin.read_file import read_path
from tools.errors import SecretFile, ToolError
from tools.host import Host
from tools.spec import Arguments, Call, Output, ResultSource, ToolResult, ToolSpec
from tools.text import CONTENT

#: Room for the line that says what was cut.
_NOTE = 100


class ReadFilesArguments(Arguments):
    paths_: Annotated[list[str], Field(alias="paths", min_length=1, max_length=500)]
    chunk_size: Annotated[
        int, Field(ge=1, le=500, description="Files in one answer; it names the others to ask for next.")
    ] = 100

    def paths(self) -> tuple[str, ...]:
        return tuple(self.paths_)


class ReadFiles:
    spec = ToolSpec(
        name="read_files",
        description=(
            "Read several files at once, with line numbers. A file that can't be read doesn't stop the others; one "
            "that is too long is cut, and the answer says after which line."
        ),
        arguments=ReadFilesArguments,
        executor="hybrid",
        retryable=True,
        cache="files",
    )

    async def run(self, args: ReadFilesArguments, host: Host, call: Call, output: Output) -> ToolResult:
        wanted = list(dict.fromkeys(args.paths()))
        paths, later = wanted[: args.chunk_size], wanted[args.chunk_size :]
        parts: list[str] = []
        files: list[JsonValue] = []
        sources: list[ResultSource] = []
        read: dict[str, ToolResult] = {}
        failed: dict[str, ToolError] = {}
        for path in paths:
            try:
                read[path] = await read_path(host, path, None, None)
            except SecretFile:
                raise  # the whole call asks
            except ToolError as error:
                failed[path] = error
            await asyncio.sleep(0)  # let other tasks run
        room = _share([len(result.content) for result in read.values()], CONTENT - _NOTE * len(paths) - 60 * len(later))
        for path in paths:
            if problem := failed.get(path):
                parts.append(f"── {path}: {problem.message}")
                files.append({"path": path, "error": {"code": problem.code, "message": problem.message}})
                continue
            result = read[path]
            parts.append(f"── {path}\n{_fit(result, room)}")
            files.append(result.details)
            sources.extend(result.sources)
        if later:
            parts.append(f"Not read, because chunkSize is {args.chunk_size}; ask for them next: {', '.join(later)}")
        # A missing file may appear later, so such a result is not cached.
        kept = tuple(sources) if not failed else ()
        summary = f"{len(read)} of {len(wanted)} files" if failed or later else plural(len(paths), "file")
        return ToolResult("\n".join(parts), {"files": files}, summary, sources=kept)


def _share(sizes: list[int], room: int) -> int:
    """The characters that each file may take: what short files leave goes to the long ones."""
    left, open_ = room, len(sizes)
    for size in sorted(sizes):
        if size * open_ > left:
            break
        left -= size
        open_ -= 1
    return left // open_ if open_ else room


def _fit(result: ToolResult, room: int) -> str:
    """Whole lines within the room, and which ones are missing."""
    if len(result.content) <= room:
        return result.content
    kept = result.content[: max(room, 0)].rpartition("\n")[0]
    details = result.details if isinstance(result.details, dict) else {}
    shown, total = kept.count("\n") + 1 if kept else 0, details.get("totalLines")
    note = f"… cut after line {shown} of {total}; " if total else f"… cut after {len(kept)} characters; "
    return f"{kept}\n{note}read_file with startLine {shown + 1} shows the rest"
