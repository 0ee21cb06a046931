"""The skill that renames: what it understands, what it asks for, and what it says afterwards."""

import pytest

from sidecar.models.port import Brief
from sidecar.offline.parsed_request import ParsedRequest
from sidecar.offline.skill import Act, Decline, Say
from sidecar.offline.skills.rename import Rename
from tests.unit.offline.questions import ALL_TOOLS, EDITOR, ask_coder, failed, result


@pytest.mark.parametrize(
    ("text", "args"),
    [
        ("rename foo to bar", {}),
        ("Can you rename `foo` to `bar`, please?", {}),
        ("pls rename foo() -> bar", {}),
        ("rename foo to bar everywhere", {}),
        ("rename “foo” to “bar” in the whole project", {}),
        ("rename foo in src/b.py to bar", {"path": "src/b.py"}),
        ("rename foo to bar in src/b.py", {"path": "src/b.py"}),
        ("rename foo at src/b.py:12 to bar", {"path": "src/b.py", "line": 12}),
        ("rename foo in this file to bar", {"path": "src/a.py"}),
        ("rename this to bar", {"path": "src/a.py"}),
        ("rename this function to bar", {"path": "src/a.py"}),
        ("rename `foo` in `load_user` to bar", {"symbol": "load_user.foo"}),
        ("rename Cart.foo to bar", {"symbol": "Cart.foo"}),
        ("rename foo to bar, also in strings", {"includeStrings": True}),
        ("rename foo to bar including comments", {"includeStrings": True}),
        ("preview renaming foo to bar", {"preview": True}),
        ("dry run: rename foo to bar", {"preview": True}),
        ("what would change if I renamed foo to bar?", {"preview": True}),
        ("change the name of the function foo to bar", {"preview": True}),
        ("rename the class foo in src/b.py to bar", {"path": "src/b.py", "preview": True}),
    ],
)
def test_what_is_understood(text: str, args: dict[str, object]) -> None:
    assert ask_coder(text) == Act([("rename_symbol", {"symbol": "foo", "newName": "bar", **args, "preview": True})])


@pytest.mark.parametrize(
    "text",
    [
        "rename foo",
        "rename foo to something better",
        "rename foo to bar and run the tests",
        "rename the branch to main",
        "rename everything to foo",
        "rename all variables to camelCase",
        "don't rename foo to bar",
        "why was foo renamed to bar?",
    ],
)
def test_what_is_not_understood(text: str) -> None:
    assert Rename().parse(ParsedRequest("coder", text, EDITOR, ALL_TOOLS)) is None


def test_a_method_that_ends_like_a_file_is_no_file() -> None:
    asked = ask_coder("rename Stack.go to walk")
    assert isinstance(asked, Act) and asked.calls[0][0] == "rename_symbol"


def test_a_folder_is_no_symbol() -> None:
    declined = ask_coder("rename the folder src/a to src/b")
    assert isinstance(declined, Decline)
    assert "git mv" in declined.text


def test_nothing_selected_is_nothing_to_rename() -> None:
    assert isinstance(ask_coder("rename this to bar", brief=Brief()), Decline)


def test_it_says_what_was_done_and_what_was_left_alone() -> None:
    note = "Renamed function foo (a.py:1) to bar: 2 places in 1 file.\nNot sure, left alone: b.py:3."
    assert ask_coder("rename foo to bar", result("rename_symbol", note=note)) == Say(note)


def test_what_will_be_left_alone_is_listed_before_anything_is_written() -> None:
    preview = result("rename_symbol", preview=True, leftAlone=["README.md:1", "a.py:7"])
    assert ask_coder("rename foo to bar", preview) == Act(
        [("rename_symbol", {"symbol": "foo", "newName": "bar"})],
        "Left alone, in strings, comments and documents: README.md:1, a.py:7.",
    )


def test_a_preview_shows_the_diff() -> None:
    preview = result("rename_symbol", note="Preview: 1 place.", files=[{"path": "a.py", "diff": "@@\n-foo\n+bar"}])
    answer = ask_coder("preview renaming foo to bar", preview)
    assert answer == Say("Preview: 1 place.\n\n```diff\n@@\n-foo\n+bar\n```")


def test_a_refusal_is_said_in_the_words_of_the_tool() -> None:
    assert ask_coder("rename foo to bar", failed("rename_symbol", "Nothing named foo is defined.")) == Decline(
        "Nothing named foo is defined."
    )


SEVERAL = failed(
    "rename_symbol",
    "2 things are named foo.",
    "ambiguous",
    candidates=[
        {"path": "a.py", "line": 1, "kind": "function", "name": "foo"},
        {"path": "b.py", "line": 2, "kind": "method", "name": "C.foo"},
    ],
)


def test_of_several_the_kind_that_was_said_is_taken() -> None:
    args = {"symbol": "foo", "newName": "bar"}
    assert ask_coder("rename the method foo to bar", SEVERAL) == Act(
        [("rename_symbol", {**args, "path": "b.py", "line": 2, "preview": True})]
    )
    symbol = {"path": "b.py", "line": 2, "kind": "method", "name": "C.foo"}
    preview = result("rename_symbol", preview=True, symbol=symbol)
    assert ask_coder("rename the method foo to bar", SEVERAL, preview) == Act(
        [("rename_symbol", {**args, "path": "b.py", "line": 2})]
    )
    assert ask_coder("rename foo to bar", SEVERAL) == Decline("2 things are named foo.")
    assert ask_coder("rename the class foo to bar", SEVERAL) == Decline("2 things are named foo.")


def test_a_kind_that_was_said_is_compared_before_anything_is_written() -> None:
    symbol = {"path": "a.py", "line": 1, "kind": "function", "name": "foo"}
    preview = result("rename_symbol", note="Preview.", symbol=symbol, preview=True)
    assert ask_coder("rename the function foo to bar", preview) == Act(
        [("rename_symbol", {"symbol": "foo", "newName": "bar"})]
    )
    declined = ask_coder("rename the class foo to bar", preview)
    assert declined == Decline("`foo` (a.py:1) is a function, not a class; nothing was changed.")
    done = result("rename_symbol", note="Renamed function foo (a.py:1) to bar: 1 place in 1 file.")
    assert ask_coder("rename the function foo to bar", preview, done) == Say(
        "Renamed function foo (a.py:1) to bar: 1 place in 1 file."
    )


def test_what_a_check_found_is_not_mended_by_renaming_again() -> None:
    assert isinstance(ask_coder("rename foo to bar", brief=Brief(fixes=True)), Decline)
