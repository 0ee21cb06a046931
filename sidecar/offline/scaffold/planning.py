"""The planner's part: look at the place, and plan the files in steps that do not wait for each other."""

import json
from collections.abc import Sequence

from sidecar.models.port import Brief
from sidecar.offline.question import Question
from sidecar.offline.scaffold.kinds import KINDS
from sidecar.offline.scaffold.places import Found, Look, Refused, place
from sidecar.offline.scaffold.project import Project, parts
from sidecar.offline.scaffold.wording import Asked
from sidecar.offline.skill import Act, Decline, Move, Say

_CHECKS = {
    "sources": "every file can be parsed",
    "tests": "they pass",
    "project files": "the README says how to work with it",
}


def plan(asked: Asked, question: Question) -> Move:
    found = looked(asked, question)
    if not isinstance(found, Found):
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
        for number, (part, files) in enumerate(parts(to_write(found)).items(), start=1)
    ]
    return Say(f"{_where(found)}\n\n```json\n{_json(steps)}\n```")


def _json(steps: Sequence[object]) -> str:
    """One step a line."""
    lines = ",\n".join(f"  {json.dumps(step, ensure_ascii=False)}" for step in steps)
    return f'{{"steps": [\n{lines}\n]}}'


def looked(asked: Asked, question: Question) -> Found | Act | Decline:
    """The place, once it has been looked at."""
    listed = [back for back in question.returns if back.tool == "list_dir"]
    match place(asked, listed, question.brief.workspace):
        case Look(folder):
            return Act([("list_dir", {"path": folder})])
        case Refused(why):
            return Decline(why)
        case found:
            return found


def to_write(found: Found) -> list[str]:
    return [file for file in found.project.files() if file not in found.kept]


def planned(asked: Asked, brief: Brief) -> tuple[Project, Sequence[str]] | None:
    """The project of the plan, and the files of the agent's step `s1`, `s2`, …"""
    project = project_of(asked, [file for step in brief.plan for file in step], brief.workspace)
    number = brief.part.removeprefix("s")
    if project is None or not number.isdecimal() or not 1 <= int(number) <= len(brief.plan):
        return None
    return project, brief.plan[int(number) - 1]


def project_of(asked: Asked, files: Sequence[str], workspace: str) -> Project | None:
    """The project that these files are of."""
    for root in _roots(asked, files):
        project = Project.of(asked, root, workspace)
        if any(project.path(file) in files for file in project.files()):
            return project
    return None


def _roots(asked: Asked, files: Sequence[str]) -> list[str]:
    anchor = KINDS[asked.kind].anchor
    found = [file.removesuffix(anchor) for file in files if file == anchor or file.endswith(f"/{anchor}")]
    return sorted((root.rstrip("/") or "." for root in found), key=len)


def _where(found: Found) -> str:
    project = found.project
    place = "the workspace itself" if project.root == "." else f"`{project.root}/`"
    text = f"A {project.kind.said}, `{project.name}`, in {place}: {len(to_write(found))} files."
    if found.kept:
        text += f" {', '.join(f'`{name}`' for name in sorted(found.kept))} stay as they are."
    return text
