"""Which tests touch a change: those that were changed themselves, and those that name what was changed."""

import re
from collections.abc import Sequence

from sidecar.verify.cases import cases
from sidecar.verify.change import Change, is_code, is_test
from tools.errors import ToolError
from tools.host import Host, OutputCollector
from tools.ripgrep import ripgrep

#: More than this is no longer a selection; those named after what was changed come first.
MOST = 20
_SECONDS = 20.0
_GLOBS = (
    "test_*.py",
    "*_test.py",
    "tests.py",
    "*_test.go",
    "*.test.*",
    "*.spec.*",
    "*-test.*",
    "*_spec.*",
    "**/tests/**/*.rs",
    "**/__tests__/**",
)
#: Files that stand for the folder they are in.
_FOLDER_NAMES = frozenset({"__init__", "index", "mod", "main", "lib"})


async def touching(changes: Sequence[Change], host: Host, call_id: str) -> list[str]:
    """The test files, those that were changed first; none where nothing that runs was changed."""
    found = [change.path for change in changes if _holds_tests(change)]
    names = {
        name for change in changes if is_code(change.path) and not is_test(change.path) for name in _names(change.path)
    }
    if names:
        mentioning = [path for path in await _mentioning(sorted(names), host, call_id) if is_test(path)]
        found += sorted(mentioning, key=lambda path: not any(name in path.rpartition("/")[2] for name in names))
    return list(dict.fromkeys(found))[:MOST]


def _holds_tests(change: Change) -> bool:
    """By its name, or because tests stand beside the code, as in Rust."""
    return change.after is not None and (is_test(change.path) or bool(cases(change.path, change.after)))


def _names(path: str) -> list[str]:
    """By what others would name a file: its stem, or its folder's name."""
    folder, _, name = path.rpartition("/")
    stem = name.partition(".")[0]
    if stem in _FOLDER_NAMES:
        return [parent] if (parent := folder.rpartition("/")[2]) else []
    return [stem]


async def all_of_them(host: Host, call_id: str) -> set[str]:
    """Every test file that there is, by its name."""
    return {path for path in await _searched(["--files", "--null"], host, call_id) if is_test(path)}


async def _mentioning(names: Sequence[str], host: Host, call_id: str) -> list[str]:
    """The files that import one of these; where none does, those in which the word stands at all."""
    words = "|".join(re.escape(name) for name in names)
    word = rf"(?:^|[^\w])(?:{words})(?:[^\w]|$)"
    line = rf"^\s*(?:from|import|use|mod|extern crate)\b.*{word}"
    call = rf"(?:require|import|mock|from)\s*\(?\s*['\"][^'\"]*{word}"
    for pattern in (rf"(?:{line})|(?:{call})", word):
        if found := await _searched(["--files-with-matches", "--null", "-e", pattern], host, call_id):
            return found
    return []


async def _searched(words: Sequence[str], host: Host, call_id: str) -> list[str]:
    globs = [word for glob in _GLOBS for word in ("-g", glob)]
    argv = [ripgrep(), "--no-config", *globs, *words, "--", "."]
    listener = OutputCollector()
    try:
        await host.run(argv, call_id=call_id, timeout=_SECONDS, output=listener, log=False)
    except ToolError:
        return []
    return sorted(path.removeprefix("./") for path in listener.text.split("\0") if path)
