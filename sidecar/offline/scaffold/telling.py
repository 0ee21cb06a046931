"""The docs' part: the README says which files there really are, and the person is told what they have now."""

from sidecar.offline.output import why
from sidecar.offline.question import Question
from sidecar.offline.scaffold.planning import project_of
from sidecar.offline.scaffold.project import Project
from sidecar.offline.scaffold.proving import VENV, Evidence
from sidecar.offline.scaffold.tree import paths
from sidecar.offline.scaffold.wording import Asked
from sidecar.offline.skill import Act, Move, Say

_HEADING = "## What is where"
_BEFORE = "## Development"
_MOST = 40


def document(asked: Asked, question: Question) -> Move:
    project = project_of(asked, question.brief.changed, question.brief.workspace)
    if project is None:
        return Say("There is nothing to document: this task has made no project.")
    readme = project.path("README.md")
    if not question.returns:
        return Act([("read_directory_tree", {"path": project.root}), ("read_file", {"path": readme})])
    found, page = question.returns[:2]
    edited = question.returns[2:]
    if not edited and readme in question.brief.changed and _lacks_files(page.content) and found.status == "success":
        table = _table(project, paths(found.content))
        return Act([("edit_file", {"path": readme, "oldText": _BEFORE, "newText": f"{table}\n\n{_BEFORE}"})])
    if edited and edited[-1].status != "success":
        return Say(f"{_summary(project, question)}\n\nThe README does not list its files: {why(edited[-1])}")
    return Say(_summary(project, question))


def _lacks_files(page: str) -> bool:
    return _BEFORE in page and _HEADING not in page


def _table(project: Project, there: list[str]) -> str:
    purposes = project.purposes()
    known = sorted(path for path in there if path in purposes)[:_MOST]
    rows = [("file", "what it is"), *((f"`{path}`", purposes[path]) for path in known)]
    wide = [max(len(row[column]) for row in rows) for column in (0, 1)]
    # In line, as formatters of Markdown want them.
    head, *lines = (f"| {file:<{wide[0]}} | {what:<{wide[1]}} |" for file, what in rows)
    return "\n".join([_HEADING, "", head, f"| {'-' * wide[0]} | {'-' * wide[1]} |", *lines])


def _summary(project: Project, question: Question) -> str:
    place = "the workspace" if project.root == "." else f"`{project.root}/`"
    evidence = Evidence.of(project, question.brief.earlier_calls)
    change = "" if project.root == "." else f"cd {project.root} && "
    example = project.kind.example.format(module=project.module)
    own = f"Its README says what it is for (“{project.description.rstrip('.')}”); " if project.purpose else ""
    unwritten = f"{own}{'the' if own else 'The'} code in it is an example, {example}. Your own is not written yet."
    head = f"`{project.name}` is in {place}, a {project.kind.said} of {_count(project, question)} files."
    return "\n\n".join([head, str(evidence), unwritten, f"Try it: `{change}{_start(project, evidence.installed)}`"])


def _start(project: Project, installed: bool) -> str:
    """How to see it work, with what was installed for it if anything was."""
    if project.kind.needs == "python" and not installed:
        return f"{VENV} && {_start(project, True)}"
    python = ".venv/bin/python" if installed else "python3"
    return project.kind.start.format(module=project.module, python=python)


def _count(project: Project, question: Question) -> int:
    return sum(project.path(file) in question.brief.changed for file in project.files())
