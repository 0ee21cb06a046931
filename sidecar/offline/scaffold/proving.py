"""The terminal's part: install what is needed, if anything is, and run the tests."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from pydantic import JsonValue

from sidecar.models.port import EarlierCall, ToolReturn
from sidecar.offline.output import why
from sidecar.offline.question import Question
from sidecar.offline.scaffold.planning import project_of
from sidecar.offline.scaffold.project import Project
from sidecar.offline.scaffold.wording import Asked
from sidecar.offline.skill import Act, Move, Say
from sidecar.wire.base import JsonObject

#: The first Node that runs TypeScript as it is.
_RUNS_TYPESCRIPT = (22, 18)
VENV = 'python3 -m venv .venv && .venv/bin/python -m pip install --quiet --editable ".[dev]"'
_NPM: list[JsonValue] = ["npm", "install", "--no-audit", "--no-fund"]
_MINUTES = 10
INSTALLED = "Installed the packages"
_INSTALLING = "What its tests need is not here; it would be installed in the project's folder, and nowhere else."
#: How `run_tests` says that a Python lacks something.
_LACKS = re.compile("no Python here has")
_COUNTED = re.compile(r"\w+: (\d+ passed|no tests were found)")


class Evidence(NamedTuple):
    """The last installation and the last test run of a project, by earlier agents."""

    install: EarlierCall | None
    tests: EarlierCall | None

    @classmethod
    def of(cls, project: Project, calls: Sequence[EarlierCall]) -> "Evidence":
        install = [each for each in calls if each.tool == "run_command" and each.args == _command(project)[1]]
        tests = [each for each in calls if each.tool == "run_tests" and each.args == _tests(project)[1]]
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

    def __str__(self) -> str:
        if self.counts is not None and self.tests is not None:
            passed, failed = self.counts
            return f"The tests ran ({self.tests.details.get('framework')}): {passed} passed, {failed} failed."
        if self.install is not None and not self.installed:
            return f"The packages are not installed: {self.install.message}"
        return f"The tests could not run: {self.tests.message}" if self.tests else "The tests have not been run."


def install(asked: Asked, question: Question) -> Move:
    project = project_of(asked, question.brief.changed, question.brief.workspace)
    if project is None:
        return Say("Nothing to install: this task has made no project.")
    last = question.last
    if last is not None and last.tool == "run_command" and not _is_version(last):
        return _installed(project, last)
    match project.kind.needs:
        case "nothing":
            return Say(f"Nothing to install: `{project.name}` stands on nothing but Python.")
        case "python":
            if last is None:
                # What is at hand is enough if the tests run with it.
                return Act([_tests(project)])
            if _LACKS.search(last.content):
                return Act([_command(project)], _INSTALLING)
            return Say(f"Nothing to install: what `{project.name}` needs is there already.")
        case "node":
            if last is None and project.kind.key == "typescript_library":
                return Act([("run_command", {"command": ["node", "--version"]})])
            if last is not None and (version := _version(last)) >= _RUNS_TYPESCRIPT:
                return Say(f"Nothing to install: Node {version[0]}.{version[1]} runs the TypeScript tests as they are.")
            return Act([_command(project)], _INSTALLING)


def test(asked: Asked, question: Question) -> Move:
    project = project_of(asked, question.brief.changed, question.brief.workspace)
    if project is None:
        return Say("There are no tests to run: this task has made no project.")
    last = question.last
    if last is None:
        return Act([_tests(project) if project.kind.key != "react_app" else ("list_dir", {"path": project.root})])
    if last.tool == "list_dir":
        if "node_modules/" in last.content.splitlines():
            return Act([_tests(project)])
        return Say(f"The tests were not run: the packages are not installed. {_later(project)}")
    if last.tool == "run_command":
        return Act([_tests(project)]) if last.status == "success" else _installed(project, last)
    installed = any(back.tool == "run_command" for back in question.returns)
    if last.status == "success" or _COUNTED.match(last.content):
        return Say(f"{INSTALLED} of `{project.name}`.\n{last.content}" if installed else last.content)
    if _LACKS.search(last.content) and not installed:
        return Act([_command(project)], _INSTALLING)
    return Say(f"The tests could not be run: {why(last)}\n\n{_later(project)}")


def _tests(project: Project) -> tuple[str, JsonObject]:
    return ("run_tests", {} if project.root == "." else {"target": project.root})


def _command(project: Project) -> tuple[str, JsonObject]:
    command: JsonValue = _NPM if project.kind.needs == "node" else VENV
    return ("run_command", {"command": command, "cwd": project.root, "timeoutMs": _MINUTES * 60_000})


def _installed(project: Project, last: ToolReturn) -> Move:
    if last.status == "success":
        return Say(f"{INSTALLED} of `{project.name}`.")
    return Say(f"The packages were not installed: {why(last)}\n\n{_later(project)}")


def _later(project: Project) -> str:
    change = "" if project.root == "." else f"cd {project.root} && "
    if project.kind.needs == "node":
        return f"To do it later: `{change}npm install && npm test`."
    return f"To do it later: `{change}{VENV} && .venv/bin/python -m pytest`."


def _is_version(back: ToolReturn) -> bool:
    return back.status == "success" and back.content.startswith("v")


def _version(back: ToolReturn) -> tuple[int, int]:
    found = re.match(r"v(\d+)\.(\d+)", back.content)
    return (int(found[1]), int(found[2])) if found else (0, 0)
