"""Which requests the offline model understands, and which it leaves alone."""

import pytest

from sidecar.models.port import Brief
from sidecar.offline.skill import Act, Decline
from tests.unit.offline.questions import move


@pytest.mark.parametrize(
    ("tool", "args", "texts"),
    [
        (
            "describe_symbol",
            {"symbol": "parse_line"},
            "explain parse_line | what does `parse_line` do? | Can you explain parse_line() please?"
            " | how does parse_line work | tell me about the function parse_line | where is parse_line defined?"
            " | where is parse_line"
            " | how is parse_line implemented | what's the signature of parse_line | what does parse_line call"
            " | where's parse_line | show me the definition of parse_line"
            " | what is parse_line? | explain how parse_line works",
        ),
        (
            "describe_symbol",
            {"symbol": "Cart.total"},
            "explain Cart.total | what does Cart.total do | where is Cart.total",
        ),
        (
            "describe_symbol",
            {"symbol": "foo", "path": "src/b.py"},
            "explain foo in src/b.py | what does foo in src/b.py do",
        ),
        (
            "describe_symbol",
            {"symbol": "foo"},
            "explain this | what does this function do? | explain the selected code",
        ),
        (
            "describe_file",
            {"path": "src/app.py"},
            "explain src/app.py | what does src/app.py do? | summarize ./src/app.py | walk me through src/app.py"
            " | how complex is src/app.py | list the functions in src/app.py",
        ),
        (
            "describe_file",
            {"path": "src/a.py"},
            "explain this file | what does this file do? | describe the current file",
        ),
        ("describe_file", {"path": "src"}, "explain the src folder | explain src/ | what is in the directory src"),
        (
            "describe_project",
            {},
            "what does this project do? | give me an overview of the code | explain the codebase"
            " | what is this repo about | overview",
        ),
        ("describe_project", {"sections": ["size", "folders", "imports"]}, "how is this project structured?"),
        ("describe_project", {"sections": ["entries"]}, "what are the entry points"),
        ("describe_project", {"sections": ["dependencies"]}, "which dependencies does this project use"),
        (
            "find_usages",
            {"symbol": "foo"},
            "who calls foo | who uses `foo`? | where is foo used | find all usages of foo | find references to foo"
            " | who is using foo | is foo still used? | which files use foo | show me the callers of foo()",
        ),
        (
            "tests_of",
            {"path": "src/app.py"},
            "which tests cover src/app.py? | is `src/app.py` tested? | list the tests for src/app.py"
            " | which tests should I run if I change src/app.py",
        ),
        ("find_usages", {"symbol": "src/app.py"}, "who imports src/app.py | which files import src/app.py"),
        (
            "find_usages",
            {"symbol": "foo", "transitive": True},
            "what breaks if I change foo? | what would break if I removed foo | what is affected if I rename foo"
            " | what depends on foo | which tests cover foo? | impact of changing foo | is it safe to delete foo",
        ),
        (
            "review_changes",
            {},
            "review my changes | check the diff for problems | please review the uncommitted changes | code review"
            " | is everything ok with my changes? | look over my changes",
        ),
        ("review_changes", {"ref": "HEAD"}, "look over the last commit | review the latest commit | review HEAD"),
        ("review_changes", {"ref": "main..HEAD"}, "review the changes since main | check the diff against main"),
        (
            "review_changes",
            {"paths": ["src/b.py"]},
            "review src/b.py | check src/b.py for bugs | what's wrong with src/b.py",
        ),
        (
            "review_changes",
            {"paths": ["."]},
            "any secrets in my code? | review the project | find bugs",
        ),
        ("review_changes", {"paths": ["src/a.py"]}, "review this file | check this file for problems"),
        ("run_tests", {}, "run the tests | do the tests pass? | test it | run all the tests again | pytest"),
        ("run_tests", {"target": "tests/unit"}, "run the tests in tests/unit | run tests for `tests/unit`"),
        ("run_command", {"command": "npm run build"}, "npm run build | run `npm run build` | run npm run build"),
        (
            "run_command",
            {"command": "python3 tools/fill.py"},
            "run the script tools/fill.py | run tools/fill.py | execute my python script `tools/fill.py`",
        ),
        ("run_command", {"command": "ls -la"}, "run ls -la | run the command ls -la | execute `ls -la`"),
        ("run_command", {"command": 'git commit -m "x"'}, 'git commit -m "x"'),
        ("find_symbols", {"query": "test_foo"}, "run test_foo | run the test test_foo | why does test_foo fail?"),
        (
            "search_code",
            {"query": r"(?:^|[^.\w])(TODO|FIXME|XXX|HACK)\b", "regex": True, "maxResults": 500},
            "find all TODOs | check for TODOs | list the open tasks | show all todo comments | what TODOs are there?",
        ),
        (
            "read_file",
            {"path": "src/a.py", "endLine": 1},
            "how many lines does src/a.py have? | how many lines are in src/a.py | how long is src/a.py?",
        ),
        (
            "search_code",
            {"query": "error.*format|format.*error", "regex": True, "caseSensitive": False, "maxResults": 2000},
            "find where errors are formatted | where are the errors formatted?",
        ),
        ("describe_symbol", {"symbol": "Cart"}, "how many lines does Cart have? | how long is the class Cart?"),
        (
            "describe_project",
            {"sections": ["size"]},
            "how many lines of Python are there? | how many lines are there in total? | how many lines of code are "
            "there in this project? | how many lines of Go does this project have?",
        ),
        (
            "search_code",
            {"query": "session.*sav|sav.*session", "regex": True, "caseSensitive": False, "maxResults": 2000},
            "find where sessions are saved | where are the sessions saved? | show me the code where sessions get saved",
        ),
        (
            "find_commands",
            {},
            "run the linter | lint | lint the project | build it | build the project | install the dependencies"
            " | install the requirements | run the type checker | npm install | start the app | run the build",
        ),
        (
            "git_log",
            {"since": "yesterday", "limit": 200},
            "what changed since yesterday? | show the commits since yesterday",
        ),
        (
            "git_log",
            {"since": "last tag", "limit": 200},
            "what changed since the last tag | what is new since the last release",
        ),
        ("git_log", {"since": "v1.0", "limit": 200}, "what changed since v1.0 | what happened since version v1.0"),
        ("git_log", {"since": "last week", "limit": 200}, "what happened last week | what changed since last week"),
        ("git_log", {"since": "3 days", "limit": 200}, "what changed in the last 3 days"),
        ("git_log", {"limit": 10}, "show me the last commits | git log | show the git history"),
        ("git_log", {"path": "src/b.py", "limit": 1}, "who last changed src/b.py? | when was src/b.py last changed"),
        (
            "git_blame",
            {"path": "src/b.py", "startLine": 12, "endLine": 12},
            "who wrote line 12 of src/b.py? | who changed line 12 in src/b.py | blame line 12 of src/b.py",
        ),
    ],
)
def test_a_request_becomes_a_call(tool: str, args: dict[str, object], texts: str) -> None:
    for text in texts.split(" | "):
        answer = move(text)
        assert isinstance(answer, Act), text
        assert list(answer.calls) == [(tool, args)], text


