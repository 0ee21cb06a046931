"""The planner's part: look at the place, and plan the files in steps that do not wait for each other."""

import json
import re
from collections.abc import Sequence

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
_PART = re.compile(
    r"Your part is step \d+: .*?\. Files: (?P<files>.+?)(?:(?P<cut>,? …)|\. (?:It is done when|Do only))"
)
_STEP = re.compile(r"^(\d+)\. .*? — files: (.*?)(?: — done when: .*)?$", re.MULTILINE)


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


def planned(asked: Asked, told: Sequence[str], part: str, workspace: str) -> tuple[Project, list[str]] | None:
    """The project of a plan that was made, and the files of that part of it."""
    steps = {number: files.split(", ") for number, files in _STEP.findall("\n".join(told))}
    if project := project_of(asked, [file for files in steps.values() for file in files], workspace):
        return project, steps.get(part, [])
    # Of a long plan everybody is told no more than their own part.
    own = next(filter(None, map(_PART.match, told)), None)
    if own is None:
        return None
    files, cut = own["files"].split(", "), own["cut"] is not None
    whole = files[:-1] if cut else files
    found = next((each for root in _above(whole) if _holds(each := Project.of(asked, root, workspace), whole)), None)
    if found is None or not cut:
        return None if found is None else (found, files)
    named = parts(list(found.files()))
    return found, [found.path(file) for file in list(named.values())[int(part) - 1]] if part.isdecimal() else whole


def _holds(project: Project, files: Sequence[str]) -> bool:
    return bool(files) and {project.path(file) for file in project.files()}.issuperset(files)


def _above(files: Sequence[str]) -> list[str]:
    """The folders that a file is in, the uppermost first."""
    folders = files[0].split("/")[:-1] if files else []
    return [".", *("/".join(folders[: count + 1]) for count in range(len(folders)))]


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
