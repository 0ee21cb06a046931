"""A file before the task and now, and what kind of file it is."""

import re
from typing import NamedTuple

from tools.code.languages import language_of
from tools.test_frameworks import TEST_NAME

_TEST_FOLDER = re.compile(r"(?:^|/)(?:tests?|__tests__|spec)/", re.IGNORECASE)
_IN_TEST_FOLDERS = (".rs", ".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs")
_DOCUMENTS = (".md", ".rst", ".txt", ".adoc", ".png", ".jpg", ".jpeg", ".gif", ".svg", ".pdf", ".ico")
_DOCUMENT_NAMES = frozenset({"license", "authors", "changelog", "notice", "codeowners", ".gitignore", ".editorconfig"})


class FileVersions(NamedTuple):
    """The content before the task and now; `None` if the file doesn't exist."""

    path: str
    before: bytes | None
    after: bytes | None


def is_test(path: str) -> bool:
    if TEST_NAME.search(path):
        return True
    return path.endswith(_IN_TEST_FOLDERS) and _TEST_FOLDER.search(path) is not None


def is_code(path: str) -> bool:
    return language_of(path) is not None


def is_document(path: str) -> bool:
    """No check that runs can tell whether a change to it is right."""
    name = path.rpartition("/")[2].lower()
    return name.endswith(_DOCUMENTS) or name in _DOCUMENT_NAMES
