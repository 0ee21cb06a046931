"""What a task did to a file, and what kind of file that is."""

import re
from typing import NamedTuple

from tools.code.languages import language_of

_TEST_NAME = re.compile(
    r"(?:^|/)(?:test_[^/]*\.py|[^/]*_test\.(?:py|go)|tests?\.py|[^/]*[._-](?:test|spec)\.[cm]?[jt]sx?)$", re.IGNORECASE
)
_TEST_FOLDER = re.compile(r"(?:^|/)(?:tests?|__tests__|spec)/", re.IGNORECASE)
_IN_TEST_FOLDERS = (".rs", ".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs")
_DOCUMENTS = (".md", ".rst", ".txt", ".adoc", ".png", ".jpg", ".jpeg", ".gif", ".svg", ".pdf", ".ico")
_PLAIN_NAMES = frozenset({"license", "authors", "changelog", "notice", "codeowners", ".gitignore", ".editorconfig"})


class Change(NamedTuple):
    """A file before the task and now: `None` is a file that does not exist."""

    path: str
    before: bytes | None
    after: bytes | None


def is_test(path: str) -> bool:
    if _TEST_NAME.search(path):
        return True
    return path.endswith(_IN_TEST_FOLDERS) and _TEST_FOLDER.search(path) is not None


def is_code(path: str) -> bool:
    return language_of(path) is not None


def is_document(path: str) -> bool:
    """Nothing that runs could tell whether a change of it is right."""
    name = path.rpartition("/")[2].lower()
    return name.endswith(_DOCUMENTS) or name in _PLAIN_NAMES
