"""Creates a new project from a template; each agent of the pipeline does its own step."""

import re
from collections.abc import Sequence
from dataclasses import asdict
from typing import NamedTuple

from pydantic import JsonValue

from sidecar.models.port import EarlierCall, ToolReturn
from sidecar.offline.parsed_request import ParsedRequest
from sidecar.offline.results import failure, strings
from sidecar.offline.scaffold.planning import Location, locate, plan, planned, project_of, to_write
from sidecar.offline.scaffold.project import NewProject
from sidecar.offline.scaffold.request import ProjectRequest, parse_request
from sidecar.offline.skill import Act, Decline, Move, Say
from sidecar.offline.skills.review import find_issues, render_verdict
from sidecar.wire.base import JsonObject
from sidecar.wire.text import plural

#: The tools that each agent needs for its step.
_TOOLS = {
    "planner": {"list_dir"},
    "coder": {"list_dir", "read_directory_tree", "create_file"},
    "terminal": {"run_tests", "run_command", "list_dir"},
    "reviewer": {"review_changes"},
    "docs": {"read_directory_tree", "read_file", "edit_file"},
}
#: The first Node that runs TypeScript directly.
_RUNS_TYPESCRIPT = (22, 18)
_VENV = 'python3 -m venv .venv && .venv/bin/python -m pip install --quiet --editable ".[dev]"'
_NPM: list[JsonValue] = ["npm", "install", "--no-audit", "--no-fund"]
_INSTALL_MS = 600_000
_INSTALLING = "The packages that the tests need are missing. This installs them in the project's folder only."
_FILES_HEADING = "## What is where"
_NEXT_HEADING = "## Development"
_FILES_SHOWN = 40


class Scaffold:
    example = "create a python package called textkit"
    tools = frozenset({"list_dir"})

    def parse(self, question: ParsedRequest) -> JsonObject | None:
        needed = _TOOLS.get(question.agent)
        if needed is None or not needed <= question.offered:
            return None
        asked = parse_request(question.words)
        return None if asked is None else asdict(asked)

    def next(self, args: JsonObject, question: ParsedRequest) -> Move:
        asked = ProjectRequest(**{name: str(value) for name, value in args.items()})
        if asked.refusal:
            return Decline(asked.refusal)
        brief = question.brief
        if question.agent == "planner":
            return plan(asked, question)
        if question.agent == "coder" and brief.part != "configure" and not brief.fixes:
            return _write_step(asked, question) if brief.planned_step else _write_all(asked, question)
        project = project_of(asked, brief.changed, brief.workspace)
        if project is None:
            return _without_project(question.agent)
        match question.agent:
            case "coder":
                return _complete(project, question)
            case "terminal":
                return _test(project, question) if brief.part == "test" else _install(project, question)
            case "reviewer":
                return _review(project, question)
            case _:
                return _document(project, question)


def _without_project(agent: str) -> Say:
    text = "This task has made no project, so there is nothing to do here."
    return render_verdict(text, []) if agent == "reviewer" else Say(text)


# -- coder: write the files ------------------------------------------------------------------------------------------


def _write_step(asked: ProjectRequest, question: ParsedRequest) -> Move:
    step = planned(asked, question.brief)
    if step is None:
        return Decline("The plan has no such step. Nothing was changed.")
    project, paths = step
    files = {project.path(file): text for file, text in project.files().items()}
    return _write(project, {path: files[path] for path in paths if path in files}, question.returns)


def _write_all(asked: ProjectRequest, question: ParsedRequest) -> Move:
    """Without a plan, everything at once."""
    found = locate(asked, question)
    if not isinstance(found, Location):
        return found
    files = found.project.files()
    wanted = {found.project.path(file): files[file] for file in to_write(found)}
    return _write(found.project, wanted, [each for each in question.returns if each.tool == "create_file"])


def _complete(project: NewProject, question: ParsedRequest) -> Move:
    """Write missing files, when configuring or after a review. Rules can't fix more than that."""
    if not question.returns:
        return Act([("read_directory_tree", {"path": project.root})])
    there = set(strings(question.returns[0], "paths"))
    files = {project.path(file): text for file, text in project.files().items()}
    missing = {path: text for path, text in files.items() if path not in there}
    if missing:
        return _write(project, missing, question.returns[1:])
    complete = f"All {plural(len(files), 'file')} of `{project.name}` are there."
    if question.brief.fixes:
        return Say(f"{complete} The offline model can't fix what else the review found.")
    return Say(f"{complete} Nothing is left to configure.")


