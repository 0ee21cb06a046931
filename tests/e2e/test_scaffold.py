"""A project from a sentence, through the real process: planned, written, tested, reviewed, undone."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.support import Json, RunningSidecar, running_sidecar
from tests.faults.scale import FULL
from tests.waiting import SECONDS, wait_until

#: Checks run before the review, and again after the documentation changed.
AGENTS = ["planner", "coder", "coder", "coder", "terminal", "coder", "terminal", "verify", "reviewer", "docs", "verify"]


@pytest.fixture
def trusting(tmp_path: Path) -> Iterator[RunningSidecar]:
    with running_sidecar(tmp_path, workspace=tmp_path / "fresh-start") as sidecar:
        trusted = sidecar.post("/api/brain/trust", {"workspace": str(sidecar.workspace), "trusted": True})
        assert trusted.status == 200
        yield sidecar


def files(workspace: Path) -> dict[str, bytes]:
    made = (".pytest_cache", "__pycache__", "node_modules", "build", "package-lock.json")
    found = (path for path in workspace.rglob("*") if path.is_file() and not set(made) & set(path.parts))
    return {path.relative_to(workspace).as_posix(): path.read_bytes() for path in found}


def steps(sidecar: RunningSidecar, task_id: str) -> list[str]:
    events = sidecar.events(task_id)
    return [event["agent"] for event in events if event["type"] == "step" and event["state"] == "completed"]


def done_with(sidecar: RunningSidecar, task: str, decision: str = "allow", **options: object) -> Json:
    """Every question is answered in the same way."""
    task_id = sidecar.execute(task, **options)
    with sidecar.stream(task_id, timeout=SECONDS) as events:
        for event in events:
            if event["type"] == "approval" and event["state"] == "requested":
                path = f"/api/brain/tasks/{task_id}/approvals/{event['approvalId']}"
                assert sidecar.post(path, {"decision": decision, "scope": "task"}).status < 300
    return sidecar.task(task_id)


def verified(task: Json) -> bool | None:
    result: bool | None = task["result"]["verification"]["passed"]
    return result


@pytest.mark.parametrize(
    ("task", "expected", "command"),
    [
        ("create a python package called textkit that shortens text", "src/textkit/text.py", "pytest"),
        ("Can you start a python command line tool named word-count?", "src/word_count/cli.py", "pytest"),
        ("set up a static site for my band", "site/index.html", "unittest"),
        ("scaffold a Starlette API named orders", "src/orders/app.py", "pytest"),
    ],
)
def test_a_sentence_becomes_a_project_whose_tests_pass(
    trusting: RunningSidecar, task: str, expected: str, command: str
) -> None:
    done = done_with(trusting, task)
    assert (done["status"], done["intent"]) == ("completed", "create_project"), done["error"]
    assert steps(trusting, done["id"]) == AGENTS
    made = files(trusting.workspace)
    assert expected in made
    assert set(done["result"]["filesModified"]) == made.keys()
    assert f"The tests ran ({command})" in done["result"]["summary"]
    assert " 0 failed" in done["result"]["summary"]
    assert verified(done) is True
    readme = made["README.md"].decode()
    assert "## What is where" in readme
    assert all(f"`{path}`" in readme for path in made)


def test_it_says_what_it_did_not_write(trusting: RunningSidecar) -> None:
    done = done_with(trusting, "create a python cli called weather-report that prints the weather")
    summary = done["result"]["summary"]
    assert "A command line tool that prints the weather" in summary
    assert "Your own is not written yet." in summary
    assert "A command line tool that prints the weather." in (trusting.workspace / "README.md").read_text()


def test_a_rewind_leaves_nothing_of_it(trusting: RunningSidecar) -> None:
    (trusting.workspace / "README.md").write_bytes(b"# Mine\r\nand nobody else's")
    before = files(trusting.workspace)
    done = done_with(trusting, "create a python package called textkit")
    assert files(trusting.workspace)["README.md"] == before["README.md"]
    rewound = trusting.post(f"/api/brain/tasks/{done['id']}/rewind", {"seq": 0})
    assert rewound.status == 200, rewound.body
    assert files(trusting.workspace) == before


def test_beside_other_work_it_gets_a_folder_of_its_own(trusting: RunningSidecar) -> None:
    (trusting.workspace / "main.py").write_text("print('mine')\n")
    done = done_with(trusting, "new python package called textkit in libs/textkit")
    assert done["status"] == "completed", done["error"]
    assert (trusting.workspace / "libs/textkit/src/textkit/text.py").is_file()
    assert "12 passed" in done["result"]["summary"]
    assert verified(done) is True
    again = done_with(trusting, "new python package called textkit in libs/textkit")
    assert again["status"] == "failed"
    assert "already exists" in again["error"]["message"]


@pytest.mark.parametrize(
    ("task", "word"),
    [
        ("create a rust game", "“rust game”"),
        ("create a python package called json", "Choose another name"),
        ("create a react app called shop with redux", "with redux"),
    ],
)
def test_what_it_cannot_make_it_declines_before_it_begins(trusting: RunningSidecar, task: str, word: str) -> None:
    done = done_with(trusting, task)
    assert done["status"] == "failed"
    assert word in done["error"]["message"]
    assert files(trusting.workspace) == {}


def test_in_a_workspace_that_no_one_trusts_the_tests_are_asked_about(tmp_path: Path) -> None:
    with running_sidecar(tmp_path) as sidecar:
        done = done_with(sidecar, "create a python package called textkit", decision="deny")
        assert done["status"] == "completed", done["error"]
        assert "The tests could not run: " in done["result"]["summary"]
        assert verified(done) is not True


def test_after_a_kill_it_goes_on_where_it_was_and_writes_nothing_twice(tmp_path: Path) -> None:
    with running_sidecar(tmp_path) as sidecar:
        task_id = sidecar.execute("create a python package called textkit")
        asked = sidecar.wait_for_event(task_id, lambda event: event["type"] == "approval")
        sidecar.kill()
        sidecar.restart()
        path = f"/api/brain/tasks/{task_id}/approvals/{asked['approvalId']}"
        answer = {"decision": "allow", "scope": "task"}
        wait_until(lambda: sidecar.post(path, answer).status < 300, what="the question to be asked again")
        with sidecar.stream(task_id, timeout=SECONDS) as events:
            for event in events:
                if event["type"] == "approval" and event["state"] == "requested" and event["seq"] > asked["seq"]:
                    sidecar.post(f"/api/brain/tasks/{task_id}/approvals/{event['approvalId']}", answer)
        done = sidecar.task(task_id)
        assert done["status"] == "completed", done["error"]
        assert "12 passed, 0 failed" in done["result"]["summary"]
        calls = [event for event in sidecar.events(task_id) if event["type"] == "tool" and event["status"] == "success"]
        written = [event["args"]["path"] for event in calls if event["tool"] == "create_file"]
        assert len(written) == len(set(written)) == 10


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        ("new typescript library date-utils", "src/lists.ts"),
        ("make a new react app todo-list", "src/App.tsx"),
    ],
)
def test_packages_are_installed_only_if_the_user_says_so(trusting: RunningSidecar, task: str, expected: str) -> None:
    if shutil.which("npm") is None:
        pytest.skip("there is no npm here")
    done = done_with(trusting, task, decision="deny")
    assert done["status"] == "completed", done["error"]
    assert expected in files(trusting.workspace)
    assert not (trusting.workspace / "node_modules").exists()
    assert "not installed" in done["result"]["summary"] or "10 passed" in done["result"]["summary"]


def test_without_its_packages_a_new_project_is_not_verified_and_says_so(tmp_path: Path) -> None:
    bare = Path(sys.prefix) / "share" / f"bare-{tmp_path.name}"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(bare)], check=True, timeout=SECONDS)
    # As after `activate`: the sidecar's own programs come first, and they are none of the project's.
    path = os.pathsep.join((f"{sys.prefix}/bin", f"{bare}/bin", "/usr/bin", "/bin"))
    try:
        with running_sidecar(tmp_path, PATH=path, VIRTUAL_ENV=sys.prefix) as sidecar:
            done = sidecar.wait_for_end(sidecar.execute("create a python package called kit", approvals="auto"))
    finally:
        shutil.rmtree(bare)
    assert (done["status"], done["verified"]) == ("completed", None), done["error"]
    assert "Not verified: its packages are not installed" in done["result"]["summary"]
    assert not (sidecar.workspace / ".venv").exists()


def npm_with_packages(sidecar: RunningSidecar) -> str:
    """npm, set up in the sidecar's HOME as it is for you; skips the test if it can't reach the registry there."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed")
    settings = []
    for name in ("registry", "proxy", "https-proxy", "noproxy", "cafile"):
        done = subprocess.run([npm, "config", "get", name], capture_output=True, text=True, timeout=SECONDS)
        if done.returncode == 0 and (value := done.stdout.strip()) not in ("", "null", "undefined"):
            settings.append(f"{name}={value}\n")
    Path(sidecar.environ["HOME"], ".npmrc").write_text("".join(settings))
    view = [npm, "view", "typescript", "version", "--fetch-retries=0", "--fetch-timeout=20000"]
    try:
        found = subprocess.run(view, env=sidecar.environ, cwd=sidecar.workspace, capture_output=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        pytest.skip("npm's registry does not answer")
    if found.returncode:
        pytest.skip("npm's registry can't be reached")
    return npm


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("task", "passed"),
    [
        ("create a typescript library called date-utils", "10 passed"),
        pytest.param(
            *("create a react app todo-list", "7 passed"),
            marks=pytest.mark.skipif(not FULL, reason="installs 300 packages; `make faults` runs it"),
        ),
    ],
)
def test_with_their_packages_the_others_pass_their_tests_too_and_their_linter_is_silent(
    trusting: RunningSidecar, task: str, passed: str
) -> None:
    npm = npm_with_packages(trusting)
    done = done_with(trusting, task)
    assert done["status"] == "completed", done["error"]
    assert passed in done["result"]["summary"]
    assert verified(done) is True
    check = [npm, "run", "--silent", "check"]
    checked = subprocess.run(check, cwd=trusting.workspace, capture_output=True, text=True, timeout=300)
    assert checked.returncode == 0, checked.stdout + checked.stderr
