"""Finds the tests that touch a change: changed test files, and tests that name a changed file."""

import re
from collections.abc import Sequence

from sidecar.verify.cases import find_cases
from sidecar.verify.change import FileVersions, is_code
from tools.errors import ToolError
from tools.host import Host, OutputCollector
from tools.ripgrep import ripgrep_command
from tools.skipped import skip_globs
from tools.test_files import COLLECTED_GLOBS, holds_tests

#: Tests named after a changed file come first.
MAX_FILES = 20
_SECONDS = 20.0
#: Files that others import by the name of their folder.
_FOLDER_NAMES = frozenset({"__init__", "index", "mod", "main", "lib"})


async def find_related_tests(changes: Sequence[FileVersions], host: Host, call_id: str) -> list[str]:
    """Changed test files come first."""
    found = [change.path for change in changes if _has_tests(change)]
    if names := names_of(changes):
        mentioning = [path for path in await _find_mentions(sorted(names), host, call_id) if holds_tests(path)]
        found += sorted(mentioning, key=lambda path: not any(name in path.rpartition("/")[2] for name in names))
    return list(dict.fromkeys(found))[:MAX_FILES]


def _has_tests(change: FileVersions) -> bool:
    """By its name, or because it has tests beside the code, as in Rust."""
    return change.after is not None and (holds_tests(change.path) or bool(find_cases(change.path, change.after)))


def names_of(changes: Sequence[FileVersions]) -> set[str]:
    """The names by which others refer to the code that changed."""
    code = [change.path for change in changes if is_code(change.path) and not holds_tests(change.path)]
    return set(map(_name, code)) - {""}


def _name(path: str) -> str:
    """The stem of a file, or the name of its folder; empty for a hidden file."""
    folder, _, name = path.rpartition("/")
    stem = name.partition(".")[0]
    return folder.rpartition("/")[2] if stem in _FOLDER_NAMES else stem


async def find_all_tests(host: Host, call_id: str) -> set[str]:
    return {path for path in await _search(["--files", "--null"], host, call_id) if holds_tests(path)}


async def _find_mentions(names: Sequence[str], host: Host, call_id: str) -> list[str]:
    """The files that import one of these names; if none does, those that contain one as a word."""
    words = "|".join(re.escape(name) for name in names)
    word = rf"(?:^|[^\w])(?:{words})(?:[^\w]|$)"
    line = rf"^\s*(?:from|import|use|mod|extern crate)\b.*{word}"
    call = rf"(?:require|import|mock|from)\s*\(?\s*['\"][^'\"]*{word}"
    for pattern in (rf"(?:{line})|(?:{call})", word):
        if found := await _search(["--files-with-matches", "--null", "-e", pattern], host, call_id):
            return found
    return []


async def _search(words: Sequence[str], host: Host, call_id: str) -> list[str]:
    globs = [word for glob in COLLECTED_GLOBS for word in ("-g", glob)]
    argv = [*ripgrep_command(), *globs, *skip_globs(), *words, "--", "."]
    listener = OutputCollector()
    try:
        await host.run(argv, call_id=call_id, timeout=_SECONDS, output=listener, log=False)
    except ToolError:
        return []
    return sorted(path.removeprefix("./") for path in listener.text.split("\0") if path)
