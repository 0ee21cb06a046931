"""The model that needs no key: what it recognises, what it asks for, and what it admits not to know."""

import re
from collections.abc import Sequence

import pytest
from pydantic import JsonValue

from sidecar.models.port import Brief, Delta, ModelTurn, Reply, Request, Stop, ToolReturn, ToolTurn, Turn, UserTurn
from sidecar.offline.model import Offline
from sidecar.wire.base import JsonObject
from sidecar.wire.tools import ToolInfo
from sidecar.work.plan import parse_plan
from sidecar.work.roster import READ, RUN, WRITE
from tests.unit.offline.questions import declined, failed, result
from tools.executor.registry import default_registry

PASSED: JsonObject = {"framework": "pytest", "passed": 3, "failed": 0, "skipped": 0, "failures": []}
FAILED: JsonObject = {**PASSED, "passed": 1, "failed": 1, "failures": [{"name": "test_a", "message": "no"}]}
TOOLS = default_registry().infos({*READ, *WRITE, *RUN})


async def reply_to(history: Sequence[Turn], tools: Sequence[ToolInfo] = TOOLS) -> Reply:
    async for part in Offline().stream(Request("coder", "", history, tools)):
        if isinstance(part, Reply):
            return part
    raise AssertionError("no reply")


@pytest.mark.parametrize(
    ("text", "tool", "args"),
    [
        ("run the tests", "run_tests", {}),
        ("Run all tests.", "run_tests", {}),
        ("please run my test suite", "run_tests", {}),
        ("run the tests in tests/unit", "run_tests", {"target": "tests/unit"}),
        ("run the tests in this project", "run_tests", {}),
        ("list the files", "list_dir", {"path": "."}),
        ("Show me all the files in src/", "list_dir", {"path": "src/"}),
        ("ls", "list_dir", {"path": "."}),
        ("what is in this folder?", "list_dir", {"path": "."}),
        ("search for TODO", "search_code", {"query": "TODO"}),
        ('search the code for "hello world"', "search_code", {"query": "hello world"}),
        ("find parse_line in src/app.py", "search_code", {"query": "parse_line", "path": "src/app.py"}),
        ("grep needle in this repo", "search_code", {"query": "needle"}),
        ("run `git status`", "run_command", {"command": "git status"}),
        ("run `git status` now, please", "run_command", {"command": "git status"}),
        ("run git log -3", "run_command", {"command": "git log -3"}),
        ("explain @src/app.py", "describe_file", {"path": "src/app.py"}),
        ("explain @src/", "describe_file", {"path": "src"}),
        ('explain @"a name.py"', "describe_file", {"path": "a name.py"}),
        ("explain @parse_line", "describe_symbol", {"symbol": "parse_line"}),
        ("run the tests in @tests/unit", "run_tests", {"target": "tests/unit"}),
        ("run `echo @home`", "run_command", {"command": "echo @home"}),
        ("run echo @home", "run_command", {"command": "echo @home"}),
        ("search for @app.route", "search_code", {"query": "@app.route"}),
    ],
)
async def test_a_request_becomes_a_call(text: str, tool: str, args: dict[str, str]) -> None:
    reply = await reply_to([UserTurn(text=text)])
    assert reply.stop is Stop.TOOL_USE
    assert [(call.tool, call.args) for call in reply.calls] == [(tool, args)]


@pytest.mark.parametrize(
    "text", ["explain @src/app.py:5-8.", "explain src/app.py:5–8", "what do lines 5 to 8 of src/app.py do?"]
)
async def test_lines_are_read_and_placed_in_the_outline(text: str) -> None:
    reply = await reply_to([UserTurn(text=text)])
    lines: JsonObject = {"path": "src/app.py", "startLine": 5, "endLine": 8}
    assert [(each.tool, each.args) for each in reply.calls] == [
        ("read_file", lines),
        ("analyze_code", {"path": "src/app.py"}),
    ]
    shown = result("read_file", "5\tdef a():", **lines)
    symbols: list[JsonValue] = [
        {"name": name, "kind": kind, "parent": parent, "line": first, "endLine": last}
        for name, kind, parent, first, last in (
            ("Cart", "class", "", 1, 6),
            ("total", "method", "Cart", 3, 6),
            ("load", "function", "", 7, 8),
            ("save", "function", "", 10, 12),
        )
    ]
    history: list[Turn] = [UserTurn(text=text), ModelTurn(text="", calls=reply.calls)]
    history.append(ToolTurn(returns=[shown, result("analyze_code", symbols=symbols)]))
    described = await reply_to(history)
    assert [each.args["symbol"] for each in described.calls] == ["Cart.total", "load"]
    history += [ModelTurn(text="", calls=described.calls), ToolTurn(returns=[result("describe_symbol", "It loads.")])]
    told = (await reply_to(history)).text
    assert "part of `Cart.total` (method, lines 3–6), `load` (function, lines 7–8)" in told
    assert told.startswith("Lines 5–8 of `src/app.py`:") and told.endswith("It loads.")


