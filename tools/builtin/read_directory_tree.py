import asyncio
import time
from collections.abc import Sequence
from typing import Annotated

from pydantic import Field, JsonValue

from sidecar.wire.text import plural
from tools.errors import TimedOut, ToolError
from tools.globs import Ignored
from tools.host import FileInfo, Host
from tools.skipped import LEFT_OUT, is_skipped, without_build_output
from tools.spec import Arguments, Call, Output, ResultSource, ToolResult, ToolSpec

_ENTRIES = 1_000
_IN_ONE = 100
_IGNORE_SIZE = 1 << 20
_MATCH_SECONDS = 30.0


class ReadDirectoryTreeArguments(Arguments):
    path: str = "."
    depth: Annotated[int, Field(ge=1, le=20)] = 4


class ReadDirectoryTree:
    spec = ToolSpec(
        name="read_directory_tree",
        description=(
            f"Show a directory as a tree down to depth; {LEFT_OUT} Large trees are cut at {_ENTRIES} entries, upper "
            "levels first."
        ),
        arguments=ReadDirectoryTreeArguments,
        executor="hybrid",
        retryable=True,
        cache="tree",
    )

    async def run(self, args: ReadDirectoryTreeArguments, host: Host, call: Call, output: Output) -> ToolResult:
        walk = _Walk(host)
        await walk.start(args.path, args.depth)
        lines: list[str] = []
        walk.draw(_top(args.path), "", lines)
        shown = walk.count
        cut = f"\n… cut at {_ENTRIES} entries; pass a path to see more" if walk.cut else ""
        return ToolResult(
            content=("\n".join(lines) or "(empty)") + cut,
            details={"path": args.path, "entries": shown, "paths": walk.files(), "cut": walk.cut},
            summary=plural(shown, "entry", "entries"),
            sources=tuple(walk.sources),
        )


class _Walk:
    """Level by level, so that the cap cuts deep entries instead of late letters of the alphabet."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self.sources: list[ResultSource] = []
        self._top = ""
        self.count = 0
        self.cut = False
        self._children: dict[str, list[FileInfo]] = {}
        self._hidden: dict[str, int] = {}

    async def start(self, path: str, depth: int) -> None:
        self._top = top = _top(path)
        rules = await self._rules_above(top)
        level = [(top, rules)]
        for _ in range(depth):
            deeper: list[tuple[str, Ignored]] = []
            for directory, ignored in level:
                if self.count >= _ENTRIES:
                    self.cut = True
                    return
                try:
                    deeper += await self._directory(directory, ignored)
                except ToolError:
                    if directory == top:
                        raise
            level = deeper

    async def _rules_above(self, top: str) -> Ignored:
        rules = Ignored()
        parts = top.split("/") if top else []
        for length in range(len(parts)):
            above = "/".join(parts[:length])
            rules = await self._with_file(rules, above, f"{above}/.gitignore" if above else ".gitignore")
        return rules

    async def _with_file(self, rules: Ignored, directory: str, path: str) -> Ignored:
        try:
            info = await self._host.stat(path)
            content = await self._host.read(path, _IGNORE_SIZE)
        except ToolError:
            return rules
        self.sources.append(ResultSource(info))
        return await asyncio.to_thread(rules.below, directory, content.decode("utf-8", "replace"))

    async def _directory(self, directory: str, ignored: Ignored) -> list[tuple[str, Ignored]]:
        self.sources.append(ResultSource(await self._host.stat(directory or ".")))
        entries = await self._host.list(directory or ".")
        prefix = f"{directory}/" if directory else ""
        if any(entry.path == f"{prefix}.gitignore" for entry in entries):
            ignored = await self._with_file(ignored, directory, f"{prefix}.gitignore")
        # A repository's rules and names; many of them must not hold up everybody else.
        listed = await asyncio.to_thread(self._listed, entries, ignored)
        built = frozenset(await without_build_output(self._host, (f"{each.path}/" for each in listed), self._top))
        kept = [entry for entry in listed if f"{entry.path}/" in built]
        kept.sort(key=lambda entry: (entry.kind != "directory", entry.path))
        room = min(_IN_ONE, _ENTRIES - self.count) if directory else _ENTRIES - self.count
        self._children[directory] = kept[:room]
        self._hidden[directory] = len(kept) - len(kept[:room])
        self.count += len(kept[:room])
        return [(entry.path, ignored) for entry in kept[:room] if entry.kind == "directory"]

    def _listed(self, entries: Sequence[FileInfo], ignored: Ignored) -> list[FileInfo]:
        deadline = time.monotonic() + _MATCH_SECONDS
        listed = []
        for entry in entries:
            if not self._skips(entry, ignored):
                listed.append(entry)
            if time.monotonic() > deadline:
                raise TimedOut(f"{entry.path} and others took too long to match.", advice="Read a smaller directory.")
        return listed

    def _skips(self, entry: FileInfo, ignored: Ignored) -> bool:
        folder = entry.kind == "directory"
        path = f"{entry.path}/" if folder else entry.path
        return is_skipped(path, below=self._top) or ignored(entry.path, directory=folder)

    def files(self) -> list[JsonValue]:
        entries = (entry for children in self._children.values() for entry in children)
        return [entry.path for entry in entries if entry.kind != "directory"]

    def draw(self, directory: str, indent: str, lines: list[str]) -> None:
        for entry in self._children.get(directory, ()):
            name = entry.path.rpartition("/")[2]
            if entry.kind == "directory":
                lines.append(f"{indent}{name}/{'' if entry.path in self._children else ' …'}")
                self.draw(entry.path, f"{indent}  ", lines)
            else:
                lines.append(f"{indent}{name}{'@' if entry.kind == 'symlink' else ''}")
        if hidden := self._hidden.get(directory):
            lines.append(f"{indent}… {hidden} more")


def _top(path: str) -> str:
    cleaned = "/".join(part for part in path.split("/") if part not in ("", "."))
    return f"/{cleaned}" if path.startswith("/") else cleaned