def _write(project: NewProject, files: dict[str, str], returns: Sequence[ToolReturn]) -> Move:
    if not returns:
        return Act([("create_file", {"path": path, "content": text}) for path, text in files.items()])
    failed = [
        f"`{path}`: {failure(back)}" for path, back in zip(files, returns, strict=False) if back.status != "success"
    ]
    if failed:
        written = len(files) - len(failed)
        return Decline(f"Wrote {written} of {len(files)} files of `{project.name}`. Not written: {' '.join(failed)}")
    paths = ", ".join(f"`{path}`" for path in files)
    return Say(f"Wrote {plural(len(files), 'file')} of `{project.name}`: {paths}.")


# -- terminal: install and test --------------------------------------------------------------------------------------


class Evidence(NamedTuple):
    """The last installation and the last test run of a project, by earlier agents."""

    install: EarlierCall | None
    tests: EarlierCall | None

    @classmethod
    def of(cls, project: NewProject, calls: Sequence[EarlierCall]) -> "Evidence":
        install = [each for each in calls if (each.tool, each.args) == _install_call(project)]
        tests = [each for each in calls if (each.tool, each.args) == _test_call(project)]
        return cls(next(reversed(install), None), next(reversed(tests), None))

    @property
    def installed(self) -> bool:
        return self.install is not None and self.install.status == "success"

    @property
    def counts(self) -> tuple[int, int] | None:
        """How many tests passed and failed, if they ran."""
        found = self.tests.details if self.tests is not None else {}
        passed, failed = found.get("passed"), found.get("failed")
        return (passed, failed) if isinstance(passed, int) and isinstance(failed, int) else None

    def describe(self) -> str:
        if self.counts is not None and self.tests is not None:
            passed, failed = self.counts
            return f"The tests ran ({self.tests.details.get('framework')}): {passed} passed, {failed} failed."
        if self.install is not None and not self.installed:
            return f"Not verified: its packages are not installed ({self.install.message})."
        return f"The tests could not run: {self.tests.message}" if self.tests else "The tests have not been run."


def _install(project: NewProject, question: ParsedRequest) -> Move:
    last = question.last
    if last is not None and last.tool == "run_command" and not _node_version(last):
        return _describe_install(project, last)
    if project.kind.needs == "nothing":
        return Say(f"Nothing to install: `{project.name}` needs only Python.")
    if project.kind.needs == "python":
        if last is None:
            # If the tests run, everything is there.
            return Act([_test_call(project)])
        if last.code == "packages_missing":
            return Act([_install_call(project)], _INSTALLING)
        return Say(f"Nothing to install: everything that `{project.name}` needs is there.")
    if last is None and project.kind.key == "typescript_library":
        return Act([("run_command", {"command": ["node", "--version"]})])
    if last is not None and (version := _node_version(last)) and version >= _RUNS_TYPESCRIPT:
        return Say(f"Nothing to install: Node {version[0]}.{version[1]} runs TypeScript tests directly.")
    return Act([_install_call(project)], _INSTALLING)


def _test(project: NewProject, question: ParsedRequest) -> Move:
    last = question.last
    evidence = Evidence.of(project, question.brief.earlier_calls)
    if last is None and evidence.install is not None and not evidence.installed:
        return Say(f"Not verified: its packages are not installed. {_describe_later(project)}")
    if last is None:
        return Act([_test_call(project) if project.kind.key != "react_app" else ("list_dir", {"path": project.root})])
    if last.tool == "list_dir":
        if last.details and _lists_node_modules(last):
            return Act([_test_call(project)])
        return Say(f"Not verified: its packages are not installed. {_describe_later(project)}")
    if last.tool == "run_command":
        return Act([_test_call(project)]) if last.status == "success" else _describe_install(project, last)
    installed = any(back.tool == "run_command" for back in question.returns)
    if "passed" in last.details:
        return Say(f"Installed the packages of `{project.name}`.\n{last.content}" if installed else last.content)
    if last.code == "packages_missing" and not installed:
        return Act([_install_call(project)], _INSTALLING)
    return Say(f"The tests could not run: {failure(last)}\n\n{_describe_later(project)}")


def _lists_node_modules(listing: ToolReturn) -> bool:
    entries = listing.details.get("entries")
    return isinstance(entries, list) and any(
        isinstance(each, dict) and str(each["path"]).rpartition("/")[2] == "node_modules" for each in entries
    )


def _test_call(project: NewProject) -> tuple[str, JsonObject]:
    return ("run_tests", {} if project.root == "." else {"target": project.root})


def _install_call(project: NewProject) -> tuple[str, JsonObject]:
    command: JsonValue = _NPM if project.kind.needs == "node" else _VENV
    return ("run_command", {"command": command, "cwd": project.root, "timeoutMs": _INSTALL_MS})


