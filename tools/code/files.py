"""List, search and open the files of a project; ripgrep narrows down which files to parse."""

import asyncio
import posixpath
import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, TypeVar

from tools.code.languages import SUFFIXES
from tools.code.outline import Outline, outline_of
from tools.code.source import SourceText
from tools.errors import TooLarge, ToolError
from tools.host import FileInfo, Host
from tools.paths import folder_prefix
from tools.ripgrep import only, run_ripgrep
from tools.skipped import without_build_output
from tools.spec import Call
from tools.text_files import read_required

T = TypeVar("T")
_LONG = 64 << 10
#: Files that are read before other tasks go on.
AT_ONCE = 20
#: Larger files are generated.
SIZE = 1 << 20
#: Paths that are named instead of a missing one.
_NEAR = 3
SOURCES = tuple(f"*{suffix}" for suffix in SUFFIXES)
_COPIED = frozenset({"_vendor", "vendor", "vendored", "_vendored", "third_party", "thirdparty", "extern", "externals"})
_LINE = re.compile(r"([^\0\n]*)\0(\d+):(.*)")


class MatchingLine(NamedTuple):
    path: str
    number: int
    text: str


async def list_files(host: Host, call: Call, path: str = ".") -> list[str]:
    """Return all files, without ignored, hidden, installed and generated ones."""
    return await matching_files(host, call, ["--files", "--null"], path)


async def find_near(path: str, host: Host, call: Call) -> list[str]:
    """What a missing path may mean: files of its name elsewhere, a folder of its name, or files of a similar name."""
    from difflib import get_close_matches

    try:
        files = await list_files(host, call)
    except ToolError:
        return []
    folder, name = posixpath.split(path)
    if same := [each for each in files if posixpath.basename(each) == name]:
        return sorted(same, key=len)[:_NEAR]
    without_suffix = f"{posixpath.splitext(path)[0]}/"
    if any(each.startswith(without_suffix) for each in files):
        return [without_suffix]
    beside = {posixpath.basename(each): each for each in files if posixpath.dirname(each) == folder}
    return [beside[each] for each in get_close_matches(name, beside, _NEAR, 0.7)]


async def files_with_words(host: Host, call: Call, words: Sequence[str]) -> list[str]:
    """Return the source files that hold one of the words."""
    if not words:
        return []
    wanted = [argument for word in words for argument in ("--regexp", word)]
    options = ["--files-with-matches", "--null", "--word-regexp", "--fixed-strings", *only(SOURCES)]
    return await matching_files(host, call, [*options, *wanted, "--", "."], ".")


async def matching_files(host: Host, call: Call, options: Sequence[str], path: str) -> list[str]:
    """Return the files that ripgrep names, separated by NUL, as the workspace names them."""
    text, prefix = await run_ripgrep(host, call, options, path), folder_prefix(path)

    def names() -> list[str]:
        return sorted(prefix + name.removeprefix("./") for name in text.split("\0") if name)

    return await without_build_output(host, await parsed(text, names), path)


async def matching_lines(host: Host, call: Call, pattern: str, globs: Sequence[str]) -> list[MatchingLine]:
    options = ["--null", "--with-filename", "--line-number", "--no-heading", "--max-columns=1000"]
    options += [*only(globs), "--regexp", pattern, "--", "."]
    text = await run_ripgrep(host, call, options)

    def hits() -> list[MatchingLine]:
        return [MatchingLine(hit[1].removeprefix("./"), int(hit[2]), hit[3]) for hit in _LINE.finditer(text)]

    lines = await parsed(text, hits)
    kept = frozenset(await without_build_output(host, dict.fromkeys(line.path for line in lines)))
    return [line for line in lines if line.path in kept]


async def count_lines(host: Host, call: Call) -> dict[str, int]:
    """Return the number of lines of each text file."""
    options = ["--null", "--with-filename", "--count", "--regexp", "", "--", "."]
    text = await run_ripgrep(host, call, options)

    def pairs() -> dict[str, int]:
        lines = (line.split("\0", 1) for line in text.splitlines() if "\0" in line)
        return {name.removeprefix("./"): int(count) for name, count in lines if count.isdecimal()}

    counts = await parsed(text, pairs)
    kept = await without_build_output(host, counts)
    return counts if len(kept) == len(counts) else {path: counts[path] for path in kept}


async def parsed(text: str, parse: Callable[[], T]) -> T:
    """In a thread if the output is long: other tasks go on meanwhile."""
    return parse() if len(text) < _LONG else await asyncio.to_thread(parse)


async def open_sources(host: Host, paths: Iterable[str]) -> dict[str, SourceText]:
    """Open files, without those that are gone or very large."""
    found: dict[str, SourceText] = {}
    for number, path in enumerate(paths, 1):
        try:
            content = await host.read(path, SIZE + 1)
        except ToolError:
            continue
        if len(content) <= SIZE:
            found[path] = SourceText(path, content)
        if number % AT_ONCE == 0:
            await asyncio.sleep(0)
    return found


async def open_outline(host: Host, path: str, limit: int) -> tuple[FileInfo, SourceText, Outline]:
    """Open a source file for its outline; raise `ToolError` if it is too large or in an unknown language."""
    info = await host.stat(path)
    if info.size > limit:
        raise TooLarge(f"{path} has {info.size} bytes, too large for an outline.", advice="Use search_code.")
    source = SourceText(path, await read_required(host, path))
    outline = await asyncio.to_thread(outline_of, source)
    if outline is None:
        why = f"{path} is not in a supported language ({' '.join(SUFFIXES)})."
        raise ToolError(why, advice="Use read_file.", code="unknown_language")
    return info, source, outline


def is_copied(path: str) -> bool:
    """Whether a file is a copy of another project's code, kept in this one."""
    return not _COPIED.isdisjoint(path.split("/")[:-1])
