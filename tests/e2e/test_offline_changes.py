"""Code is changed with no language model, through the real process: the files are right, proven, and can be undone."""

import subprocess

import pytest

from tests.e2e.projects import LEDGER, SHOP, contents, with_programs, written
from tests.e2e.support import PROJECT, Json, RunningSidecar
from tests.waiting import SECONDS

TSC = PROJECT / "frontend/node_modules/.bin/tsc"


def done(sidecar: RunningSidecar, task: str, **more: object) -> Json:
    return sidecar.wait_for_end(sidecar.execute(task, approvals="auto", **more), seconds=SECONDS)  # type: ignore[arg-type]


def undone(sidecar: RunningSidecar, task: Json) -> dict[str, bytes]:
    answer = sidecar.post(f"/api/brain/tasks/{task['id']}/rewind", {"seq": 0})
    assert answer.status == 200, answer.body
    return contents(sidecar.workspace)


def changed(before: dict[str, bytes], after: dict[str, bytes]) -> dict[str, str]:
    return {path: content.decode() for path, content in after.items() if before.get(path) != content}


@pytest.mark.parametrize(
    ("task", "said", "expected"),
    [
        (
            "rename `id` in `load_user` to user_id",
            "4 places in 2 files",
            {
                "shop/cart.py": SHOP["shop/cart.py"].replace(
                    'def load_user(id, names):\n    """The name that belongs to an id."""\n'
                    '    return {"id": id, "name": names[id]}',
                    'def load_user(user_id, names):\n    """The name that belongs to an id."""\n'
                    '    return {"id": user_id, "name": names[user_id]}',
                ),
                "shop/report.py": SHOP["shop/report.py"].replace("load_user(id=1", "load_user(user_id=1"),
            },
        ),
        (
            "Can you rename load_user to read_user everywhere, please?",
            "Renamed function load_user (shop/cart.py:20) to read_user: 5 places in 3 files.",
            {
                path: SHOP[path].replace("load_user", "read_user")
                for path in ("shop/__init__.py", "shop/cart.py", "shop/report.py")
            },
        ),
        (
            "remove unused imports",
            "Removed 1 unused import; 1 file changed.\n- shop/cart.py: os (line 2)",
            {"shop/cart.py": SHOP["shop/cart.py"].replace("import os\n", "")},
        ),
        (
            "move a_day_later from shop/cart.py to shop/times.py",
            "Moved function a_day_later (shop/cart.py:29) to shop/times.py. Imports updated in shop/report.py.",
            {
                "shop/cart.py": SHOP["shop/cart.py"].replace(
                    "def a_day_later(moment):\n    return moment + 86400\n\n\n", ""
                ),
                "shop/times.py": "def a_day_later(moment):\n    return moment + 86400\n",
                "shop/report.py": SHOP["shop/report.py"].replace(
                    "from shop.cart import a_day_later, find_order\n",
                    "from shop.cart import find_order\nfrom shop.times import a_day_later\n",
                ),
            },
        ),
    ],
)
def test_a_python_project_is_changed_verified_and_given_back(
    trusting: RunningSidecar, task: str, said: str, expected: dict[str, str]
) -> None:
    before = written(SHOP, trusting.workspace)
    task_done = done(trusting, task)
    assert task_done["status"] == "completed", task_done["error"]
    assert said in task_done["result"]["summary"]
    assert changed(before, contents(trusting.workspace)) == expected
    assert task_done["result"]["verification"]["passed"] is True
    assert undone(trusting, task_done) == before


def test_what_is_not_certain_is_left_alone_and_the_project_s_own_tests_tell(trusting: RunningSidecar) -> None:
    written(SHOP, trusting.workspace)
    before = contents(trusting.workspace)
    refused = done(trusting, "rename the method Cart.total to Cart.sum_up")
    assert (refused["status"], refused["error"]["code"]) == ("failed", "uncertain")
    assert "Not sure, left alone: shop/report.py:8." in refused["error"]["message"]
    assert contents(trusting.workspace) == before
    task = done(trusting, "rename the method Cart.total to Cart.sum_up, leave the rest alone")
    assert task["status"] == "escalated"
    assert "AttributeError: 'Cart' object has no attribute 'total' (shop/report.py:8)" in task["error"]["message"]
    said = [event["text"] for event in trusting.events(task["id"]) if event["type"] == "message"]
    assert any("Not sure, left alone: shop/report.py:8." in text for text in said)
    assert "cart.sum_up(), other.total()" in (trusting.workspace / "shop/report.py").read_text()


def test_the_code_is_formatted_with_the_project_s_own_formatter(trusting: RunningSidecar) -> None:
    written({**SHOP, "shop/ugly.py": "x   =  {  'a':1 }\n"}, trusting.workspace)
    with_programs(trusting.workspace, "ruff")
    task = done(trusting, "format the code")
    assert task["status"] == "completed", task["error"]
    assert (trusting.workspace / "shop/ugly.py").read_text() == 'x = {"a": 1}\n'