@pytest.mark.parametrize(
    "text", ["what did I change?", "git status", "what's the state of the repo?", "show my changes"]
)
def test_the_state_of_the_repository_is_asked_for(text: str) -> None:
    answer = move(text)
    assert isinstance(answer, Act) and [tool for tool, _ in answer.calls] == ["git_status", "git_diff"]


@pytest.mark.parametrize(
    "text",
    [
        "explain quantum computing",
        "why is the sky blue?",
        "what is love",
        "explain the difference between a list and a tuple",
        "review the movie Alien with me",
        "who is the president",
        "what breaks if I stop sleeping?",
        "where are my keys",
        "run away",
        "run the marathon",
        "search the web for cats",
        "find a bug",
        "what's the purpose of life",
        "how is life",
        "walk me through the park",
        "how complex is love",
        "document my life",
        "what's wrong with me",
        "run the script of the play",
        "commit to this plan",
        "build a rocket",
        "install the new kitchen",
        "help me understand recursion",
        "write a poem about tests",
        "what changed since my childhood in Berlin",
        "who wrote Faust",
        "update the database",
        "summarize the news",
    ],
)
def test_near_misses_are_left_alone(text: str) -> None:
    answer = move(text, brief=Brief())
    assert answer is None or isinstance(answer, Decline), answer


def test_a_sentence_that_no_one_says_is_not_looked_at_for_long() -> None:
    assert move("explain " + "a.b" * 50_000, brief=Brief()) is None
