"""The skills that change code: what each understands with all the others beside it, and what it answers."""

import pytest

from sidecar.models.port import Brief, ToolReturn
from sidecar.offline.parsed_request import ParsedRequest
from sidecar.offline.skill import Act, Decline, Say
from sidecar.wire.base import JsonObject
from sidecar.work.roster import ROSTER
from sidecar.work.router import READ_ONLY, route
from tests.unit.offline.questions import ALL_TOOLS, EDITOR, ask_coder, failed, find_skill, result

UNDERSTOOD: list[tuple[str, str, JsonObject]] = [
    ("remove unused imports", "organize_imports", {"sort": False}),
    ("Please remove the unused imports in src/b.py.", "organize_imports", {"sort": False, "paths": ["src/b.py"]}),
    ("can you delete all unused imports in this file?", "organize_imports", {"sort": False, "paths": ["src/a.py"]}),
    ("clean up the imports", "organize_imports", {}),
    ("organize imports in src/", "organize_imports", {"paths": ["src/"]}),
    ("sort the imports", "organize_imports", {"remove": False}),
    ("sort imports and remove unused ones in src/b.ts", "organize_imports", {"paths": ["src/b.ts"]}),
    ("move parse_line from a.py to b.py", "move_symbol", {"symbol": "parse_line", "from": "a.py", "to": "b.py"}),
    ("pls move the class `Cart` from shop/a.py into shop/b.py", "move_symbol",
     {"symbol": "Cart", "from": "shop/a.py", "to": "shop/b.py"}),
    ("move this function to src/b.py", "move_symbol", {"symbol": "foo", "from": "src/a.py", "to": "src/b.py"}),
    ("move parse_line to b.py", "find_symbols", {"query": "parse_line"}),
    ("format the code", "find_commands", {}),
    ("format this file", "find_commands", {}),
    ("format src/b.py please", "find_commands", {}),
    ("run the formatter", "find_commands", {}),
]  # fmt: skip


@pytest.mark.parametrize(("text", "tool", "args"), UNDERSTOOD)
def test_what_is_understood(text: str, tool: str, args: JsonObject) -> None:
    assert ask_coder(text) == Act([(tool, args)])


@pytest.mark.parametrize(("text", "tool"), [(text, tool) for text, tool, _ in UNDERSTOOD])
def test_it_is_sent_to_an_agent_that_has_the_tools(text: str, tool: str) -> None:
    found = find_skill(ParsedRequest("coder", text, EDITOR, ALL_TOOLS))
    assert found is not None
    routed = route(text)
    assert routed.intent not in READ_ONLY, routed
    assert any(found[0].tools <= frozenset(ROSTER[agent].tools) for agent in routed.pipeline), routed


@pytest.mark.parametrize(
    "text",
    [
        "remove the import of os",
        "add the missing imports",
        "remove all imports",
        "move the button to the left",
        "move parse_line up",
        "extract the parsing into a function",
        "extract a class from src/a.py",
        "document the project",
        "write documentation for the API",
        "add a test for the case when the file is empty",
        "add tests",
        "format the date as ISO",
        "format my answer as a table",
        "the test for parse_line is wrong",
    ],
)
def test_near_misses_are_left_to_others(text: str) -> None:
    found = find_skill(ParsedRequest("coder", text, EDITOR, ALL_TOOLS))
    changing = {"organize_imports", "move_symbol"}
    assert found is None or not (found[0].tools & changing or found[0].example == "format the code"), found


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("add tests for src/a.py", "can't write tests"),
        ("please create a test for the function parse_line()", "can't write tests"),
        ("cover parse_line with a test", "can't write tests"),
        ("make 86400 in x.py a constant", "can't extract constants"),
        ("extract 86400 in x.py into a constant SECONDS_PER_DAY", "can't extract constants"),
        ("introduce a constant LIMIT for 10 in this file", "can't extract constants"),
        ("add docstrings to x.py", "can't write docstrings"),
        ("document the functions in src/b.py", "can't write docstrings"),
        ("add jsdoc to src/b.ts", "can't write docstrings"),
        ("Could you update the README?", "can't write READMEs"),
        ("add a usage section to the README", "can't write READMEs"),
        ("write a changelog since v1.0", "can't write changelogs"),
        ("create release notes since v1.0", "brain keys set"),
    ],
)
def test_what_is_nearly_possible_is_declined_with_what_is(text: str, said: str) -> None:
    declined = ask_coder(text)
    assert isinstance(declined, Decline)
    assert said in declined.text


