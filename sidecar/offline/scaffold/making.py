"""The coder's part: write the files of a step, and later look whether all of them are there."""

from collections.abc import Sequence

from sidecar.models.port import ToolReturn
from sidecar.offline.output import why
from sidecar.offline.question import Question
from sidecar.offline.scaffold.places import Found
from sidecar.offline.scaffold.planning import looked, planned, project_of, to_write
from sidecar.offline.scaffold.project import Project
from sidecar.offline.scaffold.tree import paths
from sidecar.offline.scaffold.wording import Asked
from sidecar.offline.skill import Act, Decline, Move, Say


def step(asked: Asked, question: Question) -> Move:
    """One step of the plan, `s1`, `s2`, …"""
    plan = planned(asked, question.brief)
    if plan is None:
        return Decline("The plan has no such step. Nothing was changed.")
    project, named = plan
    files = {project.path(file): text for file, text in project.files().items()}
    wanted = [path for path in named if path in files]
    return _written(project, {path: files[path] for path in wanted}, question.returns)


def everything(asked: Asked, question: Question) -> Move:
    """All of it at once, where nobody planned it."""
    found = looked(asked, question)
    if not isinstance(found, Found):
        return found
    files = found.project.files()
    wanted = {found.project.path(file): files[file] for file in to_write(found)}
    return _written(found.project, wanted, [each for each in question.returns if each.tool == "create_file"])


def mend(asked: Asked, question: Question) -> Move:
    """Look whether every file is there, and write those that are not. More cannot be mended without understanding."""
    project = project_of(asked, question.brief.changed, question.brief.workspace)
    if project is None:
        return Say("There is nothing here that this task has made.")
    if not question.returns:
        return Act([("read_directory_tree", {"path": project.root})])
    there = set(paths(question.returns[0].content))
    missing = {project.path(file): text for file, text in project.files().items() if file not in there}
    if missing:
        return _written(project, missing, question.returns[1:])
    said = f"Looked at `{project.name}`: all of its {len(project.files())} files are there. "
    if question.brief.part.startswith("fix"):
        return Say(said + "What else the review found needs understanding, which the offline model does not have.")
    return Say(said + "Nothing is left to configure.")


def _written(project: Project, files: dict[str, str], returns: Sequence[ToolReturn]) -> Move:
    if not returns:
        return Act([("create_file", {"path": path, "content": text}) for path, text in files.items()])
    failed = [f"`{path}`: {why(back)}" for path, back in zip(files, returns, strict=False) if back.status != "success"]
    if failed:
        kept = len(files) - len(failed)
        return Decline(
            f"{kept} of {len(files)} files of `{project.name}` were written. Not written: {' '.join(failed)}"
        )
    count = f"{len(files)} file{'s' if len(files) > 1 else ''}"
    return Say(f"Wrote {count} of `{project.name}`: {', '.join(f'`{path}`' for path in files)}.")
