"""Commands, tests and Git, run for real."""

import asyncio
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support.workbench import Workbench
from tests.waiting import until_true
from tools.host import OutputCollector
from tools.local import processes
from tools.local.sandbox.spawn import spawn
from tools.test_report import parse_report


async def test_output_that_does_not_fit_keeps_head_and_tail_and_the_whole_can_be_paged(bench: Workbench) -> None:
    outcome = await bench.call("run_command", "big", command="seq 1 100000")

    assert outcome.content.startswith("1\n2\n") and outcome.content.rstrip().endswith("100000")
    assert isinstance(outcome.details, dict) and outcome.details["log"] == "output:big.log"
    page = await bench.call("read_file", path="output:big.log", startLine=50_000, endLine=50_001)
    assert page.content == "50000 50000\n50001 50001"
    log = bench.data_dir / "output" / "big.log"
    assert log.stat().st_mode & 0o777 == 0o600
    assert log.parent.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("path", ["output:../token", "output:big", "output:/etc/passwd", "output:../../etc/x.log"])
async def test_the_door_to_outputs_opens_nothing_else(bench: Workbench, path: str) -> None:
    await bench.call("run_command", "big", command="seq 1 100000")
    (bench.data_dir / "token").write_text("secret")

    outcome = await bench.call("read_file", path=path)

    assert outcome.error is not None and outcome.error.code in ("path_denied", "not_found")


async def test_a_command_has_no_input_and_none_of_our_keys(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "canary")
    monkeypatch.setenv("SSH_AUTH_SOCK", "canary")

    outcome = await bench.call("run_command", command="cat; env")

    assert "canary" not in outcome.content
    assert "BRAIN_CALL_ID=" in outcome.content


async def test_a_command_in_the_background_is_watched_and_stopped(bench: Workbench) -> None:
    started = await bench.call("run_command", "bg", command="echo up; : > up; exec sleep 1000", background=True)
    assert isinstance(started.details, dict) and started.details["commandId"] == "bg"
    await until_true((bench.workspace / "up").exists)

    running = await bench.call("command_output", commandId="bg")
    assert "up" in running.content and "still runs" in running.content
    stopped, after = await bench.batch(
        ("stop_command", {"commandId": "bg"}), ("command_output", {"commandId": "bg", "waitMs": 1})
    )
    assert "Stopped 1 process" in stopped.content
    assert "ended with" in after.content


async def test_what_a_background_command_says_first_comes_with_its_start(bench: Workbench) -> None:
    started = await bench.call("run_command", "bg", command="echo listening; exec sleep 1000", background=True)

    assert started.content.startswith("listening\n") and "commandId bg" in started.content


async def test_a_cancel_during_the_start_of_a_background_command_ends_it(bench: Workbench) -> None:
    starting = asyncio.create_task(bench.call("run_command", "bg", command="exec sleep 1000", background=True))

    async def started() -> bool:
        return (await bench.call("command_output", commandId="bg")).error is None

    await until_true(started)
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting

    ended = await bench.call("command_output", commandId="bg")
    assert isinstance(ended.details, dict) and ended.details["running"] is False


async def test_a_background_command_that_ends_at_once_is_reported_like_any_other(bench: Workbench) -> None:
    failed = await bench.call("run_command", "bg", command="echo port in use; exit 3", background=True)

    assert failed.error is not None and failed.error.code == "command_failed"
    assert failed.content == "port in use\n(exit code 3)"
    assert isinstance(failed.details, dict) and failed.details["exitCode"] == 3
    asked = await bench.call("command_output", commandId=str(failed.details["commandId"]))
    assert asked.content == "port in use\nIt ended with exit code 3."


async def test_the_end_of_a_background_command_can_be_waited_for(bench: Workbench) -> None:
    command = "until [ -e go ]; do sleep 0.05; done; echo built; exit 4"
    await bench.call("run_command", "bg", command=command, background=True)

    waiting = asyncio.create_task(bench.call("command_output", commandId="bg", waitMs=60_000))
    bench.write("go", "")

    assert (await waiting).content == "built\nIt ended with exit code 4."