def _describe_install(project: NewProject, last: ToolReturn) -> Say:
    if last.status == "success":
        return Say(f"Installed the packages of `{project.name}`.")
    return Say(f"The packages were not installed: {failure(last)}\n\n{_describe_later(project)}")


def _describe_later(project: NewProject) -> str:
    enter = "" if project.root == "." else f"cd {project.root} && "
    if project.kind.needs == "node":
        return f"To do it later: `{enter}npm install && npm test`."
    return f"To do it later: `{enter}{_VENV} && .venv/bin/python -m pytest`."


def _node_version(back: ToolReturn) -> tuple[int, int] | None:
    found = re.match(r"v(\d+)\.(\d+)", str(back.details.get("output", ""))) if back.status == "success" else None
    return (int(found[1]), int(found[2])) if found else None


# -- reviewer: a verdict ---------------------------------------------------------------------------------------------


def _review(project: NewProject, question: ParsedRequest) -> Move:
    paths: list[JsonValue] = [project.path(file) for file in project.files()]
    last = question.last
    if last is None:
        return Act([("review_changes", {"paths": paths})])
    if last.status != "success":
        return render_verdict("", [{"message": f"The review failed: {failure(last)}", "severity": "error"}])
    issues = [each for each in find_issues(last) if each["severity"] == "error"]
    passed, failed = Evidence.of(project, question.brief.earlier_calls).counts or (0, 0)
    if failed:
        issues.append({"message": f"{plural(failed, 'test')} failed.", "severity": "error"})
    elif not passed:
        issues.append({"message": "The tests have not been run.", "severity": "hint"})
    tests = f", and {plural(passed, 'test')} passed" if passed and not failed else ""
    return render_verdict(f"Reviewed {plural(len(paths), 'file')} of {project.name} by rules{tests}.", issues)


# -- docs: the file table of the README, and the summary -------------------------------------------------------------


def _document(project: NewProject, question: ParsedRequest) -> Move:
    readme = project.path("README.md")
    if not question.returns:
        return Act([("read_directory_tree", {"path": project.root}), ("read_file", {"path": readme})])
    found, page, *edited = question.returns
    lacks_table = _NEXT_HEADING in page.content and _FILES_HEADING not in page.content
    if not edited and readme in question.brief.changed and lacks_table and found.status == "success":
        table = _render_table(project, strings(found, "paths"))
        edit: JsonObject = {"path": readme, "oldText": _NEXT_HEADING, "newText": f"{table}\n\n{_NEXT_HEADING}"}
        return Act([("edit_file", edit)])
    summary = _summarize(project, question)
    if edited and edited[-1].status != "success":
        return Say(f"{summary}\n\nThe README doesn't list the files: {failure(edited[-1])}")
    return Say(summary)


def _render_table(project: NewProject, there: Sequence[str]) -> str:
    purposes = project.purposes()
    known = [file for file in sorted(purposes) if project.path(file) in there][:_FILES_SHOWN]
    rows = [("file", "what it is"), *((f"`{file}`", purposes[file]) for file in known)]
    wide = [max(len(row[column]) for row in rows) for column in (0, 1)]
    # Aligned, as Markdown formatters want it.
    head, *lines = (f"| {file:<{wide[0]}} | {what:<{wide[1]}} |" for file, what in rows)
    return "\n".join([_FILES_HEADING, "", head, f"| {'-' * wide[0]} | {'-' * wide[1]} |", *lines])


def _summarize(project: NewProject, question: ParsedRequest) -> str:
    evidence = Evidence.of(project, question.brief.earlier_calls)
    folder = "the workspace" if project.root == "." else f"`{project.root}/`"
    enter = "" if project.root == "." else f"cd {project.root} && "
    written = sum(project.path(file) in question.brief.changed for file in project.files())
    example = project.kind.example.format(module=project.module)
    purpose = f"Its README says what it is for (“{project.description.rstrip('.')}”); " if project.purpose else ""
    code = f"{purpose}{'the' if purpose else 'The'} code in it is an example, {example}. Your own is not written yet."
    head = f"`{project.name}` is in {folder}, a {project.kind.said} of {plural(written, 'file')}."
    start = f"Try it: `{enter}{_start_command(project, evidence)}`"
    return "\n\n".join([head, evidence.describe(), code, start])


def _start_command(project: NewProject, evidence: Evidence) -> str:
    lacks = project.kind.needs == "python" and not evidence.installed and evidence.counts is None
    python = ".venv/bin/python" if lacks or evidence.installed else "python3"
    start = project.kind.start.format(module=project.module, python=python)
    return f"{_VENV} && {start}" if lacks else start
