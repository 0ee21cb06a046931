"""The files of a project, and those that are worth opening: ripgrep looks first, so that only a few are parsed."""

import asyncio
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tools.code.languages import SUFFIXES
from tools.code.source import Source
from tools.errors import TimedOut, ToolError
from tools.host import Host, OutputCollector
from tools.ripgrep import ripgrep
from tools.spec import Call

_OUTPUT = 32 << 20
#: A larger file was written by a program.
SIZE = 1 << 20
SOURCES = tuple(f"*{suffix}" for suffix in SUFFIXES)
_LINE = re.compile(r"([^\0\n]*)\0(\d+):(.*)")


class Line(NamedTuple):
    path: str
    number: int
    text: str


async def listed(host: Host, call: Call, path: str = ".") -> list[str]:
    """The names of all files, without what .gitignore names and without hidden ones."""
    found = await _look(host, call, ["--files", "--null"], path)
    return sorted(_placed(name, path) for name in found.split("\0") if name)


async def holding(host: Host, call: Call, words: Sequence[str], path: str = ".") -> list[str]:
    """The source files in which one of the words stands."""
    if not words:
        return []
    wanted = [argument for word in words for argument in ("--regexp", word)]
    options = [
        "--files-with-matches",
        "--null",
        "--word-regexp",
        "--fixed-strings",
        *_only(SOURCES),
        *wanted,
        "--",
        ".",
    ]
    return sorted(_placed(name, path) for name in (await _look(host, call, options, path)).split("\0") if name)


async def matching(host: Host, call: Call, pattern: str, globs: Sequence[str], path: str = ".") -> list[Line]:
    options = ["--null", "--with-filename", "--line-number", "--no-heading", "--max-columns=1000"]
    options += [*_only(globs), "--regexp", pattern, "--", "."]
    text = await _look(host, call, options, path)
    return [Line(_placed(hit[1], path), int(hit[2]), hit[3]) for hit in _LINE.finditer(text)]


async def counted(host: Host, call: Call) -> dict[str, int]:
    """How many lines each source file has."""
    options = ["--null", "--with-filename", "--count", *_only(SOURCES), "--regexp", "", "--", "."]
    text = await _look(host, call, options, ".")
    pairs = (line.split("\0", 1) for line in text.splitlines() if "\0" in line)
    return {name.removeprefix("./"): int(count) for name, count in pairs if count.isdecimal()}


async def opened(host: Host, paths: Iterable[str]) -> dict[str, Source]:
    """Files that can be read; one that went away meanwhile is left out, and so is a very large one."""
    found: dict[str, Source] = {}
    for number, path in enumerate(paths, 1):
        try:
            content = await host.read(path, SIZE + 1)
        except ToolError:
            continue
        if len(content) <= SIZE:
            found[path] = Source(path, content)
        if number % 50 == 0:
            await asyncio.sleep(0)
    return found


def _only(globs: Sequence[str]) -> list[str]:
    """As a type of file: a plain glob would bring back what .gitignore leaves out."""
    return [*(f"--type-add=wanted:{glob}" for glob in globs), "--type=wanted"]


def _placed(name: str, path: str) -> str:
    name = name.removeprefix("./")
    return name if path in (".", "") else f"{path.rstrip('/')}/{name}"


async def _look(host: Host, call: Call, options: Sequence[str], path: str) -> str:
    listener = OutputCollector(_OUTPUT)
    result = await host.run(
        [ripgrep(), "--no-config", "--color=never", *options],
        call_id=call.id,
        cwd=path,
        timeout=call.timeout,
        output=listener,
        killed=call.killed,
        log=False,
    )
    if result.timed_out:
        raise TimedOut(f"Looking took longer than {call.timeout:g} s. Name a smaller path.")
    if result.exit_code not in (0, 1) and not listener.text:
        raise ToolError(f"The look at the files failed: {listener.errors.strip()[:500]}", code="search_failed")
    return listener.text


def is_test(path: str) -> bool:
    folders, _, name = path.rpartition("/")
    stem = name.partition(".")[0]
    return (
        stem.startswith("test_")
        or stem.endswith(("_test", "_spec", "Test", "Tests"))
        or ".test." in name
        or ".spec." in name
        or name == "conftest.py"
        or any(part in ("tests", "test", "__tests__", "spec", "e2e") for part in folders.split("/"))
    )
