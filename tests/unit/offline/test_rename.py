"""The skill that renames: what it understands, what it asks for, and what it says afterwards."""

import pytest

from sidecar.models.port import Brief, ToolReturn
from sidecar.offline.question import Question
from sidecar.offline.skill import Act, Decline, Move, Say
from sidecar.offline.skills import SKILLS
from sidecar.offline.skills.rename import Rename
from tools.executor.registry import default_registry

OFFERED = frozenset(tool.name for tool in default_registry().infos())
BRIEF = Brief(current_file="src/a.py", selected_code="def foo(x):\n    return x\n")


def move(text: str, *returns: ToolReturn, brief: Brief = BRIEF) -> Move | None:
    """What the first skill that understands it does, as the model would ask them."""
    question = Question("coder", text, brief, OFFERED, returns, len(returns))
    for skill in SKILLS:
        wish = skill.recognise(question)
        if wish is not None:
            return skill.next(wish, question)
    return None


def returned(content: str, status: str = "success") -> ToolReturn:
    return ToolReturn(id="0-0", tool="rename_symbol", status=status, content=content)


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
    assert move(text) == Act([("rename_symbol", {"symbol": "foo", "newName": "bar", **args})])


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
    assert Rename().recognise(Question("coder", text, BRIEF, OFFERED)) is None


@pytest.mark.parametrize("text", ["rename the file a.py to b.py", "rename a.py to b.py", "rename src/a to src/b"])
def test_a_file_is_no_symbol(text: str) -> None:
    declined = move(text)
    assert isinstance(declined, Decline)
    assert "git mv" in declined.text


def test_nothing_selected_is_nothing_to_rename() -> None:
    assert isinstance(move("rename this to bar", brief=Brief()), Decline)


def test_it_says_what_was_done_and_what_was_left_alone() -> None:
    note = "Renamed function foo (a.py:1) to bar: 2 places in 1 file.\nNot sure, left alone: b.py:3."
    assert move("rename foo to bar", returned(f"{note}\n\nModified a.py (+1 −1)\n@@")) == Say(note)


def test_a_preview_shows_the_diff() -> None:
    shown = move("preview renaming foo to bar", returned("Preview: 1 place.\n\nModified a.py\n-foo\n+bar"))
    assert shown == Say("Preview: 1 place.\n\n```diff\nModified a.py\n-foo\n+bar\n```")


def test_a_refusal_is_said_in_the_words_of_the_tool() -> None:
    assert move("rename foo to bar", returned("Nothing named foo is defined.", "error")) == Decline(
        "Nothing named foo is defined."
    )


SEVERAL = "2 things are named foo; say which:\n- a.py:1 function foo\n- b.py:2 method C.foo"


def test_of_several_the_kind_that_was_said_is_taken() -> None:
    args = {"symbol": "foo", "newName": "bar"}
    assert move("rename the method foo to bar", returned(SEVERAL, "error")) == Act(
        [("rename_symbol", {**args, "path": "b.py", "line": 2})]
    )
    assert move("rename foo to bar", returned(SEVERAL, "error")) == Decline(SEVERAL)
    assert move("rename the class foo to bar", returned(SEVERAL, "error")) == Decline(SEVERAL)


def test_a_kind_that_was_said_is_compared_before_anything_is_written() -> None:
    preview = returned("Preview, nothing was written: renaming function foo (a.py:1) to bar: 1 place in 1 file.")
    assert move("rename the function foo to bar", preview) == Act(
        [("rename_symbol", {"symbol": "foo", "newName": "bar"})]
    )
    declined = move("rename the class foo to bar", preview)
    assert declined == Decline("`foo` (a.py:1) is a function, not a class; nothing was changed.")
    done = returned("Renamed function foo (a.py:1) to bar: 1 place in 1 file.")
    assert move("rename the function foo to bar", preview, done) == Say(done.content)


def test_what_a_check_found_is_not_mended_by_renaming_again() -> None:
    assert isinstance(move("rename foo to bar", brief=Brief(part="fix1")), Decline)
