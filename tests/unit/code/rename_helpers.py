"""Rename symbols in files that exist only in memory."""

from collections.abc import Mapping

import pytest

from tools.code.modules import Modules
from tools.code.project import Project, Refusal
from tools.code.rename import RenameRequest, RenameResult, plan_rename
from tools.code.source import SourceText


def project_of(files: Mapping[str, str | bytes], words: frozenset[str] | None = None) -> Project:
    project = Project(Modules(files))
    for path, content in files.items():
        project.add(SourceText(path, content.encode() if isinstance(content, str) else content), words, members=True)
    return project


def rename(files: Mapping[str, str | bytes], symbol: str, new: str, **more: object) -> RenameResult:
    """Rename with a full analysis; one of only the functions that hold the names must agree."""
    request = RenameRequest(symbol, new, **more)  # type: ignore[arg-type]
    words = frozenset({symbol.rpartition(".")[2], new})
    try:
        result = plan_rename(request, project_of(files))
    except Refusal as refusal:
        with pytest.raises(Refusal) as other:
            plan_rename(request, project_of(files, words))
        assert other.value.message == refusal.message
        raise
    partial = plan_rename(request, project_of(files, words))
    assert partial.contents == result.contents
    assert partial.references.likely_lines == result.references.likely_lines
    return result


def after(files: Mapping[str, str], symbol: str, new: str, **more: object) -> dict[str, str]:
    """Return all files after a rename."""
    done = rename(files, symbol, new, **more)
    return {**files, **{path: content.decode() for path, content in done.contents.items()}}
