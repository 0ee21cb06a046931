"""Chooses the folder of a new project and plans its files in independent steps."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from sidecar.models.port import Brief, ToolReturn
from sidecar.offline.parsed_request import ParsedRequest
from sidecar.offline.results import failure, quote_names, records
from sidecar.offline.scaffold.kinds import load_kinds, name_problem, slug
from sidecar.offline.scaffold.project import NewProject, default_name, group_files
from sidecar.offline.scaffold.request import ProjectRequest
from sidecar.offline.skill import Act, Decline, Move, Say
from sidecar.wire.text import plural

_CHECKS = {
    "sources": "every file can be parsed",
    "tests": "they pass",
    "project files": "the README says how to work with it",
}
#: Files that may exist already; they stay as they are.
KEPT = frozenset({"README.md", "LICENSE", ".gitignore", ".editorconfig"})
#: Entries of a workspace that is still empty.
_IGNORED = frozenset(
    {".git/", ".gitattributes", ".github/", ".vscode/", ".idea/", ".brain/", ".venv/", "venv/", ".DS_Store"}
    | {"AGENTS.md", "CLAUDE.md"}
)


@dataclass(frozen=True, slots=True)
class Location:
    """A free place for the project; `kept` are files there that stay as they are."""

    project: NewProject
    kept: frozenset[str]


@dataclass(frozen=True, slots=True)
class ListFolder:
    """A folder to list before deciding."""

    folder: str


def choose_location(
    asked: ProjectRequest, listed: Sequence[ToolReturn], workspace: str
) -> Location | ListFolder | Decline:
    """The workspace itself while it is nearly empty, else a folder of its own. `listed` goes from the top down."""
    own = _own_folder(asked)
    way = own.split("/")
    for depth, listing in enumerate(listed):
        if listing.status != "success":
            return Decline(f"The workspace can't be listed: {failure(listing)}")
        entries = _entries(listing)
        if own == "." or (depth == 0 and not asked.folder and not entries - KEPT):
            return _check(NewProject.of(asked, ".", workspace), entries)
        if depth == len(way):
            return _check_own(NewProject.of(asked, own, workspace), entries)
        if way[depth] in entries or f"{way[depth]}@" in entries:
            return Decline(f"`{'/'.join(way[: depth + 1])}` already exists and is not a folder; nothing was changed.")
        if f"{way[depth]}/" not in entries:
            return _check(NewProject.of(asked, own, workspace), frozenset())
    return ListFolder("/".join(way[: len(listed)]) or ".")


def _check_own(project: NewProject, entries: frozenset[str]) -> Location | Decline:
    if not entries - KEPT:
        return _check(project, entries)
    return Decline(
        f"`{project.root}/` already exists and is not empty; nothing was changed. Choose another name, or say where "
        "to put it: “in projects/new”."
    )


def _own_folder(asked: ProjectRequest) -> str:
    name = slug(asked.name)
    if asked.folder and (not name or slug(asked.folder.rpartition("/")[2]) == name):
        return asked.folder
    own = name or default_name(load_kinds()[asked.kind])
    return f"{asked.folder}/{own}" if asked.folder and asked.folder != "." else "." if asked.folder else own


def _entries(listed: ToolReturn) -> frozenset[str]:
    marks = {"directory": "/", "symlink": "@"}
    names = (
        f"{str(each['path']).rpartition('/')[2]}{marks.get(str(each['kind']), '')}"
        for each in records(listed, "entries")
    )
    return frozenset(names) - _IGNORED


def _check(project: NewProject, entries: frozenset[str]) -> Location | Decline:
    if why := name_problem(project.name, project.kind):
        return Decline(f"Choose another name: {why}. Nothing was changed.")
    tops = {re.sub(r"(?<=/).*", "", path) for path in project.files()}
    taken = (tops & entries) - KEPT
    if taken:
        names = ", ".join(f"`{name}`" for name in sorted(taken))
        return Decline(
            f"{names} in the workspace would be overwritten; nothing was changed. Say where to put it: "
            f"“in {project.name}/”."
        )
    return Location(project, entries & KEPT)


def plan(asked: ProjectRequest, question: ParsedRequest) -> Move:
    """The planner's step."""
    found = locate(asked, question)
    if not isinstance(found, Location):
        return found
    project = found.project
    steps = [
        {
            "id": str(number),
            "title": f"Write the {part} of {project.name}",
            "files": [project.path(file) for file in files],
            "after": [],
            "checks": [_CHECKS[part]],
        }
        for number, (part, files) in enumerate(group_files(to_write(found)).items(), start=1)
    ]
    return Say(f"{_describe_location(found)}\n\n```json\n{_json(steps)}\n```")


def _json(steps: Sequence[object]) -> str:
    """One step per line."""
    lines = ",\n".join(f"  {json.dumps(step, ensure_ascii=False)}" for step in steps)
    return f'{{"steps": [\n{lines}\n]}}'


def locate(asked: ProjectRequest, question: ParsedRequest) -> Location | Act | Decline:
    listed = [back for back in question.returns if back.tool == "list_dir"]
    found = choose_location(asked, listed, question.brief.workspace)
    return Act([("list_dir", {"path": found.folder})]) if isinstance(found, ListFolder) else found


def to_write(found: Location) -> list[str]:
    return [file for file in found.project.files() if file not in found.kept]


def planned(asked: ProjectRequest, brief: Brief) -> tuple[NewProject, Sequence[str]] | None:
    """The project of the plan, and the files of the agent's own step."""
    project = project_of(asked, [file for step in brief.plan for file in step], brief.workspace)
    if project is None or not 1 <= brief.planned_step <= len(brief.plan):
        return None
    return project, brief.plan[brief.planned_step - 1]


def project_of(asked: ProjectRequest, files: Sequence[str], workspace: str) -> NewProject | None:
    """The project that these files belong to."""
    for root in _roots(asked, files):
        project = NewProject.of(asked, root, workspace)
        if any(project.path(file) in files for file in project.files()):
            return project
    return None


def _roots(asked: ProjectRequest, files: Sequence[str]) -> list[str]:
    anchor = load_kinds()[asked.kind].anchor
    found = [file.removesuffix(anchor) for file in files if file == anchor or file.endswith(f"/{anchor}")]
    return sorted((root.rstrip("/") or "." for root in found), key=len)


def _describe_location(found: Location) -> str:
    project = found.project
    place = "the workspace" if project.root == "." else f"`{project.root}/`"
    text = f"A {project.kind.said}, `{project.name}` in {place}: {plural(len(to_write(found)), 'file')}."
    if found.kept:
        text += f" Kept as they are: {quote_names(sorted(found.kept))}."
    return text