async def test_a_program_that_starts_while_another_of_its_call_ends_is_no_leftover(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    first_may_return, second_has_started = asyncio.Event(), asyncio.Event()
    real = spawn

    async def held(launch: Any, *more: Any) -> Any:
        command = await real(launch, *more)
        if launch.argv[0] == "true":
            await first_may_return.wait()
        else:
            first_may_return.set()
            await second_has_started.wait()
        return command

    async def run(*argv: str) -> int | None:
        workspace = os.open(bench.workspace, os.O_RDONLY)
        try:
            output = OutputCollector()
            result = await bench.backend.processes.run(argv, call_id="both", cwd=workspace, timeout=60, output=output)
            return result.exit_code
        finally:
            os.close(workspace)

    monkeypatch.setattr(processes, "spawn", held)
    first, second = asyncio.create_task(run("true")), asyncio.create_task(run("sleep", "0.1"))
    await asyncio.wait((first,), timeout=0.5)
    second_has_started.set()

    assert (await first, await second) == (0, 0)


async def test_the_end_of_a_task_ends_its_background_commands(bench: Workbench) -> None:
    await bench.call("run_command", "bg", command="exec sleep 1000", background=True)

    killed = await bench.executor.end(bench.ledger)

    assert len(killed) == 1


async def test_failed_tests_come_by_name_and_message(bench: Workbench) -> None:
    bench.write(
        "test_a.py", "import unittest\nclass T(unittest.TestCase):\n    def test_x(self): self.fail('no luck')\n"
    )

    outcome = await bench.call("run_tests")

    assert outcome.error is not None and outcome.error.code == "tests_failed"
    assert isinstance(outcome.details, dict)
    assert (outcome.details["framework"], outcome.details["failed"]) == ("unittest", 1)
    assert outcome.details["failures"] == [{"name": "test_x (test_a.T.test_x)", "message": "AssertionError: no luck"}]


async def test_pytest_is_found_in_the_projects_own_environment(
    bench: Workbench, request: pytest.FixtureRequest
) -> None:
    bench.write("conftest.py", "")
    bench.write("tests/test_a.py", "def test_ok():\n    assert True\n\ndef test_bad():\n    assert 1 == 2, 'sums'\n")
    python = request.config.rootpath / ".venv/bin/python"
    (bench.workspace / ".venv/bin").mkdir(parents=True)
    bench.write(".venv/bin/python", f'#!/bin/sh\nexec {python} "$@"\n').chmod(0o755)

    outcome = await bench.call("run_tests")

    assert isinstance(outcome.details, dict)
    assert [outcome.details[key] for key in ("framework", "passed", "failed")] == ["pytest", 1, 1]
    assert "tests/test_a.py::test_bad" in outcome.content
    one = await bench.call("run_tests", target="tests/test_a.py::test_ok")
    assert one.status == "success" and one.summary == "1 passed, 0 failed, 0 skipped"


async def test_a_folder_that_is_a_project_of_its_own_has_its_tests_run_there(bench: Workbench) -> None:
    bench.write("pyproject.toml", "[tool.pytest.ini_options]\n")
    bench.write("test_outside.py", "def test_it():\n    assert False\n")
    bench.write("libs/kit/pyproject.toml", "[tool.pytest.ini_options]\npythonpath = ['src']\n")
    bench.write("libs/kit/src/kit.py", "ONE = 1\n")
    bench.write("libs/kit/tests/test_kit.py", "import kit\n\ndef test_it():\n    assert kit.ONE == 1\n")

    outcome = await bench.call("run_tests", target="libs/kit/")

    assert outcome.summary == "1 passed, 0 failed, 0 skipped"
    assert (await bench.call("run_tests", target="test_outside.py")).summary == "0 passed, 1 failed, 0 skipped"


async def test_tests_in_a_file_that_is_named_like_an_option_are_run_and_an_option_is_none(bench: Workbench) -> None:
    bench.write("pytest.ini", "[pytest]\n")
    for odd in ("--version_test.py", "@odd_test.py"):
        bench.write(odd, "def test_it():\n    pass\n")
        for target in (odd, f"{odd}::test_it"):
            outcome = await bench.call("run_tests", target=target)
            assert outcome.summary == "1 passed, 0 failed, 0 skipped", outcome.content
    outcome = await bench.call("run_tests", target="--version")
    assert outcome.error is not None and outcome.error.code == "invalid_arguments"


async def test_a_package_that_is_not_installed_is_said_and_is_no_failed_test(bench: Workbench) -> None:
    bench.write("pyproject.toml", "[project]\ndependencies = ['no-such-thing']\n[tool.pytest.ini_options]\n")
    bench.write("test_it.py", "import no_such_thing\n\ndef test_it():\n    assert no_such_thing\n")

    outcome = await bench.call("run_tests")

    assert outcome.error is not None and outcome.error.code == "packages_missing"
    assert "The project's packages are not installed: its Python doesn't have no-such-thing." in outcome.error.message


async def test_npm_tests_without_their_packages_are_no_failed_tests(bench: Workbench) -> None:
    bench.write("package.json", '{"scripts": {"test": "no-such-runner"}, "devDependencies": {"no-such-runner": "1"}}')

    outcome = await bench.call("run_tests")

    assert outcome.error is not None and outcome.error.code == "packages_missing"
    bench.write("node_modules/x", "")
    failed = await bench.call("run_tests")
    assert failed.error is not None and failed.error.code == "tests_failed"


def test_reports_of_other_frameworks_are_read_too() -> None:
    vitest = parse_report(
        "npm", " FAIL  a.test.ts > adds > one\nAssertionError: 1\n\n Tests  1 failed | 2 passed (3)\n", 1
    )
    assert (vitest.passed, vitest.failed, vitest.failures[0].name) == (2, 1, "a.test.ts > adds > one")
    unloaded = parse_report(
        "npm", " FAIL  a.test.ts [ a.test.ts ]\nError: Cannot find package 'x'\n\n Tests  2 passed (2)\n", 1
    )
    assert (unloaded.passed, unloaded.failed) == (2, 1)
    assert [tuple(each) for each in unloaded.failures] == [("a.test.ts", "Error: Cannot find package 'x'")]
    jest = parse_report("npm", "  ● adds › one\n\n    expected 1\n\nTests:       1 failed, 2 passed, 3 total\n", 1)
    assert (jest.passed, jest.failed, jest.failures[0].name) == (2, 1, "adds › one")
    node = parse_report("npm", "not ok 1 - adds\n# pass 2\n# fail 1\n# skipped 0\n", 1)
    assert (node.passed, node.failed, node.failures[0].name) == (2, 1, "adds")
    events = [
        {"Action": "output", "Package": "p", "Test": "TestA", "Output": "    a_test.go:3: bad\n"},
        {"Action": "fail", "Package": "p", "Test": "TestA"},
        {"Action": "pass", "Package": "p", "Test": "TestB"},
    ]
    go = parse_report("go", "\n".join(map(json.dumps, events)), 1)
    assert (go.passed, go.failed, go.failures[0]) == (1, 1, ("p.TestA", "a_test.go:3: bad"))
    cargo = parse_report(
        "cargo",
        "test a ... ok\ntest b ... FAILED\n\n---- b stdout ----\nthread panicked\n\n"
        "test result: FAILED. 1 passed; 1 failed; 0 ignored\n",
        101,
    )
    assert (cargo.passed, cargo.failed, cargo.failures[0]) == (1, 1, ("b", "thread panicked"))
    assert not parse_report("make", "nothing known", 2).known


@pytest.fixture
def repository(bench: Workbench) -> Path:
    for words in (
        ["init", "-q", "-b", "main"],
        ["config", "user.email", "a@example.com"],
        ["config", "user.name", "A"],
    ):
        subprocess.run(["git", *words], cwd=bench.workspace, check=True)
    return bench.workspace


async def test_git_from_status_to_blame(bench: Workbench, repository: Path) -> None:
    bench.write("a b.txt", "one\n")
    assert "?? a b.txt" in (await bench.call("git_status")).content
    assert (await bench.call("git_add", paths=["a b.txt"])).status == "success"
    assert "+one" in (await bench.call("git_diff", staged=True)).content
    committed = await bench.call("git_commit", message="-m is a fine subject")
    assert committed.status == "success", committed.content
    assert "-m is a fine subject" in (await bench.call("git_log", limit=1)).content
    bench.write("a b.txt", "two\n")
    assert "-one" in (await bench.call("git_diff", ref="HEAD", path="a b.txt")).content
    assert "+one" in (await bench.call("git_show", ref="HEAD")).content
    assert "2)" not in (await bench.call("git_blame", path="a b.txt", startLine=1, endLine=1)).content
    unknown = await bench.call("git_show", ref="nowhere")
    assert unknown.error is not None and unknown.error.code == "invalid_arguments"


async def test_workspace_info_says_what_it_is(bench: Workbench, repository: Path) -> None:
    bench.write("pyproject.toml", "[tool.pytest.ini_options]\n")
    bench.write("src/a.py", "")

    content = (await bench.call("get_workspace_info")).content

    assert "Python (1)" in content and "tests: pytest" in content and "git branch: main" in content
