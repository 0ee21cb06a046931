"""The tools that ask the memory: `find_code`, `similar`, `impact` and `tests_of`."""

import asyncio
from collections.abc import Coroutine
from typing import Annotated, Any, TypeVar

from pydantic import Field, JsonValue, model_validator

from sidecar.memory.port import Affected, Dependents, Found, Hit, Memory, MemoryState, SearchRequest
from sidecar.wire.text import plural
from tools.errors import ToolError
from tools.host import Host
from tools.spec import Arguments, Call, Output, ToolResult, ToolSpec

T = TypeVar("T")

_WAIT_SECONDS = 60.0
#: How often a tool that waits for the index says how far it is.
_REPORT_SECONDS = 2.0
_SNIPPET_LINES = 4
_SHOWN = 60


class FindCodeArguments(Arguments):
    query: Annotated[str, Field(min_length=1, max_length=2_000, description="What the code does, in plain words.")]
    limit: Annotated[int, Field(ge=1, le=50)] = 8
    path: Annotated[str, Field(description="Only in this folder or file.")] = "."
    kind: Annotated[str, Field(max_length=40, description="Such as function, method, class, section.")] = ""


class FindCode:
    spec = ToolSpec(
        name="find_code",
        description=(
            "Find where something is done, by meaning: ranks functions, classes and documents by their text, the "
            "repository's history and its imports. Use it before search_code if you don't know the exact words."
        ),
        brief="Find where something is done, by its meaning in plain words. kind: such as function, class, section.",
        arguments=FindCodeArguments,
        timeout=90.0,
        retryable=True,
    )

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    async def run(self, args: FindCodeArguments, host: Host, call: Call, output: Output) -> ToolResult:
        path = "" if args.path in ("", ".") else args.path
        search = SearchRequest(args.query, args.limit, path, args.kind)
        hits = self._memory.search(call.workspace, search, _wait(call))
        found = await _reporting(self._memory, call, output, hits)
        return _hits_result(found, f"Nothing matches {args.query[:100]!r}.")


def _wait(call: Call) -> float:
    """Seconds to wait for an index that is being built."""
    return min(_WAIT_SECONDS, call.timeout / 2)


async def _reporting(memory: Memory, call: Call, output: Output, question: Coroutine[Any, Any, T]) -> T:
    """Ask, and report progress while the answer waits for an index that is being built."""
    asked = asyncio.create_task(question)
    try:
        while not (await asyncio.wait({asked}, timeout=_REPORT_SECONDS))[0]:
            now = await memory.state(call.workspace)
            if now.state == "building" and now.total:
                output("progress", f"Indexing: {now.done:,} of {now.total:,} files\n")
        return await asked
    finally:
        asked.cancel()


def _hits_result(found: Found, nothing: str) -> ToolResult:
    lines = [_describe(hit) for hit in found.hits] or [nothing]
    if found.state != "ready":
        lines.append("The index is still being built: there may be more. Try again, or use search_code.")
    hits: list[JsonValue] = [_hit_json(hit) for hit in found.hits]
    title = plural(len(found.hits), "hit") if hits else "no hit"
    return ToolResult("\n".join(lines), {"state": found.state, "hits": hits}, title)


def _describe(hit: Hit) -> str:
    """The place, and the first lines of it as a quotation."""
    lines = hit.snippet.split("\n")[:_SNIPPET_LINES]
    quoted = "\n".join(f"    | {line[:160]}" for line in lines)
    return f"{hit.path}:{hit.line}-{hit.end_line} {hit.kind} {hit.symbol}".rstrip() + f"\n{quoted}"


def _hit_json(hit: Hit) -> JsonValue:
    return {
        "path": hit.path,
        "line": hit.line,
        "endLine": hit.end_line,
        "symbol": hit.symbol,
        "kind": hit.kind,
        "score": hit.score,
        "why": hit.why,
    }


class SimilarArguments(Arguments):
    symbol: Annotated[str, Field(min_length=1, max_length=200, description="A function, method or class.")]
    limit: Annotated[int, Field(ge=1, le=50)] = 8


