"""S17, S34: a question about tests and checkers shows the commands that run, and an answer holds for these alone."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.workbench import Workbench, workbench
from tools.errors import Denied
from tools.ledger import Answer, ApprovalPrompt, ListLedger
from tools.spec import Call, PlannedCommand

TEST = "def test_one():\n    assert True\n"
CASE = "import unittest\nclass T(unittest.TestCase):\n    def test_one(self):\n        pass\n"
PYTEST = ("-m", "pytest", "-q", "-rfE", "--tb=short", "--color=no")
#: Files of a project, the target, the command that must be shown, and the folder it runs in.
PROJECTS: list[tuple[dict[str, str], str | None, tuple[str, ...], str]] = [
    ({"test_a.py": TEST}, None, ("python3", *PYTEST), "."),
    ({"test_a.py": TEST}, "test_a.py::test_one", ("python3", *PYTEST, "test_a.py::test_one"), "."),
    ({"test_a.py": TEST, ".venv/bin/python": "#!/bin/sh\n"}, None, ("./.venv/bin/python", *PYTEST), "."),
    ({"test_a.py": CASE}, None, ("python3", "-m", "unittest", "discover"), "."),
    ({"package.json": '{"scripts": {"test": "sh evil.sh"}}'}, None, ("npm", "test", "--silent"), "."),
    ({"package.json": '{"devDependencies": {"jest": "1"}}'}, None, ("npx", "--no-install", "--offline", "jest"), "."),
    ({"go.mod": "module m\n"}, None, ("go", "test", "-json", "./..."), "."),
    ({"Cargo.toml": "[package]\n"}, "x", ("cargo", "test", "--color=never", "x"), "."),
    ({"Makefile": "test:\n\tsh evil.sh\n"}, None, ("make", "test"), "."),
    ({"sub/pyproject.toml": "", "sub/test_a.py": TEST}, "sub", ("python3", *PYTEST), "sub"),
]


class Interfering(ListLedger):
    """Changes the project while you read the first question."""

    def __init__(self, bench: Workbench, files: dict[str, str]) -> None:
        super().__init__(answer="allow")
        self._bench = bench
        self._files = files

    async def ask(self, question: ApprovalPrompt) -> Answer | None:
        for name, text in self._files.items():
            self._bench.write(name, text)
        return await super().ask(question)


@pytest.mark.parametrize(("files", "target", "argv", "folder"), PROJECTS)
async def test_s17_a_question_about_tests_shows_the_command_and_its_directory(
    tmp_path: Path, files: dict[str, str], target: str | None, argv: tuple[str, ...], folder: str
) -> None:
    async with workbench(tmp_path, approvals="ask") as bench:
        for name, text in files.items():
            bench.write(name, text)
        bench.ledger.answer = "deny"
        await bench.call("run_tests", **({} if target is None else {"target": target}))
        (question,) = bench.ledger.questions
        assert question.argv == argv
        assert question.cwd == str((bench.workspace / folder).resolve())
        assert question.environment


async def test_s17_the_other_runner_that_may_take_over_is_named_too(tmp_path: Path) -> None:
    async with workbench(tmp_path, approvals="ask") as bench:
        bench.write("test_a.py", CASE)
        bench.ledger.answer = "deny"
        await bench.call("run_tests")
        assert "it may also run python3 -m pytest" in bench.ledger.questions[0].why


async def test_s17_a_question_about_checkers_shows_each_of_their_commands(tmp_path: Path) -> None:
    async with workbench(tmp_path, approvals="ask") as bench:
        bench.write("a.py", "import os\n")
        bench.write("mypy.ini", "[mypy]\n")
        bench.write(".venv/bin/mypy", "#!/bin/sh\n").chmod(0o755)
        bench.ledger.answer = "deny"
        await bench.call("get_diagnostics")
        (question,) = bench.ledger.questions
        assert question.argv is not None
        assert question.argv[:2] == ("ruff", "check")
        assert f"it may also run {bench.workspace}/.venv/bin/mypy" in question.why
        assert question.why.endswith("-- a.py")


async def test_s17_checkers_that_would_start_nothing_need_no_answer(tmp_path: Path) -> None:
    async with workbench(tmp_path, approvals="ask") as bench:
        bench.write("a.json", '{"a": 1')
        outcome = await bench.call("get_diagnostics")
        assert outcome.status == "success"
        assert not bench.ledger.questions


async def test_s34_tests_that_become_another_command_are_asked_about_again(tmp_path: Path) -> None:
    async with workbench(tmp_path, approvals="ask") as bench:
        bench.write("test_a.py", CASE)
        ledger = Interfering(bench, {"package.json": '{"scripts": {"test": "touch ran"}}', "test_a.py": ""})
        bench.context = replace(bench.context, ledger=ledger)
        await bench.call("run_tests")
        assert [question.argv and question.argv[0] for question in ledger.questions] == ["python3", "npm"]
        assert "changed since" in ledger.questions[1].why


async def test_s34_a_checker_that_appears_during_the_question_is_asked_about(tmp_path: Path) -> None:
    async with workbench(tmp_path, approvals="ask") as bench:
        bench.write("a.py", "")
        planted = {"node_modules/.bin/eslint": "#!/bin/sh\ntouch ran\n"}
        ledger = Interfering(bench, planted)
        bench.context = replace(bench.context, ledger=ledger)
        await bench.call("get_diagnostics")
        assert len(ledger.questions) == 2
        assert "node_modules/.bin/eslint" in ledger.questions[1].why


async def test_s34_a_command_that_no_one_saw_does_not_run() -> None:
    seen = Call("c", "/w", 1.0, commands=(PlannedCommand(("make", "test")),))
    seen.check_command(["make", "test"])
    for argv, cwd in ((["make", "deploy"], "."), (["make", "test"], "sub"), (["make", "test", "x"], ".")):
        with pytest.raises(Denied):
            seen.check_command(argv, cwd)
    Call("c", "/w", 1.0).check_command(["make", "deploy"])
    with pytest.raises(Denied):
        Call("c", "/w", 1.0, commands=()).check_command(["make"])
