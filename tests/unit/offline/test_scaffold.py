"""Projects from templates: what a sentence asks for, where it goes, and that what is made is good as it is."""

import json
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from pydantic import JsonValue

from sidecar.models.port import Brief, EarlierCall, ToolReturn
from sidecar.offline.model import SKILLS
from sidecar.offline.parsed_request import ParsedRequest, strip_politeness
from sidecar.offline.scaffold.kinds import load_kinds, module, slug
from sidecar.offline.scaffold.project import NewProject, group_files
from sidecar.offline.scaffold.request import ProjectRequest, parse_request
from sidecar.offline.scaffold.skill import Scaffold
from sidecar.offline.skill import Act, Decline, Say
from sidecar.wire.base import JsonObject
from sidecar.work.plan import parse_plan
from sidecar.work.router import route
from sidecar.work.verdict import Verdict, parse_verdict
from tools.executor.registry import default_registry

TOOLS = frozenset(tool.name for tool in default_registry().infos())
#: As long as a name may be: lines must not break the linter's limit.


def asked(text: str) -> ProjectRequest | None:
    return parse_request(strip_politeness(text))


@pytest.mark.parametrize(
    ("text", "kind", "name"),
    [
        ("create a python package called textkit", "python_package", "textkit"),
        ("Can you make me a Python library named `text_kit`, please?", "python_package", "text_kit"),
        ("start a new python package textkit", "python_package", "textkit"),
        ("create a python cli called weather-report", "python_cli", "weather-report"),
        ("start a python command line tool", "python_cli", ""),
        ('build a command-line app in Python called "word count"', "python_cli", "word count"),
        ("scaffold a Starlette API named orders", "starlette_api", "orders"),
        ("bootstrap a starlette service billing", "starlette_api", "billing"),
        ("create a REST API with Starlette called shop", "starlette_api", "shop"),
        ("new typescript library date-utils in libs/date-utils", "typescript_library", "date-utils"),
        ("please create a TypeScript package called dates", "typescript_library", "dates"),
        ("i'd like a new npm library in typescript named dates", "typescript_library", "dates"),
        ("make a new react app todo-list", "react_app", "todo-list"),
        ("generate a React application called shop with tests and a readme", "react_app", "shop"),
        ("give me a new react app", "react_app", ""),
        ("Set up a Vite + React + TypeScript project", "react_app", ""),
        ("create a new Python project called inventory with pytest and ruff", "python_package", "inventory"),
        ("Generate a Python CLI tool project", "python_cli", ""),
        ("set up a static site for my band", "static_site", "band"),
        ("make a static website called cafe", "static_site", "cafe"),
        ("i need a plain html site named cafe", "static_site", "cafe"),
    ],
)
def test_a_project_is_asked_for_in_many_ways(text: str, kind: str, name: str) -> None:
    found = asked(text)
    assert found is not None
    assert (found.kind, found.name, found.refusal) == (kind, name, "")
    assert route(text).intent == "create_project"


@pytest.mark.parametrize(
    "text",
    [
        "create a function that adds two numbers",
        "create a react component called Button",
        "create a test for the react app",
        "add a python package to the requirements",
        "build the react app",
        "start the server",
        "start my starlette api",
        "build the project",
        "create a readme for the python package",
        "make the tests pass",
        "create a commit message",
        "explain the python package",
        "rename the python package to kit",
        "create a new file called notes.txt",
        "create an api client for the shop",
        "write a blog post about this release",
        "create an API reference",
    ],
)
def test_what_is_no_project_is_left_to_others(text: str) -> None:
    assert asked(text) is None


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("create a rust game", "rust game"),
        ("create a new django app called shop", "django app"),
        ("make me a react native app", "react native app"),
        ("create a react app called shop with redux and stripe", "with redux and stripe"),
        ("create a python package in ../elsewhere", "../elsewhere"),
        ("bootstrap a new typescript library with vitest", "with vitest"),
    ],
)
def test_what_there_is_no_template_for_is_declined_with_what_there_is(text: str, word: str) -> None:
    args = Scaffold().parse(ParsedRequest("planner", text, offered=TOOLS))
    assert args is not None
    move = Scaffold().next(args, ParsedRequest("planner", text, offered=TOOLS))
    assert isinstance(move, Decline)
    assert word in move.text


def test_a_purpose_and_a_place_are_understood_together() -> None:
    found = asked("create a python cli called counter that counts words in libs/counter")
    assert found == ProjectRequest("python_cli", "counter", "that counts words", "libs/counter")
    project = NewProject.of(found, "libs/counter", "/home/me/work")
    assert project.description == "A command line tool that counts words."
    files = project.files()
    assert project.description in files["README.md"]
    assert tomllib.loads(files["pyproject.toml"])["project"]["description"] == project.description


