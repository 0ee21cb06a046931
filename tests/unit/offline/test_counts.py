"""Questions how many there are of something."""

import pytest
from pydantic import JsonValue

from sidecar.offline.skill import Act
from tests.unit.offline.questions import result
from tests.unit.offline.test_answers import move, said


@pytest.mark.parametrize(
    ("text", "tool", "args"),
    [
        ("how many lines of python?", "describe_project", {"sections": ["size"]}),
        ("how many lines are there in total?", "describe_project", {"sections": ["size"]}),
        ("how many Go files are there?", "describe_project", {"sections": ["size"]}),
        ("how many tests are there?", "describe_project", {"sections": ["tests"]}),
        ("how many test files are there?", "describe_project", {"sections": ["tests"]}),
        ("which file is the longest?", "describe_project", {"sections": ["biggest"]}),
        ("how many lines of python are there in src?", "describe_file", {"path": "src"}),
        ("how many lines of typescript are in packages/core?", "describe_file", {"path": "packages/core"}),
        ("how many files are in src/app", "describe_file", {"path": "src/app"}),
        ("how many functions are in src/app.py?", "analyze_code", {"path": "src/app.py"}),
    ],
)
def test_a_question_of_a_number_asks_for_what_is_counted(text: str, tool: str, args: dict[str, JsonValue]) -> None:
    assert move(text) == Act([(tool, args)])


def test_lines_and_files_of_a_language_are_counted_or_said_to_be_none() -> None:
    sizes = result(
        "describe_project",
        lines=1_200,
        files=9,
        languages={"Python": 1_000, "Go": 50},
        languageFiles={"Python": 7, "Go": 1},
    )
    assert said("how many lines of python are there?", sizes) == "Python: 1,000 lines in 7 files."
    assert said("how many golang files are there?", sizes) == "Go: 50 lines in 1 file."
    assert said("how many lines are there in total?", sizes).startswith("1,200 lines in 9 files")
    assert said("how many rust files are there?", sizes) == "No rust file was found. The code is Python, Go."
    assert said("how many lines of python are there in src?", sizes).startswith("Python in `src`: 1,000 lines")


def test_definitions_of_one_kind_are_counted() -> None:
    symbols: JsonValue = [
        {"name": name, "kind": kind, "line": 1} for name, kind in [("f", "function"), ("A", "class"), ("g", "method")]
    ]
    found = result("analyze_code", symbols=symbols)
    assert (
        said("how many functions does src/app.py have?", found)
        == "`src/app.py` defines 1 function: `f`. It also defines 1 method."
    )
    assert said("how many classes are in src/app.py?", found) == "`src/app.py` defines 1 class: `A`."


def test_tests_are_counted_by_file_because_only_a_run_knows_more() -> None:
    assert said("how many tests are there?", result("describe_project", tests="pytest", testFiles=3)) == (
        "3 test files. Only a run counts single tests: say “run the tests”."
    )
    assert said("how many tests are there?", result("describe_project", tests="", testFiles=0)) == (
        "No test files were found."
    )


def test_the_largest_files_are_reported_with_their_lines() -> None:
    found = result("describe_project", biggest=["a.py", "b.py"], biggestLines=[900, 1])
    assert said("which file is the longest?", found).splitlines()[2:] == ["- `a.py` (900 lines)", "- `b.py` (1 line)"]
