"""A file before the task and now, and what kind of file it is."""

from typing import NamedTuple

from tools.code.languages import language_of

_DOCUMENTS = (".md", ".rst", ".txt", ".adoc", ".png", ".jpg", ".jpeg", ".gif", ".svg", ".pdf", ".ico")
_DOCUMENT_NAMES = frozenset({"license", "authors", "changelog", "notice", "codeowners", ".gitignore", ".editorconfig"})


class FileVersions(NamedTuple):
    """The content before the task and now; `None` if the file doesn't exist."""

    path: str
    before: bytes | None
    after: bytes | None


def is_code(path: str) -> bool:
    return language_of(path) is not None


def is_document(path: str) -> bool:
    """No check that runs can tell whether a change to it is right."""
    name = path.rpartition("/")[2].lower()
    return name.endswith(_DOCUMENTS) or name in _DOCUMENT_NAMES
