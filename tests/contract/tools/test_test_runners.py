"""Tests run by the right runner and the project's own Python, and no tests at all are never a pass."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.workbench import Workbench

PLAIN = "from unittest import mock\n\n\ndef test_it():\n    assert mock.Mock(return_value=2)() == 2\n"
CASE = "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_it(self):\n        self.assertTrue(1)\n"


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """An environment without a single package, not even pytest."""
    place = Path(sys.prefix) / "share" / f"bare-{tmp_path_factory.getbasetemp().name}"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(place)], check=True, timeout=60)
    yield place
    shutil.rmtree(place)


def program(bench: Workbench, path: str, says: str) -> None:
    bench.write(path, f"#!/bin/sh\necho {says}\n").chmod(0o755)


async def ran(bench: Workbench, **args: str) -> tuple[object, ...]:
    outcome = await bench.call("run_tests", **args)
    details = outcome.details if isinstance(outcome.details, dict) else {}
    return outcome.status, details.get("framework"), details.get("passed")


@pytest.mark.parametrize("path", ["test_it.py", "tests/test_it.py", "tests/unit/test_it.py", "shop/tests/test_it.py"])
async def test_plain_functions_are_run_by_pytest_whatever_they_import_from_unittest(
    bench: Workbench, path: str
) -> None:
    bench.write(path, PLAIN)
    assert await ran(bench) == ("success", "pytest", 1)


async def test_plain_classes_are_run_by_pytest_and_test_cases_by_unittest(bench: Workbench) -> None:
    bench.write("test_case.py", CASE)
    assert await ran(bench) == ("success", "unittest", 1)
    bench.write("test_plain.py", "class TestIt:\n    def test_it(self):\n        assert 1\n")
    assert await ran(bench) == ("success", "pytest", 2)


@pytest.mark.parametrize(
    ("name", "content"),
    [("requirements-test.txt", "pytest>=8\n"), ("requirements/tests.in", "pytest\n"), ("Pipfile", 'pytest = "*"\n')],
)
async def test_a_project_that_depends_on_pytest_is_run_by_it(bench: Workbench, name: str, content: str) -> None:
    bench.write("test_case.py", CASE)
    bench.write(name, content)
    assert await ran(bench) == ("success", "pytest", 1)


async def test_what_unittest_does_not_find_pytest_does(bench: Workbench) -> None:
    bench.write("shop/checks/test_case.py", CASE)  # in no package, so unittest finds nothing there
    assert await ran(bench) == ("success", "pytest", 1)


async def test_python_in_a_folder_of_scripts_does_not_stand_for_a_project_of_another_language(bench: Workbench) -> None:
    bench.write("package.json", json.dumps({"scripts": {"test": "node --test"}}))
    bench.write("a.test.js", "require('node:test')('adds', () => {});\n")
    bench.write("scripts/deep/test_tool.py", PLAIN)
    assert await ran(bench) == ("success", "npm", 1)


async def test_no_test_that_ran_is_an_error_when_there_are_test_files(bench: Workbench) -> None:
    bench.write("pytest.ini", "[pytest]\npython_functions = never_*\n")
    bench.write("test_it.py", PLAIN)
    outcome = await bench.call("run_tests")
    assert outcome.error is not None and outcome.error.code == "no_tests_ran"
    assert "No test ran, although there are test files: test_it.py." in outcome.content


@pytest.mark.parametrize(
    ("script", "file"),
    [("echo No tests found, exiting with code 0", "src/a.test.ts"), ("node --test none/", "test/a.test.js")],
)
async def test_a_script_that_finds_no_test_is_an_error_too(bench: Workbench, script: str, file: str) -> None:
    bench.write("package.json", json.dumps({"scripts": {"test": script}}))
    bench.write(file, "test('adds', () => {});\n")
    outcome = await bench.call("run_tests")
    assert outcome.status == "error"


async def test_a_script_that_counts_nothing_is_believed_by_its_exit_code(bench: Workbench) -> None:
    bench.write("package.json", json.dumps({"scripts": {"test": "echo fine"}}))
    bench.write("a.test.js", "")
    outcome = await bench.call("run_tests")
    assert (outcome.status, outcome.summary) == ("success", "the output contains no counts")


async def test_a_runner_that_the_package_depends_on_needs_no_script(bench: Workbench) -> None:
    bench.write("package.json", json.dumps({"devDependencies": {"vitest": "3"}}))
    bench.write("a.test.js", "")
    program(bench, "node_modules/.bin/vitest", "' Tests  2 passed (2)'")
    assert await ran(bench) == ("success", "npm", 2)


async def test_tests_that_do_not_need_pytest_run_without_it(bench: Workbench, bare: Path) -> None:
    bench.write("pyproject.toml", "[project.optional-dependencies]\ndev = ['pytest']\n")
    bench.write("tests/test_case.py", CASE)
    (bench.workspace / ".venv").symlink_to(bare)
    assert await ran(bench) == ("success", "unittest", 1)


async def test_mocha_is_understood(bench: Workbench) -> None:
    bench.write("package.json", json.dumps({"scripts": {"test": "printf '  3 passing (9ms)\\n  1 pending\\n'"}}))
    assert (await bench.call("run_tests")).summary == "3 passed, 0 failed, 1 skipped"


async def test_a_project_has_the_packages_of_its_own_environment_and_not_the_sidecars(
    bench: Workbench, bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.write("test_it.py", "import starlette\n\n\ndef test_it():\n    assert starlette\n")
    (bench.workspace / ".venv").symlink_to(bare)
    outcome = await bench.call("run_tests")
    assert outcome.error is not None and outcome.error.code == "packages_missing"
    assert "tests need pytest, and its Python doesn't have it" in outcome.error.message
    (bench.workspace / ".venv").unlink()
    # An activated environment of the sidecar is none of the project's.
    monkeypatch.setenv("PATH", f"{sys.prefix}/bin:{bare}/bin:/usr/bin:/bin")
    monkeypatch.setenv("VIRTUAL_ENV", sys.prefix)
    again = await bench.call("run_tests")
    assert again.error is not None and again.error.code == "packages_missing"
    shown = await bench.call(
        "run_command", command="python3 -c 'import sys; print(sys.prefix)'; echo \"[$VIRTUAL_ENV]\""
    )
    assert shown.content.split() == [str(bare), "[]"]


async def test_commands_find_the_programs_of_the_project_first(bench: Workbench) -> None:
    program(bench, ".venv/bin/python", "python of the project")
    program(bench, ".venv/bin/python3", "python3 of the project")
    program(bench, "node_modules/.bin/eslint", "eslint of the project")
    program(bench, "web/node_modules/.bin/eslint", "eslint of the web")
    for command, said in {"python3 x": "python3", "python x": "python", "eslint .": "eslint"}.items():
        assert (await bench.call("run_command", command=command)).content == f"{said} of the project"
        assert (await bench.call("run_command", command=command.split())).content == f"{said} of the project"
    assert (await bench.call("run_command", command="eslint .", cwd="web")).content == "eslint of the web"
    shown = await bench.call("run_command", command='echo "$VIRTUAL_ENV"')
    assert shown.content == f"{bench.workspace}/.venv"


@pytest.mark.parametrize("package", ["wsgiref", "installed_nowhere"])
async def test_tests_of_a_src_layout_run_on_its_code_not_on_another_version(bench: Workbench, package: str) -> None:
    # Python has a package `wsgiref` of its own, which stands for an older version that is installed.
    bench.write(f"src/{package}/__init__.py", "here = True\n")
    bench.write("tests/test_it.py", f"import {package}\n\n\ndef test_it():\n    assert {package}.here\n")
    assert await ran(bench) == ("success", "pytest", 1)
    assert await ran(bench, target="tests/test_it.py") == ("success", "pytest", 1)
    bench.write("pytest.ini", "[pytest]\npythonpath = src\n")
    outcome = await bench.call("run_tests")
    assert isinstance(outcome.details, dict) and "pythonpath" not in str(outcome.details["command"])
    assert outcome.status == "success"


async def test_a_script_whose_programs_are_missing_is_replaced_by_the_runner_itself(bench: Workbench) -> None:
    script = "no-such-manager lint && vitest run --typecheck"
    bench.write("package.json", json.dumps({"scripts": {"test": script}, "devDependencies": {"vitest": "3"}}))
    bench.write("a.test.js", "")
    program(bench, "node_modules/.bin/vitest", "' Tests  2 passed (2)'")
    assert await ran(bench) == ("success", "npm", 2)
    outcome = await bench.call("run_tests", target="a.test.js")
    assert isinstance(outcome.details, dict)
    assert outcome.details["command"] == "npx --no-install --offline vitest run a.test.js"


async def test_a_script_that_fails_without_counts_is_named_with_its_exit_code(bench: Workbench) -> None:
    bench.write("package.json", json.dumps({"scripts": {"test": "no-such-manager lint"}}))
    bench.write("a.test.js", "")
    outcome = await bench.call("run_tests")
    first, second = outcome.content.splitlines()[:2]
    assert first == "`npm test --silent` failed (exit code 127); the output counts no tests:"
    assert "no-such-manager" in second


@pytest.mark.parametrize(
    "script",
    [
        "node --test test/*.test.js",
        "node --test --test-reporter spec --test-concurrency 1 test/*.test.js",
        "node fails.js; node --test test/*.test.js && node fails.js",
        "node fails.js && c8 node --import ./set-up.mjs --test test/*.test.js && node fails.js",
    ],
)
async def test_a_target_runs_alone_whatever_else_the_test_script_does(bench: Workbench, script: str) -> None:
    bench.write("package.json", json.dumps({"scripts": {"test": script}}))
    bench.write("fails.js", "process.exit(1);\n")
    bench.write("set-up.mjs", "")
    for name in ("a", "b"):
        bench.write(f"test/{name}.test.js", f"require('node:test')('{name}', () => {{}});\n")
    assert await ran(bench, target="test/b.test.js") == ("success", "npm", 1)


async def test_a_runner_within_a_script_gets_the_target_with_its_own_options(bench: Workbench) -> None:
    bench.write("package.json", json.dumps({"scripts": {"test": "xo && vitest run --pool=forks && tsd"}}))
    bench.write("a.test.ts", "")
    program(bench, "node_modules/.bin/vitest", "' Tests  2 passed (2)'")
    outcome = await bench.call("run_tests", target="a.test.ts")
    details = outcome.details
    assert isinstance(details, dict)
    assert details["command"] == "npx --no-install --offline vitest run --pool=forks a.test.ts"
