"""A few files, a wish, and what came of it, without a disk."""

from collections.abc import Mapping

from tools.code.project import Project
from tools.code.rename import Renamed, Wish, renamed


def project_of(files: Mapping[str, str | bytes]) -> Project:
    project = Project(files)
    for path, content in files.items():
        project.add(path, content.encode() if isinstance(content, str) else content)
    return project


def rename(files: Mapping[str, str | bytes], symbol: str, new: str, **more: object) -> Renamed:
    return renamed(Wish(symbol, new, **more), project_of(files))  # type: ignore[arg-type]


def after(files: Mapping[str, str], symbol: str, new: str, **more: object) -> dict[str, str]:
    """All files as they are afterwards."""
    done = rename(files, symbol, new, **more)
    return {**files, **{path: content.decode() for path, content in done.contents.items()}}
