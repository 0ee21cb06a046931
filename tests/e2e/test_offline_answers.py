"""Code is explained, reviewed, run, committed and documented with no language model, through the real process."""

import subprocess

import pytest

from tests.e2e.projects import LEDGER, SHOP, contents, with_programs, written
from tests.e2e.support import Json, RunningSidecar
from tests.waiting import SECONDS

KEY = "AKIA" + "ABCDEFGHIJKLMNOP"


def done(sidecar: RunningSidecar, task: str, context: Json | None = None, **more: object) -> Json:
    return sidecar.wait_for_end(sidecar.execute(task, context=context, approvals="auto", **more), seconds=SECONDS)


def said(sidecar: RunningSidecar, task: str, context: Json | None = None) -> str:
    ended = done(sidecar, task, context)
    assert ended["status"] == "completed", ended["error"]
    summary: str = ended["result"]["summary"]
    return summary


def git(sidecar: RunningSidecar, *words: str) -> str:
    command = ["git", "-c", "user.name=Ada", "-c", "user.email=a@x", *words]
    ran = subprocess.run(command, cwd=sidecar.workspace, check=True, capture_output=True, text=True, timeout=SECONDS)
    return ran.stdout


def committed(sidecar: RunningSidecar, files: dict[str, str]) -> None:
    written(files, sidecar.workspace)
    git(sidecar, "init", "-q", "-b", "main")
    git(sidecar, "config", "user.name", "Ada")
    git(sidecar, "config", "user.email", "a@x")
    git(sidecar, "add", ".")
    git(sidecar, "commit", "-qm", "feat: begin")


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        (
            "explain load_user",
            ["`shop/cart.py:20`", "> The name that belongs to an id.", "`report` — `shop/report.py:6`"],
        ),
        ("what does Cart.total do?", ["`Cart.receipt` — `shop/cart.py:17`", "- `rounded` — `shop/money.py:1`"]),
        ("where is `a_day_later` defined?", ["`shop/cart.py:29`", "def a_day_later(moment)"]),
        ("explain shop/report.py", ["`def report(cart: Cart, other)`", "`shop/__init__.py`", "`tests/test_shop.py`"]),
        ("who calls find_order", ["`report` — `shop/report.py:7`"]),
        ("find where users are loaded", ["`shop/cart.py:20` `def load_user("]),
        ("explain @shop/money.py:1-2", ["Lines 1–2 of `shop/money.py`", "`rounded` (function, lines 1–"]),
        ("how many lines does shop/money.py have?", ["`shop/money.py` has "]),
        ("what breaks if I change rounded?", ["`Cart.total`", "2 steps away", "`test_a_report_names_the_owner`"]),
        ("give me an overview of the code", ["**shop** 1", "Python (", "`python3 -m pytest`", "| `shop/` | 4 |"]),
        ("explain this file", ["`shop/money.py`", "`def rounded(amount: float) -> float`", "`shop/cart.py`"]),
        ("explain this", ["**`rounded`** is a Python function at `shop/money.py:1`"]),
    ],
)
def test_python_is_explained(trusting: RunningSidecar, task: str, expected: list[str]) -> None:
    before = written(SHOP, trusting.workspace)
    editor = {"currentFile": "shop/money.py", "selectedCode": "def rounded(amount: float) -> float:\n"}
    answer = said(trusting, task, editor)
    for words in expected:
        assert words in answer, answer
    assert contents(trusting.workspace) == before


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        ("explain cents", ["`src/money.ts:1`", "function cents(amount: number): number", "`total` — `src/entry.ts:9`"]),
        ("explain src/entry.ts", ["in TypeScript", "`class Ledger`", "`src/money.ts`", "`src/index.ts`"]),
        ("what breaks if I change cents", ["`total` — `src/entry.ts:8`", "`Ledger.total`"]),
        ("who uses Ledger?", ["`src/app.ts:"]),
        ("what does this project do?", ["**ledger**", "TypeScript ("]),
    ],
)
def test_typescript_is_explained(trusting: RunningSidecar, task: str, expected: list[str]) -> None:
    before = written(LEDGER, trusting.workspace)
    answer = said(trusting, task)
    for words in expected:
        assert words in answer, answer
    assert contents(trusting.workspace) == before


@pytest.mark.parametrize("task", ["explain quantum computing", "explain no_such_thing", "explain no/such/file.py"])
def test_what_is_not_in_the_code_is_declined(trusting: RunningSidecar, task: str) -> None:
    written(SHOP, trusting.workspace)
    ended = done(trusting, task)
    assert ended["status"] == "failed"
    assert ended["error"]["code"] in ("not_understood", "not_possible")


def test_who_calls_what_is_not_there_is_answered_honestly(trusting: RunningSidecar) -> None:
    written(SHOP, trusting.workspace)
    answer = said(trusting, "who calls no_such_thing?")
    assert answer.startswith("Unknown: No symbol no_such_thing is defined in this project.")
    assert answer.endswith("No line of its code holds that name.")


