"""Tells which files are tests, by their names and folders."""

import re

_FOLDERS = frozenset({"tests", "test", "__tests__", "spec", "e2e"})
_SCRIPTS = r"[cm]?[jt]sx?"
_COLLECTED = re.compile(
    rf"(?:^|/)(?:test_[^/]*\.py|[^/]*_test\.(?:py|go)|tests?\.py|[^/]*[._-](?:test|spec)\.{_SCRIPTS})$", re.IGNORECASE
)
#: In these languages a file is collected for its folder.
_COLLECTED_BY_FOLDER = re.compile(rf"(?:^|/)(?:tests?|__tests__|spec)/(?:.*/)?[^/]+\.(?:rs|{_SCRIPTS})$", re.IGNORECASE)
#: Globs for ripgrep that leave out no file that holds tests.
COLLECTED_GLOBS = (
    *("test_*.py", "*_test.py", "tests.py", "*_test.go", "*.test.*", "*.spec.*", "*-test.*", "*_spec.*"),
    *("**/tests/**/*.rs", "**/__tests__/**"),
)


def is_test(path: str) -> bool:
    """Whether a file belongs to the tests: it holds some, or helps those that do."""
    folders, _, name = path.rpartition("/")
    stem = name.partition(".")[0]
    return (
        stem.startswith("test_")
        or stem.endswith(("_test", "_spec", "Test", "Tests"))
        or name == "conftest.py"
        or ".test." in name
        or ".spec." in name
        or not _FOLDERS.isdisjoint(folders.split("/"))
        or is_collected_by_name(name)
    )


def holds_tests(path: str) -> bool:
    """Whether a file holds tests that a framework collects, by its name or its folder."""
    return is_collected_by_name(path) or _COLLECTED_BY_FOLDER.search(path) is not None


def is_collected_by_name(path: str) -> bool:
    return _COLLECTED.search(path) is not None