class SimilarTool:
    spec = ToolSpec(
        name="similar",
        description="Find definitions that are written much like this one: copies, siblings, candidates to reuse.",
        arguments=SimilarArguments,
        timeout=90.0,
        retryable=True,
    )

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    async def run(self, args: SimilarArguments, host: Host, call: Call, output: Output) -> ToolResult:
        similar = self._memory.similar(call.workspace, args.symbol, args.limit, _wait(call))
        found = await _reporting(self._memory, call, output, similar)
        return _hits_result(found, f"Nothing is known to be like {args.symbol}.")


class ImpactArguments(Arguments):
    symbol: Annotated[str, Field(max_length=200, description="A function, class or constant.")] = ""
    path: Annotated[str, Field(description="The file, or with a symbol the file that defines it.")] = ""
    depth: Annotated[int, Field(ge=1, le=6, description="How many imports away.")] = 2

    @model_validator(mode="after")
    def _names_something(self) -> "ImpactArguments":
        if not self.symbol and self.path in ("", "."):
            raise ValueError("name a symbol, a path, or both")
        return self


class ImpactTool:
    spec = ToolSpec(
        name="impact",
        description=(
            "List what may break if a file or a symbol changes: the files that import it, directly or over others, "
            "nearest first, with lines."
        ),
        arguments=ImpactArguments,
        timeout=90.0,
        retryable=True,
    )

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    async def run(self, args: ImpactArguments, host: Host, call: Call, output: Output) -> ToolResult:
        path = "" if args.path in ("", ".") else args.path
        if path:
            await _check_file(host, path, "Name a file, or a symbol.")
        impact = self._memory.impact(call.workspace, path, args.symbol, args.depth, _wait(call))
        found = await _reporting(self._memory, call, output, impact)
        nothing = f"Nothing in this workspace is known to depend on {args.symbol or path}."
        return affected_result(found, "dependent", nothing, await self._memory.state(call.workspace))


class FileTestsArguments(Arguments):
    path: Annotated[str, Field(min_length=1, description="A source file.")]


class FileTestsTool:
    spec = ToolSpec(
        name="tests_of",
        description="List the test files that reach a source file by imports or are named after it, nearest first.",
        arguments=FileTestsArguments,
        timeout=90.0,
        retryable=True,
    )

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    async def run(self, args: FileTestsArguments, host: Host, call: Call, output: Output) -> ToolResult:
        await _check_file(host, args.path, "Name a source file.")
        tests = self._memory.tests_of(call.workspace, args.path, _wait(call))
        found = await _reporting(self._memory, call, output, tests)
        nothing = f"No test in this workspace is known to reach {args.path}."
        return affected_result(found, "test", nothing, await self._memory.state(call.workspace))


def unfinished(state: MemoryState) -> str:
    """What to add to an answer from an index that doesn't hold all files yet."""
    if state.state == "ready":
        return ""
    files = f"{state.done:,} of {state.total:,} files"
    return f"The index is still being built ({files}): there may be more. Ask again later."


async def _check_file(host: Host, path: str, advice: str) -> None:
    if (await host.stat(path)).kind != "file":
        raise ToolError(f"{path} is not a file.", advice=advice)


def affected_result(found: Dependents, noun: str, nothing: str, now: MemoryState) -> ToolResult:
    """`now` says how much of an index there is that wasn't whole when it answered."""
    lines = [_describe_affected(each) for each in found.hits[:_SHOWN]] or [nothing]
    if len(found.hits) > _SHOWN:
        lines.append(f"… {len(found.hits) - _SHOWN} more")
    if found.state != "ready":
        lines.append(unfinished(now._replace(state=found.state)))
    hits: list[JsonValue] = [_affected_json(each) for each in found.hits]
    title = plural(len(found.hits), noun) if hits else f"no {noun}s"
    return ToolResult("\n".join(lines), {"state": found.state, "hits": hits}, title)


def _describe_affected(each: Affected) -> str:
    place = f"{each.path}:{each.line}" if each.line else each.path
    doubt = "" if each.certain else " (likely)"
    return f"{each.distance} {place} {each.symbol} {each.via}{doubt}".replace("  ", " ")


def _affected_json(each: Affected) -> JsonValue:
    return {
        "path": each.path,
        "symbol": each.symbol or None,
        "distance": each.distance,
        "via": each.via,
        "line": each.line,
        "certain": each.certain,
    }