@pytest.mark.parametrize(
    ("text", "back", "stop", "expected"),
    [
        ("run the tests", result("run_tests", **PASSED), Stop.END, "All tests pass: 3 passed (pytest)"),
        (
            "run the tests",
            failed("run_tests", "1 failed", "tests_failed", **FAILED),
            Stop.END,
            "**1 failed**, 1 passed",
        ),
        ("run the tests", failed("run_tests", "No tests: …"), Stop.DECLINED, "The tests could not run: No tests"),
        ("run the tests", declined("run_tests"), Stop.END, "The tests could not run: You declined."),
        (
            "run `false`",
            failed("run_command", "exit code 1", "command_failed"),
            Stop.END,
            "`false` failed (exit code 1)",
        ),
        ("run `rm x`", declined("run_command"), Stop.END, "`rm x` did not run: You declined."),
        ("run `x`", failed("run_command", "There is no x."), Stop.DECLINED, "`x` did not run"),
        ("list the files in z", failed("list_dir", "z does not exist."), Stop.DECLINED, "z does not exist."),
        ("search for TODO", result("search_code", matches=[]), Stop.END, "No matches for “TODO”."),
    ],
)
async def test_what_came_back_is_said_as_it_was(text: str, back: ToolReturn, stop: Stop, expected: str) -> None:
    asked = await reply_to([UserTurn(text=text)])
    reply = await reply_to([UserTurn(text=text), ModelTurn(text="", calls=asked.calls), ToolTurn(returns=[back])])
    assert reply.stop is stop
    assert reply.text.startswith(expected)
    # To go on would only say it again.
    assert reply.failure is None or not reply.failure.recoverable


@pytest.mark.parametrize(
    ("text", "near"),
    [
        ("fix the bug in parser.py", ["explain lib/cart.py", "review lib/cart.py"]),
        ("tests are important", ["run the tests"]),
        ("push my changes", ["review my changes", "commit my changes"]),
        ("move the tests", ["run the tests"]),
        ("write me a poem", []),
        ("why is the sky blue?", []),
        ("", []),
    ],
)
async def test_what_it_does_not_understand_it_says_with_the_nearest_that_it_can_do(text: str, near: list[str]) -> None:
    history: list[Turn] = [UserTurn(text=text)]
    symbols: list[JsonValue] = [{"name": "total", "kind": "function", "parent": ""}]
    returns = {
        "describe_project": result("describe_project", biggest=["lib/cart.py"], tests="npm test"),
        "analyze_code": result("analyze_code", symbols=symbols),
    }
    while (reply := await reply_to(history)).calls:
        found = [returns.get(call.tool, result(call.tool, commands={})) for call in reply.calls]
        history += [ModelTurn(text="", calls=reply.calls), ToolTurn(returns=found)]
    assert reply.stop is Stop.DECLINED
    assert reply.failure is not None and reply.failure.code == "not_understood"
    # A language model would understand it, once there is one.
    assert reply.failure.recoverable
    assert "brain keys set" in reply.text
    said = re.findall("“(.+?)”", reply.text)
    assert len(said) <= 3
    assert set(near) <= set(said) if near else said == ["what can you do?"]


@pytest.mark.parametrize(
    ("text", "tool", "args"),
    [
        ("sort the imports in cart.py", "organize_imports", {"remove": False, "paths": ["src/shop/cart.py"]}),
        ("review cart.py", "review_changes", {"paths": ["src/shop/cart.py"]}),
    ],
)
async def test_a_file_that_is_named_without_its_folder_is_looked_for(
    text: str, tool: str, args: dict[str, object]
) -> None:
    missing = failed(tool, "cart.py does not exist.", "not_found")
    looked = [UserTurn(text=text), ModelTurn(text=""), ToolTurn(returns=[missing])]
    [search] = (await reply_to(looked)).calls
    assert (search.tool, search.args) == ("find_files", {"pattern": "**/cart.py"})

    async def after(*paths: str) -> Reply:
        found = result("find_files", paths=[*paths])
        return await reply_to([*looked, ModelTurn(text=""), ToolTurn(returns=[found])])

    [again] = (await after("src/shop/cart.py")).calls
    assert (again.tool, again.args) == (tool, args)
    assert "Several files are named `cart.py`" in (await after("a/cart.py", "b/cart.py")).text
    assert "There is no file `cart.py`" in (await after()).text


async def test_it_offers_nothing_that_it_has_no_tool_for() -> None:
    reply = await reply_to([UserTurn(text="run the tests")], tools=())
    assert reply.stop is Stop.DECLINED


@pytest.mark.parametrize(
    ("agent", "follows", "heard"), [("planner", False, False), ("reviewer", True, False), ("coder", False, True)]
)
async def test_an_agent_that_only_helps_is_silent_about_what_it_cannot_do(
    agent: str, follows: bool, heard: bool
) -> None:
    request = Request(agent, "", [UserTurn(text="sing")], TOOLS, Brief(asked="sing", follows=follows))
    parts = [part async for part in Offline().stream(request)]
    assert any(isinstance(part, Delta) for part in parts) == heard


async def test_what_a_skill_does_in_one_go_is_planned_as_one_step() -> None:
    tools = default_registry().infos({"list_dir", "read_file"})

    async def planned(text: str) -> Reply:
        async for part in Offline().stream(Request("planner", "", [UserTurn(text=text)], tools)):
            if isinstance(part, Reply):
                return part
        raise AssertionError("no reply")

    reply = await planned("please rename `load` to `read`")
    assert reply.stop is Stop.END
    assert [step.title for step in parse_plan(reply.text).steps] == ["rename `load` to `read`"]
    assert (await planned("make it nicer somehow")).stop is Stop.DECLINED
