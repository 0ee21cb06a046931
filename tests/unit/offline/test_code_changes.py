"""The skills that change code: what each understands with all the others beside it, and what it answers."""

import pytest

from sidecar.models.port import Brief, ToolReturn
from sidecar.offline.question import Question
from sidecar.offline.skill import Act, Decline, Move, Say, Skill
from sidecar.offline.skills import SKILLS
from sidecar.wire.base import JsonObject
from sidecar.work.roster import ROSTER
from sidecar.work.router import READ_ONLY, route
from tools.executor.registry import default_registry

OFFERED = frozenset(tool.name for tool in default_registry().infos())
BRIEF = Brief(current_file="src/a.py", selected_code="def foo(x):\n    return x\n")


def answering(text: str, brief: Brief = BRIEF, *returns: ToolReturn) -> tuple[Skill, JsonObject, Question] | None:
    question = Question("coder", text, brief, OFFERED, returns, len(returns))
    for skill in SKILLS:
        wish = skill.recognise(question)
        if wish is not None:
            return skill, wish, question
    return None


def move(text: str, *returns: ToolReturn, brief: Brief = BRIEF) -> Move | None:
    found = answering(text, brief, *returns)
    return found[0].next(found[1], found[2]) if found is not None else None


def returned(tool: str, content: str, status: str = "success") -> ToolReturn:
    return ToolReturn(id="0", tool=tool, status=status, content=content)


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
    assert move(text) == Act([(tool, args)])


@pytest.mark.parametrize(("text", "tool"), [(text, tool) for text, tool, _ in UNDERSTOOD])
def test_it_is_sent_to_an_agent_that_has_the_tools(text: str, tool: str) -> None:
    found = answering(text)
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
    found = answering(text)
    changing = {"organize_imports", "move_symbol"}
    assert found is None or not (found[0].tools & changing or found[0].example == "format the code"), found


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("move src/a.py to src/b.py", "git mv"),
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
    declined = move(text)
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
    assert isinstance(move(text, brief=Brief()), Decline)


@pytest.mark.parametrize(
    ("text", "tool"),
    [
        ("remove unused imports", "organize_imports"),
        ("move f from a.py to b.py", "move_symbol"),
    ],
)
def test_what_the_tool_says_is_the_answer(text: str, tool: str) -> None:
    assert move(text, returned(tool, "Did it.\nLeft alone: b.py.\n\nModified x.py")) == Say(
        "Did it.\nLeft alone: b.py."
    )
    assert move(text, returned(tool, "It cannot be.", "error")) == Decline("It cannot be.")
    assert isinstance(move(text, brief=Brief(part="fix1")), Decline)


@pytest.mark.parametrize(
    ("there", "target"),
    [
        ("No file matches.", "src/b.py"),
        ("lib/b.py", "lib/b.py"),
        ("b.py", "b.py"),
        ("lib/b.py\nsrc/b.py", "src/b.py"),
        ("lib/b.py\nold/b.py", None),
    ],
)
def test_a_target_without_its_folder_is_found_or_made_beside_the_source(there: str, target: str | None) -> None:
    text = "move parse_line from src/x.py to b.py"
    assert move(text) == Act([("find_files", {"pattern": "**/b.py"})])
    answer = move(text, returned("find_files", there))
    if target is None:
        assert isinstance(answer, Decline)
    else:
        assert answer == Act([("move_symbol", {"symbol": "parse_line", "to": target, "from": "src/x.py"})])


def test_a_symbol_without_a_file_is_looked_up_first() -> None:
    found = returned("find_symbols", "src/x.py:3 function parse_line\nsrc/x.py:9 function parse_line_fast")
    assert move("move parse_line to src/b.py", found) == Act(
        [("move_symbol", {"symbol": "parse_line", "to": "src/b.py", "from": "src/x.py"})]
    )
    several = returned("find_symbols", "a.py:1 function parse_line\nb.py:2 function parse_line")
    declined = move("move parse_line to src/c.py", several)
    assert isinstance(declined, Decline)
    assert "a.py:1, b.py:2" in declined.text
    assert isinstance(move("move parse_line to b.py", returned("find_symbols", "No symbol is named so.")), Decline)


def test_the_formatter_of_the_project_is_run_on_all_or_on_one_file() -> None:
    ruff = returned("find_commands", "lint: python3 -m ruff check .\nformat: python3 -m ruff format .")
    assert move("format the code", ruff) == Act([("run_command", {"command": "python3 -m ruff format ."})])
    assert move("format src/b.py", ruff) == Act([("run_command", {"command": "python3 -m ruff format src/b.py"})])
    assert isinstance(move("format src/b.ts", ruff), Decline)
    assert isinstance(move("format src/b.ts", returned("find_commands", "format: npm run format")), Decline)
    none = move("format the code", returned("find_commands", "lint: make lint"))
    assert isinstance(none, Decline)
    assert "ruff" in none.text
    done = returned("run_command", "2 files reformatted")
    assert isinstance(move("format the code", ruff, done), Say)
    absent = move("format the code", ruff, returned("run_command", "No module named ruff\n(exit code 1)", "error"))
    assert isinstance(absent, Decline)
    assert "not installed" in absent.text