@pytest.mark.parametrize(
    "text",
    [
        "remove unused imports in this file",
        "move this to b.py",
        "format this file",
    ],
)
def test_without_an_open_file_or_a_selection_it_says_so(text: str) -> None:
    assert isinstance(ask_coder(text, brief=Brief()), Decline)


@pytest.mark.parametrize(
    ("text", "tool"),
    [
        ("remove unused imports", "organize_imports"),
        ("move f from a.py to b.py", "move_symbol"),
    ],
)
def test_what_the_tool_says_is_the_answer(text: str, tool: str) -> None:
    assert ask_coder(text, result(tool, note="Did it.\nLeft alone: b.py.")) == Say("Did it.\nLeft alone: b.py.")
    assert ask_coder(text, failed(tool, "It cannot be.")) == Decline("It cannot be.")
    assert isinstance(ask_coder(text, brief=Brief(fixes=True)), Decline)


@pytest.mark.parametrize(
    ("there", "target"),
    [
        ([], "src/b.py"),
        (["lib/b.py"], "lib/b.py"),
        (["b.py"], "b.py"),
        (["lib/b.py", "src/b.py"], "src/b.py"),
        (["lib/b.py", "old/b.py"], None),
    ],
)
def test_a_target_without_its_folder_is_found_or_made_beside_the_source(there: list[str], target: str | None) -> None:
    text = "move parse_line from src/x.py to b.py"
    assert ask_coder(text) == Act([("find_files", {"pattern": "**/b.py"})])
    answer = ask_coder(text, result("find_files", paths=[*there]))
    if target is None:
        assert isinstance(answer, Decline)
    else:
        assert answer == Act([("move_symbol", {"symbol": "parse_line", "to": target, "from": "src/x.py"})])


def test_a_symbol_without_a_file_is_looked_up_first() -> None:
    def defined(*places: tuple[str, int, str]) -> ToolReturn:
        return result(
            "find_symbols", symbols=[{"path": path, "line": line, "name": name} for path, line, name in places]
        )

    found = defined(("src/x.py", 3, "parse_line"), ("src/x.py", 9, "parse_line_fast"))
    assert ask_coder("move parse_line to src/b.py", found) == Act(
        [("move_symbol", {"symbol": "parse_line", "to": "src/b.py", "from": "src/x.py"})]
    )
    several = defined(("a.py", 1, "parse_line"), ("b.py", 2, "parse_line"))
    declined = ask_coder("move parse_line to src/c.py", several)
    assert isinstance(declined, Decline)
    assert "a.py:1, b.py:2" in declined.text
    assert isinstance(ask_coder("move parse_line to b.py", defined()), Decline)


def test_the_formatter_of_the_project_is_run_on_all_or_on_one_file() -> None:
    ruff = result("find_commands", commands={"format": "python3 -m ruff format ."})
    assert ask_coder("format the code", ruff) == Act([("run_command", {"command": "python3 -m ruff format ."})])
    assert ask_coder("format src/b.py", ruff) == Act([("run_command", {"command": "python3 -m ruff format src/b.py"})])
    assert isinstance(ask_coder("format src/b.ts", ruff), Decline)
    assert isinstance(
        ask_coder("format src/b.ts", result("find_commands", commands={"format": "npm run format"})), Decline
    )
    none = ask_coder("format the code", result("find_commands", commands={"lint": "make lint"}))
    assert isinstance(none, Decline)
    assert "ruff" in none.text
    done = result("run_command", output="2 files reformatted")
    assert isinstance(ask_coder("format the code", ruff, done), Say)
    missing = failed("run_command", "exit code 1", "command_failed", output="No module named ruff")
    absent = ask_coder("format the code", ruff, missing)
    assert isinstance(absent, Decline)
    assert "isn't installed" in absent.text


def test_a_file_is_not_moved_if_it_is_unknown_what_needs_it() -> None:
    found, text = result("find_files", paths=["notes.log"]), "rename notes.log to old.log"
    assert ask_coder(text, found, result("search_code", matches=[])) == Act(
        [("move_file", {"from": "notes.log", "to": "old.log"})]
    )
    answer = ask_coder(text, found, failed("search_code", "The search took longer than 30 s."))
    assert isinstance(answer, Decline) and "took longer" in answer.text


def test_the_command_that_moves_a_file_all_the_same_is_quoted() -> None:
    found = result("find_files", paths=["my notes.log"])
    needed = result("search_code", matches=[{"path": "a.sh", "line": 1, "text": "cat 'my notes.log'"}])
    answer = ask_coder("rename `my notes.log` to old.log", found, needed)
    assert isinstance(answer, Decline) and "`git mv 'my notes.log' old.log`" in answer.text
