"""Where a project goes: into the workspace itself while that is nearly empty, else into a folder of its own."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sidecar.models.port import ToolReturn
from sidecar.offline.output import why
from sidecar.offline.scaffold.kinds import KINDS
from sidecar.offline.scaffold.naming import problem, slug
from sidecar.offline.scaffold.project import Project, default_name
from sidecar.offline.scaffold.wording import Asked

#: Files that a person may have made before; they stay as they are.
KEPT = frozenset({"README.md", "LICENSE", ".gitignore", ".editorconfig"})
#: What does not make a workspace a project yet.
_NOTHING = frozenset(
    {".git/", ".gitattributes", ".github/", ".vscode/", ".idea/", ".brain/", ".venv/", "venv/", ".DS_Store"}
    | {"AGENTS.md", "CLAUDE.md", "(empty)"}
)


@dataclass(frozen=True, slots=True)
class Found:
    """A place that can be used; `kept` are files there that are left as they are."""

    project: Project
    kept: frozenset[str]


@dataclass(frozen=True, slots=True)
class Look:
    """A folder that has to be listed before it can be decided."""

    folder: str


@dataclass(frozen=True, slots=True)
class Refused:
    why: str


def place(asked: Asked, listed: Sequence[ToolReturn], workspace: str) -> Found | Look | Refused:
    """Decided from the folders listed so far, from the workspace down to the project's own."""
    own = _own_folder(asked)
    way = own.split("/")
    for depth, listing in enumerate(listed):
        if listing.status != "success":
            return Refused(f"The workspace could not be looked at: {why(listing)}")
        entries = _entries(listing)
        if own == "." or (depth == 0 and not asked.folder and not entries - KEPT):
            return _checked(Project.of(asked, ".", workspace), entries)
        if depth == len(way):
            return _own(Project.of(asked, own, workspace), entries)
        if way[depth] in entries or f"{way[depth]}@" in entries:
            return Refused(f"`{'/'.join(way[: depth + 1])}` exists already and is no folder; nothing was changed.")
        if f"{way[depth]}/" not in entries:
            return _checked(Project.of(asked, own, workspace), frozenset())
    return Look("/".join(way[: len(listed)]) or ".")


def _own(project: Project, entries: frozenset[str]) -> Found | Refused:
    if not entries - KEPT:
        return _checked(project, entries)
    return Refused(
        f"`{project.root}/` exists already and is not empty; nothing was changed. Choose another name, or say where it "
        "should go, such as “in projects/new”."
    )


def _own_folder(asked: Asked) -> str:
    name = slug(asked.name)
    if asked.folder and (not name or slug(asked.folder.rpartition("/")[2]) == name):
        return asked.folder
    own = name or default_name(KINDS[asked.kind])
    return f"{asked.folder}/{own}" if asked.folder and asked.folder != "." else "." if asked.folder else own


def _entries(listed: ToolReturn) -> frozenset[str]:
    return frozenset(listed.content.splitlines()) - _NOTHING


def _checked(project: Project, entries: frozenset[str]) -> Found | Refused:
    if why := problem(project.name, project.kind):
        return Refused(f"Choose another name: {why}. Nothing was changed.")
    tops = {re.sub(r"(?<=/).*", "", path) for path in project.files()}
    taken = (tops & entries) - KEPT
    if taken:
        names = ", ".join(f"`{name}`" for name in sorted(taken))
        return Refused(
            f"{names} of the workspace would be in the way, and nothing is overwritten; nothing was changed. Say where "
            f"it should go instead, such as “in {project.name}/”."
        )
    return Found(project, entries & KEPT)
