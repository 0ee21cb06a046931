"""Rename symbols in files that exist only in memory."""

from collections.abc import Mapping

from tools.code.modules import Modules
from tools.code.project import Project
from tools.code.rename import RenameRequest, RenameResult, plan_rename
from tools.code.source import Source


def project_of(files: Mapping[str, str | bytes]) -> Project:
    project = Project(Modules(files))
    for path, content in files.items():
        project.add(Source(path, content.encode() if isinstance(content, str) else content))
    return project


def rename(files: Mapping[str, str | bytes], symbol: str, new: str, **more: object) -> RenameResult:
    return plan_rename(RenameRequest(symbol, new, **more), project_of(files))  # type: ignore[arg-type]


def after(files: Mapping[str, str], symbol: str, new: str, **more: object) -> dict[str, str]:
    """Return all files after a rename."""
    done = rename(files, symbol, new, **more)
    return {**files, **{path: content.decode() for path, content in done.contents.items()}}