@pytest.mark.parametrize("said", ['that says "hi" \\ bye', "that shows <b> & {{name}}", "that 'quotes' `code`"])
@pytest.mark.parametrize("kind", load_kinds())
def test_whatever_the_purpose_is_the_files_can_be_read(kind: str, said: str) -> None:
    found = asked(f"create a {load_kinds()[kind].said} called kit {said}")
    assert found is not None
    for path, text in NewProject.of(found, ".", "/w").files().items():
        match Path(path).suffix:
            case ".toml":
                tomllib.loads(text)
            case ".json":
                json.loads(text)
            case ".py":
                compile(text, path, "exec")
            case ".html":
                assert "<b>" not in text


def test_names_are_made_of_what_was_said() -> None:
    assert [slug(each) for each in ("Weather Report", "dateUtils", "café_bar", "x--y")] == [
        "weather-report",
        "date-utils",
        "cafe-bar",
        "x-y",
    ]
    assert module("weather-report") == "weather_report"


@pytest.mark.parametrize("name", ["json", "class", "pytest", "9lives", "x" * 31, "…"])
def test_a_name_that_cannot_be_is_declined_before_anything_is_written(name: str) -> None:
    move, _ = played("planner", f"create a python package called {name}", {".": []})
    assert isinstance(move, Decline)


# -- where it goes ---------------------------------------------------------------------------------------------------


def entries(names: Sequence[str]) -> list[JsonValue]:
    kinds = {"/": "directory", "@": "symlink"}
    return [{"path": name.rstrip("/@"), "kind": kinds.get(name[-1], "file")} for name in names]


def played(agent: str, text: str, folders: Mapping[str, Sequence[str]], **brief: object) -> tuple[object, list[str]]:
    """The skill's last move after it has looked at these folders, and which it looked at."""
    returns: list[ToolReturn] = []
    looked: list[str] = []
    while True:
        question = ParsedRequest(
            agent, text, Brief(asked=text, workspace="/home/me/my-work", **brief), TOOLS, returns, len(returns)
        )
        args = Scaffold().parse(question)
        assert args is not None
        move = Scaffold().next(args, question)
        if not isinstance(move, Act) or move.calls[0][0] != "list_dir":
            return move, looked
        for tool, args in move.calls:
            path = str(args["path"])
            looked.append(path)
            returns.append(
                ToolReturn(
                    id=path, tool=tool, status="success", content="", details={"entries": entries(folders[path])}
                )
            )


def planned_files(move: object) -> list[str]:
    assert isinstance(move, Say), move
    return [file for step in parse_plan(move.text).steps for file in step.files]


@pytest.mark.parametrize(
    ("text", "folders", "expected"),
    [
        ("create a python package called kit", {".": []}, "src/kit/__init__.py"),
        ("create a python package called kit", {".": [".git/", "README.md"]}, "src/kit/__init__.py"),
        ("create a python package", {".": [".git/"]}, "src/my_work/__init__.py"),
        ("create a python package called kit", {".": ["main.py"]}, "kit/src/kit/__init__.py"),
        ("create a python package", {".": ["main.py"]}, "my-package/src/my_package/__init__.py"),
        ("create a python package kit", {".": ["kit/", "a"], "kit": []}, "kit/src/kit/__init__.py"),
        ("create a python package kit in libs/kit", {".": []}, "libs/kit/src/kit/__init__.py"),
        ("create a python package kit in libs/", {".": ["libs/"], "libs": ["x/"]}, "libs/kit/src/kit/__init__.py"),
        ("create a python package here called kit", {".": ["main.go"]}, "src/kit/__init__.py"),
        ("create a python package called kit in .", {".": ["main.go"]}, "src/kit/__init__.py"),
    ],
)
def test_it_goes_into_an_empty_workspace_or_a_folder_of_its_own(
    text: str, folders: dict[str, list[str]], expected: str
) -> None:
    move, looked = played("planner", text, folders)
    assert expected in planned_files(move)
    assert looked == list(folders)


@pytest.mark.parametrize(
    ("text", "folders", "word"),
    [
        ("create a python package kit", {".": ["a.py", "kit/"], "kit": ["mine.py"]}, "`kit/` already exists"),
        ("create a python package kit", {".": ["a.py", "kit"]}, "is not a folder"),
        ("create a python package here called kit", {".": ["pyproject.toml", "src/"]}, "`pyproject.toml`, `src/`"),
    ],
)
def test_nothing_is_ever_overwritten(text: str, folders: dict[str, list[str]], word: str) -> None:
    move, _ = played("planner", text, folders)
    assert isinstance(move, Decline)
    assert word in move.text
    assert "nothing was changed" in move.text


def test_a_readme_that_is_there_is_kept_and_said() -> None:
    move, _ = played("planner", "create a python package called kit", {".": ["README.md"]})
    assert "README.md" not in planned_files(move)
    assert isinstance(move, Say)
    assert "Kept as they are: `README.md`." in move.text


# -- who does what ---------------------------------------------------------------------------------------------------