def test_changes_are_reviewed_line_by_line(trusting: RunningSidecar) -> None:
    committed(trusting, SHOP)
    assert "Nothing to review" in said(trusting, "review my changes")
    money = SHOP["shop/money.py"] + f'KEY = "{KEY}"\nfrom shop.gone import x\n'
    (trusting.workspace / "shop/money.py").write_text(money)
    assert said(trusting, "git status").startswith("1 file changed on branch `main`: ")
    answer = said(trusting, "check the diff for problems")
    assert "**error** `shop/money.py:3` This looks like an AWS access key" in answer and KEY not in answer
    assert "**error** `shop/money.py:4` `shop.gone` is imported" in answer
    declined = done(trusting, "commit my changes")
    assert declined["status"] == "failed" and "Nothing was committed" in declined["error"]["message"]
    assert git(trusting, "log", "--oneline").count("\n") == 1


def test_a_rename_is_reviewed_for_what_it_changed_and_not_for_what_was_there_before(trusting: RunningSidecar) -> None:
    old = SHOP["shop/cart.py"] + f'\n\nKEY = "{KEY}"  # TODO: elsewhere\n'
    before = written({**SHOP, "shop/cart.py": old}, trusting.workspace)
    ended = done(trusting, "rename load_user to read_user")
    assert ended["status"] == "completed", ended["error"]
    assert "Reviewed 3 changed files by rules: no problems." in ended["result"]["summary"]
    assert trusting.post(f"/api/brain/tasks/{ended['id']}/rewind", {"seq": 0}).status == 200
    assert contents(trusting.workspace) == before


def test_tests_are_run_and_a_failure_is_reported_with_its_place(trusting: RunningSidecar) -> None:
    written(SHOP, trusting.workspace)
    assert "2 passed" in said(trusting, "run the tests")
    (trusting.workspace / "shop/money.py").write_text("def rounded(amount):\n    return amount\n")
    answer = said(trusting, "do the tests pass?")
    assert "**1 failed**, 1 passed" in answer
    assert "`tests/test_shop.py::test_a_report_names_the_owner` — `tests/test_shop.py:7`" in answer


def test_the_linter_of_the_project_is_found_and_its_words_are_reported(trusting: RunningSidecar) -> None:
    written(SHOP, trusting.workspace)
    with_programs(trusting.workspace, "ruff")
    answer = said(trusting, "run the linter")
    assert "`.venv/bin/ruff check .` failed (exit code 1)" in answer and "F401" in answer
    written({"Makefile": "build:\n\t@echo built it\n"}, trusting.workspace)
    assert "built it" in said(trusting, "build the project")
    assert "Start it with" not in said(trusting, "build it")
    declined = done(trusting, "start the app")
    assert declined["status"] == "failed" and "has no start command" in declined["error"]["message"]


def test_changes_are_reported_committed_and_found_again(trusting: RunningSidecar) -> None:
    committed(trusting, SHOP)
    money = SHOP["shop/money.py"] + "\n\ndef halved(amount: float) -> float:\n    return amount / 2\n"
    (trusting.workspace / "shop/money.py").write_text(money)
    assert "- `shop/money.py` +4 −0: `halved`" in said(trusting, "what did I change?")
    assert "feat(money): add halved" in said(trusting, "suggest a commit message")
    assert "Committed 1 file" in said(trusting, "commit my changes")
    assert git(trusting, "log", "-1", "--format=%s").strip() == "feat(money): add halved"
    assert "feat(money): add halved" in said(trusting, "what changed since yesterday?")
    assert "Ada wrote line 5" in said(trusting, "who wrote line 5 of shop/money.py")


def test_help_and_what_comes_nearest(trusting: RunningSidecar) -> None:
    committed(trusting, SHOP)
    told = said(trusting, "what can you do?")
    assert "“run the tests”" in told and "“explain shop/cart.py”" in told and "src/app.py" not in told
    assert "brain keys set anthropic" in said(trusting, "how do I use a real model?")
    declined = done(trusting, "push my changes")
    assert "“commit my changes”" in declined["error"]["message"]


def test_a_reviewer_without_a_language_model_sends_back_what_is_broken(trusting: RunningSidecar) -> None:
    written(SHOP, trusting.workspace)
    broken = {"path": "shop/money.py", "content": "from shop.gone import x\n\n\ndef rounded(amount:\n"}
    script = {"coder": [{"calls": [{"tool": "write_file", "args": broken}]}, {"text": "Done."}]}
    models = {**trusting.script("broken", script), "fast": "offline/basic"}
    ended = done(trusting, "mend it", models=models, intent="edit_code", verify="off")
    back = [event for event in trusting.events(ended["id"]) if event["type"] == "handoff" and event["to"] == "coder"]
    assert [event["reason"] for event in back] == [
        "The review found 2 problems (sent back 1 of 2).",
        "The review found 2 problems (sent back 2 of 2).",
    ]
    issues = back[0]["context"]["remainingTasks"]
    assert issues[0].startswith("error: shop/money.py:1: `shop.gone` is imported")
    assert issues[1].startswith("error: shop/money.py:4: There is a syntax error here")
    assert "errors to fix" in ended["result"]["summary"]