@pytest.mark.parametrize(
    ("task", "said", "expected"),
    [
        (
            "rename cents to pennies",
            "Renamed function cents (src/money.ts:1) to pennies: 3 places in 2 files.",
            {path: LEDGER[path].replace("cents", "pennies") for path in ("src/entry.ts", "src/money.ts")},
        ),
        (
            "rename Entry.amount to price, leave the uncertain places alone",
            "Not sure, left alone: src/entry.ts:9.",
            None,
        ),
        (
            "rename the function total to total_of in src/entry.ts",
            "6 places in 3 files",
            {
                "src/entry.ts": LEDGER["src/entry.ts"]
                .replace("export function total(", "export function total_of(")
                .replace("return total(", "return total_of("),
                "src/index.ts": LEDGER["src/index.ts"].replace("Ledger, total }", "Ledger, total_of }"),
                "src/app.ts": LEDGER["src/app.ts"]
                .replace("Ledger, total }", "Ledger, total_of }")
                .replace("${total([])}", "${total_of([])}")
                .replace("entries.total(", "entries.total_of("),
            },
        ),
        (
            "clean up the imports in src/entry.ts",
            "Removed 1 unused import; 1 file changed.",
            {"src/entry.ts": LEDGER["src/entry.ts"].replace("cents, unused }", "cents }")},
        ),
        (
            "move unused from src/money.ts to src/rest.ts",
            "Moved variable unused (src/money.ts:5) to src/rest.ts. Imports updated in src/entry.ts, src/index.ts.",
            {
                "src/money.ts": LEDGER["src/money.ts"].replace("\nexport const unused = 1;\n", ""),
                "src/rest.ts": "export const unused = 1;\n",
                "src/entry.ts": LEDGER["src/entry.ts"].replace(
                    'import { cents, unused } from "./money";\n',
                    'import { cents } from "./money";\nimport { unused } from "./rest";\n',
                ),
                "src/index.ts": LEDGER["src/index.ts"] + 'export { unused } from "./rest";\n',
            },
        ),
    ],
)
def test_a_typescript_project_is_changed_and_given_back(
    trusting: RunningSidecar, task: str, said: str, expected: dict[str, str] | None
) -> None:
    before = written(LEDGER, trusting.workspace)
    task_done = done(trusting, task)
    assert task_done["status"] == "completed", task_done["error"]
    assert said in task_done["result"]["summary"]
    if expected is not None:
        assert changed(before, contents(trusting.workspace)) == expected
        if TSC.exists():
            checked = subprocess.run(
                [TSC, "-p", "."], cwd=trusting.workspace, capture_output=True, text=True, check=False
            )
            assert checked.returncode == 0, checked.stdout
    assert undone(trusting, task_done) == before


def test_a_preview_changes_nothing(trusting: RunningSidecar) -> None:
    before = written(SHOP, trusting.workspace)
    task = done(trusting, "preview renaming load_user to read_user")
    assert task["status"] == "completed", task["error"]
    assert "Preview, nothing was written" in task["result"]["summary"]
    assert "+def read_user(id, names):" in task["result"]["summary"]
    assert contents(trusting.workspace) == before


@pytest.mark.parametrize(
    ("task", "said"),
    [
        ("rename no_such_thing to anything", "Nothing named no_such_thing is defined"),
        ("rename load_user to find_order", "find_order would collide at shop/cart.py:25"),
        ("rename shop/cart.py to shop/basket.py", "These need `shop/cart.py` under its name"),
        ("extract 4711 in shop/cart.py into a constant N", "can't extract constants"),
        ("move load_user from shop/cart.py to shop/report.py", "a cycle"),
        ("add a test for load_user", "can't write tests"),
    ],
)
def test_what_cannot_be_done_is_declined_and_nothing_is_touched(trusting: RunningSidecar, task: str, said: str) -> None:
    before = written(SHOP, trusting.workspace)
    ended = done(trusting, task)
    assert ended["status"] == "failed"
    assert said in ended["error"]["message"]
    assert contents(trusting.workspace) == before


@pytest.mark.parametrize(
    ("task", "moved"),
    [
        ("rename notes.log to old.log", ("notes.log", "old.log")),
        ("rename the file LICENSE to COPYING", ("LICENSE", "COPYING")),
        ("rename docs/guide.md to manual.md", ("docs/guide.md", "docs/manual.md")),
        ("move guide.md to archive/", ("docs/guide.md", "archive/guide.md")),
        ("move notes.log to docs", ("notes.log", "docs/notes.log")),
        ("rename tool.py to script.py", ("tool.py", "script.py")),
    ],
)
def test_a_file_that_no_other_needs_is_renamed_and_given_back(
    trusting: RunningSidecar, task: str, moved: tuple[str, str]
) -> None:
    files = {
        "notes.log": "one\n", "LICENSE": "free\n", "docs/guide.md": "# Guide\n", "tool.py": "print(1)\n",
        "README.md": "See docs/guide.md.\n",
    }  # fmt: skip
    before = written(files, trusting.workspace)

    ended = done(trusting, task)

    assert ended["status"] == "completed", ended
    assert contents(trusting.workspace) == {
        moved[1] if path == moved[0] else path: text for path, text in before.items()
    }
    assert undone(trusting, ended) == before


@pytest.mark.parametrize(
    ("files", "task", "needs"),
    [
        ({"data.json": "{}\n", "read.py": "open('data.json')\n"}, "rename data.json to other.json", "read.py:1"),
        ({"shop/cli.py": "", "setup.toml": "run = 'shop.cli:main'\n"}, "move shop/cli.py to tools/", "setup.toml:1"),
        ({"a.js": "module.exports = 1\n", "b.js": "require('./a')\n"}, "rename a.js to c.js", "`b.js`"),
    ],
)
def test_a_file_that_others_need_stays_where_it_is(
    trusting: RunningSidecar, files: dict[str, str], task: str, needs: str
) -> None:
    before = written(files, trusting.workspace)
    ended = done(trusting, task)
    assert ended["status"] == "failed" and needs in ended["error"]["message"]
    assert contents(trusting.workspace) == before