def test_the_plan_has_steps_that_need_not_wait_for_each_other() -> None:
    move, _ = played("planner", "create a starlette api called orders", {".": []})
    assert isinstance(move, Say)
    plan = parse_plan(move.text)
    assert [len(others) for others in plan.waits().values()] == [0, 0, 0]
    assert all(step.checks for step in plan.steps)


@pytest.mark.parametrize("place", ["", " in libs/kit", " in a/folder/far/down"])
@pytest.mark.parametrize("kind", ["python package", "starlette api", "typescript library", "react app", "static site"])
def test_each_step_of_the_plan_writes_its_own_files(kind: str, place: str) -> None:
    text = f"create a {kind} called bookings-and-orders{place}"
    listings: dict[str, list[str]] = {".": []}
    folder = ""
    for name in place.removeprefix(" in ").split("/") if place else ():
        folder = f"{folder}/{name}".lstrip("/")
        listings[folder] = []
    move, _ = played("planner", text, listings)
    assert isinstance(move, Say), move
    plan = parse_plan(move.text)
    written: list[str] = []
    for number, step in enumerate(plan.steps, start=1):
        act, _ = played("coder", text, {}, planned_step=number, plan=[each.files for each in plan.steps])
        assert isinstance(act, Act), act
        assert [args["path"] for _, args in act.calls] == step.files
        written += step.files
    assert sorted(written) == sorted(planned_files(move))


def test_a_file_that_could_not_be_written_ends_the_task_and_is_named() -> None:
    text = "create a python package called kit"
    plan = [["pyproject.toml", "LICENSE"]]
    back = [
        ToolReturn(id="0", tool="create_file", status="success", content="created"),
        ToolReturn(
            id="1", tool="create_file", status="error", content="The disk is full.", message="The disk is full."
        ),
    ]
    question = ParsedRequest("coder", text, Brief(asked=text, planned_step=1, plan=plan), TOOLS, back, 1)
    args = Scaffold().parse(question)
    assert args is not None
    move = Scaffold().next(args, question)
    assert isinstance(move, Decline)
    assert "`LICENSE`: The disk is full." in move.text
    assert "1 of 2 files" in move.text


@pytest.mark.parametrize(
    ("counts", "passed"), [({"passed": 9, "failed": 0}, True), ({"passed": 8, "failed": 1}, False), (None, True)]
)
def test_the_verdict_is_on_what_is_there_and_how_the_tests_went(counts: JsonObject | None, passed: bool) -> None:
    text = "create a python package called kit"
    files = NewProject.of(ProjectRequest("python_package", "kit"), ".", "/w").files()
    calls = [EarlierCall("run_tests", {}, "success", details=counts)] if counts is not None else []
    verdict = reviewed(text, list(files), [], calls)
    assert verdict.passed is passed
    assert ("have not been run" in verdict.render()) is (counts is None)


def test_the_verdict_names_a_file_that_cannot_be_parsed() -> None:
    text = "create a python package called kit"
    files = list(NewProject.of(ProjectRequest("python_package", "kit"), ".", "/w").files())
    broken: dict[str, JsonValue] = {
        "path": "src/kit/text.py",
        "line": 1,
        "severity": "error",
        "message": "Broken.",
        "fix": "x",
    }
    hint: dict[str, JsonValue] = {**broken, "severity": "hint", "message": "Untested."}
    verdict = reviewed(text, files, [broken, hint], [])
    assert not verdict.passed
    assert [(issue.file, issue.message) for issue in verdict.issues][:1] == [("src/kit/text.py", "Broken.")]
    assert "Untested." not in verdict.render()


def reviewed(text: str, changed: list[str], findings: list[JsonValue], calls: list[EarlierCall]) -> Verdict:
    back = [ToolReturn(id="0", tool="review_changes", status="success", content="", details={"findings": findings})]
    question = ParsedRequest("reviewer", text, Brief(asked=text, changed=changed, earlier_calls=calls), TOOLS, back, 1)
    args = Scaffold().parse(question)
    assert args is not None
    move = Scaffold().next(args, question)
    assert isinstance(move, Say)
    verdict = parse_verdict(move.text)
    assert verdict is not None
    return verdict


def test_it_is_the_first_of_the_skills_to_be_asked() -> None:
    for text in ("create a python package called tests", "set up a static site for my search"):
        first = next(
            skill for skill in SKILLS if skill.parse(ParsedRequest("planner", text, offered=TOOLS)) is not None
        )
        assert isinstance(first, Scaffold)


# -- what is made ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", load_kinds())
def test_every_kind_has_what_a_project_needs(kind: str) -> None:
    project = NewProject.of(ProjectRequest(kind, "kit"), ".", "/w")
    files = project.files()
    assert 5 <= len(files) <= 25
    assert {"README.md", "LICENSE", ".gitignore", ".editorconfig"} <= files.keys()
    assert group_files(list(files)).keys() == {"sources", "tests", "project files"}
    assert files.keys() <= project.purposes().keys()
    assert not any("{{" in text for path, text in files.items() if not path.endswith((".ts", ".tsx", ".css")))
    assert "## Development" in files["README.md"]
