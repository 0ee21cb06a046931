"""What a run of the tests means: of the change, known from before, flaky, or nothing at all."""

import os
from typing import Any

import pytest

from sidecar.verify.change import FileVersions
from sidecar.verify.result import CheckResult
from sidecar.verify.runs import (
    FailedTest,
    find_explanations,
    name_targets,
    parse_run,
    render_failure_line,
    select_targets,
)
from sidecar.verify.suite import Baselines, Suite
from tests.support.check_runner import WorkbenchCheckRunner, changed, host, leftovers
from tests.support.workbench import Workbench
from tools.ledger import Outcome
from tools.test_frameworks import Framework

CALC = "def add(a, b):\n    return a + b\n\n\ndef sub(a, b):\n    return a - b\n"
BROKEN = CALC.replace("a + b", "a * b")
#: Names the private copies of this process: a second run of these tests would remove those of the first.
MARK = f"suite{os.getpid()}"
TESTS = """\
from calc import add, sub


def test_add():
    assert add(2, 3) == 5


def test_sub():
    assert sub(3, 2) == 1
"""


class Tried:
    def __init__(self, findings: list[CheckResult], runner: WorkbenchCheckRunner) -> None:
        self.checks = [finding.check for finding in findings if finding.check is not None]
        self.proves = any(finding.proves for finding in findings) and not any(finding.doubt for finding in findings)
        self.notes = [note for finding in findings for note in finding.notes]
        self.passed = all(check.passed for check in self.checks)
        self.evidence = "\n".join(check.evidence for check in self.checks)
        self.ran = runner.ran
        self.arguments = runner.arguments


async def tried(bench: Workbench, changes: list[FileVersions], request: str = "change it", **options: Any) -> Tried:
    runner = WorkbenchCheckRunner(bench)
    given = {
        "claims_pass": False,
        "id": MARK,
        "seconds": 60,
        "preapproved": True,
        "baselines": Baselines(),
        **options,
    }
    suite = Suite(
        changes=changes,
        request=request,
        host=host(bench),
        runner=runner,
        **given,
    )
    return Tried(await suite.check(), runner)


async def test_what_fails_only_since_the_change_is_held_against_it(bench: Workbench) -> None:
    bench.write("test_calc.py", TESTS)
    done = await tried(bench, changed(bench, calc__py=(CALC, BROKEN)))
    assert not done.passed
    assert not done.proves
    assert done.evidence == "test_calc.py::test_add: assert 6 == 5 (test_calc.py:5)"
    assert done.ran == ["tests", "tests-that-touch-the-change-again", "before"]
    assert not leftovers(MARK)


async def test_what_failed_before_in_the_same_way_is_known_and_named(bench: Workbench) -> None:
    bench.write("test_calc.py", TESTS)
    done = await tried(bench, changed(bench, calc__py=(BROKEN, f"{BROKEN}\n\ndef neg(a):\n    return -a\n")))
    assert done.passed
    assert done.proves
    assert done.evidence == "failed before the task too: test_calc.py::test_add"
    assert done.notes == ["Failed before the task too, so it doesn't count: test_calc.py::test_add"]


async def test_only_the_tests_that_fail_run_without_the_change(bench: Workbench) -> None:
    bench.write("test_calc.py", TESTS)
    more = "".join(f"def test_{number}():\n    assert not calc\n\n\n" for number in range(7))
    bench.write("test_more.py", f"import calc\n\n\n{more}")
    bench.write("test_far.py", "def test_far():\n    assert sum([1, 2]) == 3\n")
    done = await tried(bench, changed(bench, calc__py=(BROKEN, f"{BROKEN}\n\ndef neg(a):\n    return -a\n")))
    assert done.passed
    names = [f"test_more.py::test_{number}" for number in range(7)]
    assert done.ran.count("before") == 1
    assert done.arguments[done.ran.index("before")] == {"target": ["test_calc.py::test_add", *names]}
    (note,) = done.notes  # one for both runs
    assert note.startswith("Failed before the task too, so they don't count: ") and note.endswith(" and 3 more")


@pytest.mark.parametrize(
    ("request_", "claims_pass"),
    [("fix the bug in add", False), ("change it", True), ("make test_add pass", False), ("see test_calc.py", False)],
)
async def test_what_failed_before_is_held_against_a_task_that_was_about_it(
    bench: Workbench, request_: str, claims_pass: bool
) -> None:
    bench.write("test_calc.py", TESTS)
    changes = changed(bench, calc__py=(BROKEN, BROKEN.replace("a * b", "b * a")))
    assert not (await tried(bench, changes, request_, claims_pass=claims_pass)).passed


async def test_a_fix_that_mends_something_is_not_held_to_mend_everything(bench: Workbench) -> None:
    bench.write("test_calc.py", TESTS)
    both = BROKEN.replace("a - b", "a * b * 9")
    done = await tried(bench, changed(bench, calc__py=(both, BROKEN)), "fix the bug in sub")
    assert done.passed
    assert "test_add" in done.evidence


@pytest.mark.parametrize(("request_", "passed"), [("fix the bug in add", True), ("fix the import of nowhere", False)])
async def test_tests_that_never_loaded_count_only_if_the_task_was_about_that(
    bench: Workbench, request_: str, passed: bool
) -> None:
    bench.write("test_calc.py", TESTS)
    bench.write("test_broken.py", "import calc\nimport nowhere\n\n\ndef test_it():\n    assert nowhere and calc\n")
    done = await tried(bench, changed(bench, calc__py=(CALC, CALC.replace("a + b", "b + a"))), request_)
    assert done.passed is passed


def test_a_failure_names_its_file_in_every_framework() -> None:
    names = ["tests/test_a.py::test_one[x]", "src/a.test.ts > adds > one", "src/b.test.ts"]
    assert [FailedTest(name, "").file for name in names] == ["tests/test_a.py", "src/a.test.ts", "src/b.test.ts"]


async def test_code_called_tests_is_no_test_unless_pytest_is_told_so(bench: Workbench) -> None:
    bench.write("test_calc.py", TESTS)
    bench.write("tests.py", "from calc import add\n\n\ndef test_odd(value):\n    return add(value, 0) % 2 == 1\n")
    changes = changed(bench, calc__py=(BROKEN, CALC))
    assert (await tried(bench, changes)).proves
    bench.write("pytest.ini", "[pytest]\npython_files = test*.py\n")
    assert "tests.py::test_odd" in (await tried(bench, changes)).evidence


async def test_a_failure_of_another_kind_is_another_failure(bench: Workbench) -> None:
    bench.write("test_calc.py", TESTS)
    done = await tried(bench, changed(bench, calc__py=(BROKEN, BROKEN.replace("a * b", "nothing"))))
    assert not done.passed
    assert "NameError" in done.evidence


async def test_what_failed_before_is_tried_once_for_the_same_content(bench: Workbench) -> None:
    bench.write("test_calc.py", TESTS)
    baselines = Baselines()
    for _ in range(2):
        done = await tried(bench, changed(bench, calc__py=(CALC, BROKEN)), baselines=baselines)
    assert "before" not in done.ran


async def test_all_tests_are_run_after_those_that_touch_the_change(bench: Workbench) -> None:
    bench.write("test_calc.py", TESTS)
    bench.write("test_other.py", "import calc\n\n\ndef test_other():\n    assert 'add' in vars(calc)\n")
    bench.write("test_far.py", "def test_far():\n    assert sum([1, 2]) == 3\n")
    done = await tried(bench, changed(bench, calc__py=(BROKEN, CALC)))
    assert done.proves
    assert [check.name for check in done.checks] == ["tests that touch the change", "all tests"]
    assert "test_far.py" not in done.checks[0].command
    assert "test_other.py" in done.checks[0].command


async def test_tests_that_take_too_long_are_ended_and_those_that_touch_the_change_count(bench: Workbench) -> None:
    bench.write("test_calc.py", TESTS)
    bench.write("test_slow.py", "import signal\n\n\ndef test_slow():\n    signal.pause()\n")
    done = await tried(bench, changed(bench, calc__py=(BROKEN, CALC)), seconds=4)
    assert done.proves
    assert done.notes == ["All tests take longer than 4 s; only those that touch the change ran."]


async def test_where_the_user_is_asked_there_is_one_question(bench: Workbench) -> None:
    bench.write("test_calc.py", TESTS)
    done = await tried(bench, changed(bench, calc__py=(BROKEN, CALC)), preapproved=False)
    assert done.proves
    assert done.ran == ["all-tests"]


async def test_a_change_of_documents_needs_no_tests(bench: Workbench) -> None:
    bench.write("test_calc.py", TESTS)
    done = await tried(bench, changed(bench, README__md=("old", "new")))
    assert (done.ran, done.checks) == ([], [])


async def test_no_tests_at_all_prove_nothing(bench: Workbench) -> None:
    done = await tried(bench, changed(bench, calc__py=(BROKEN, CALC)))
    assert (done.checks, done.notes) == ([], ["No tests were found."])
    bench.write("test_empty.py", "import pytest\n\nimport calc\n")
    done = await tried(bench, changed(bench, calc__py=(BROKEN, CALC)))
    assert (done.checks, done.proves) == ([], False)
    assert "No test ran." in done.notes


async def test_tests_that_are_kept_from_running_prove_nothing(bench: Workbench) -> None:
    bench.write("test_calc.py", TESTS)
    bench.write("test_far.py", "def test_far():\n    assert sum([1, 2]) == 3\n")
    settings = "[pytest]\naddopts = -k far\n"
    done = await tried(bench, changed(bench, calc__py=(CALC, BROKEN), pytest__ini=(None, settings)))
    assert "None of the tests in test_calc.py ran, although there are some." in done.notes
    assert not done.proves

    # As it was before the task, it says nothing about the task.
    done = await tried(bench, changed(bench, calc__py=(CALC, BROKEN)))
    assert done.notes == ["No test ran."]
    assert done.proves


async def test_a_run_that_ends_well_although_it_failed_is_not_believed(bench: Workbench) -> None:
    bench.write("test_calc.py", TESTS)
    hook = "def pytest_sessionfinish(session):\n    session.exitstatus = 0\n"
    done = await tried(bench, changed(bench, calc__py=(CALC, BROKEN), conftest__py=(None, hook)))
    assert not done.passed
    assert "assert 6 == 5" in done.evidence


async def test_the_tests_of_unittest_are_judged_too(bench: Workbench) -> None:
    text = "import unittest\n\nfrom calc import add\n\n\nclass Calc(unittest.TestCase):\n    def test_add(self):\n"
    bench.write("test_calc.py", f"{text}        self.assertEqual(add(2, 3), 5)\n")
    done = await tried(bench, changed(bench, calc__py=(CALC, BROKEN)))
    assert not done.passed
    assert "test_add" in done.evidence
    assert "6 != 5" in done.evidence
    assert "unittest" in done.checks[0].command


def test_some_tests_alone_as_each_framework_takes_them() -> None:
    files = ["test_a.py", "pkg/a_test.go", "a.test.ts"]
    assert select_targets(Framework("pytest", []), "", files) == ["test_a.py"]
    assert select_targets(Framework("go", []), "", files) == ["./pkg"]
    assert select_targets(Framework("npm", []), "vitest run", files) == ["a.test.ts"]
    assert select_targets(Framework("npm", []), "tsc && ./run.sh", files) == []
    assert select_targets(Framework("cargo", []), "", files) == []
    assert name_targets("pytest", ["test_a.py::test_a"]) == ["test_a.py::test_a"]
    assert name_targets("unittest", ["test_a (pkg.test_m.T.test_a)"]) == ["pkg.test_m.T.test_a"]
    assert name_targets("unittest", ["test_a (pkg.test_m.T)"]) == ["pkg.test_m.T.test_a"]
    assert name_targets("npm", ["adds"]) is None


def test_where_a_failure_is_comes_from_the_runs_own_traceback() -> None:
    output = "___ test_a ___\ntest_a.py:3: in test_a\n    f()\ncalc.py:7: in f\n    raise\nE   X\n=== summary ===\n"
    assert render_failure_line(FailedTest("test_a.py::test_a", "X"), output) == "test_a.py::test_a: X (calc.py:7)"


@pytest.mark.timeout(5)
@pytest.mark.parametrize("piece", ["_", "____ x ____\n", "_ test_a ", "   at ", "a:", "Error "])
def test_the_longest_output_is_read_in_no_time(piece: str) -> None:
    output = piece * (200_000 // len(piece))
    render_failure_line(FailedTest("test_a.py::test_a", "X"), output)
    find_explanations(output)


def test_a_run_that_did_not_run_is_known_for_what_it_is() -> None:
    def outcome(details: dict[str, Any], code: str = "") -> Outcome:
        error = {"code": code, "message": "because"} if code else None
        given = {"status": "error" if code else "success", "content": "", "summary": "", "durationMs": 1}
        return Outcome.model_validate({**given, "details": details, "error": error})

    assert parse_run(None, 3).state == "late"
    assert parse_run(outcome({}, "denied")).state == "refused"
    assert parse_run(outcome({"timedOut": True, "exitCode": -9}, "timed_out")).state == "late"
    assert parse_run(outcome({}, "packages_missing")).state == "uninstalled"
    assert parse_run(outcome({}, "not_started")).state == "missing"
    assert parse_run(outcome({"exitCode": 0, "framework": "pytest", "passed": 2})).green
    assert parse_run(outcome({"exitCode": 0, "framework": "unittest", "passed": 0, "counted": True})).empty
    assert not parse_run(outcome({"exitCode": 0, "framework": "make"})).empty


@pytest.mark.parametrize(("after", "passed"), [(CALC, True), (BROKEN, False)])
async def test_a_project_in_a_folder_is_proven_by_its_own_tests(bench: Workbench, after: str, passed: bool) -> None:
    bench.write("libs/kit/pyproject.toml", "[tool.pytest.ini_options]\npythonpath = ['src']\n")
    bench.write("libs/kit/tests/test_calc.py", TESTS)
    done = await tried(bench, changed(bench, libs_in_kit_in_src_in_calc__py=(None, after)))
    assert (done.passed, done.proves) == (passed, passed)
    assert ("test_add" in done.evidence) is not passed


@pytest.mark.parametrize(("after", "passed"), [(CALC, True), (BROKEN, False)])
async def test_a_new_project_beside_others_is_run_as_it_wants_to_be_run(
    bench: Workbench, after: str, passed: bool
) -> None:
    bench.write("test_far.py", "def test_far():\n    assert sum([1, 2]) == 3\n")
    files = changed(
        bench,
        calc_in_pyproject__toml=(None, "[tool.pytest.ini_options]\npythonpath = ['src']\n"),
        calc_in_tests_in_test_calc__py=(None, TESTS),
        calc_in_src_in_calc__py=(None, after),
    )
    done = await tried(bench, files)
    assert (done.passed, done.proves, done.notes) == (passed, passed, [])
    assert done.ran == ["all-tests"]


ODD = "import calc\n\n\ndef test_odd():\n    assert 1 == 2 and calc\n"
NEW_TEST = f"{TESTS}\n\ndef test_more():\n    assert add(1, 1) == 2\n"


@pytest.mark.parametrize(
    ("request_", "tests", "claims", "passed"),
    [
        ("fix the bug in add", (TESTS, NEW_TEST), {}, True),
        ("fix the bug in add", (TESTS, TESTS), {}, False),
        ("fix test_odd", (TESTS, NEW_TEST), {}, False),
        ("add it", (TESTS, NEW_TEST), {"claimed_files": ["test_calc.py"]}, True),
        ("add it", (TESTS, NEW_TEST), {"claimed_files": ["test_odd.py"]}, False),
        ("add it", (TESTS, NEW_TEST), {"claims_pass": True}, False),
    ],
)
async def test_what_failed_before_in_a_file_that_only_imports_the_change_counts_if_it_is_meant(
    bench: Workbench, request_: str, tests: tuple[str, str], claims: dict[str, object], passed: bool
) -> None:
    bench.write("test_odd.py", ODD)
    bench.write("test_calc.py", tests[1])
    changes = changed(bench, calc__py=(CALC, CALC.replace("a + b", "b + a")), test_calc__py=tests)
    done = await tried(bench, changes, request_, **claims)
    assert done.passed is passed, done.evidence
    assert "test_odd.py::test_odd" in done.evidence


async def test_a_name_that_is_only_a_part_of_a_test_files_is_no_reason_to_mend_it(bench: Workbench) -> None:
    bench.write("test_odd.py", ODD.replace("calc", "od"))
    changes = changed(
        bench,
        od__py=(CALC, CALC.replace("a + b", "b + a")),
        test_od__py=(TESTS.replace("calc", "od"), NEW_TEST.replace("calc", "od")),
        __gitignore=("", "build\n"),
    )
    done = await tried(bench, changes, "fix the bug in add")
    assert done.passed is True, done.evidence


@pytest.mark.parametrize(("request_", "passed"), [("address the rounding", True), ("make the test add work", False)])
async def test_a_title_within_another_word_of_the_request_is_not_what_it_is_about(
    bench: Workbench, request_: str, passed: bool
) -> None:
    bench.write("package.json", '{"scripts": {"test": "node --test"}}')
    bench.write("odd.test.js", "require('node:test')('add', () => { throw new Error('odd') })\n")
    bench.write("calc.test.js", "require('node:test')('calc', () => { require('./calc') })\n")
    done = await tried(bench, changed(bench, calc__js=("exports.a = 1\n", "exports.a = 2\n")), request_)
    assert done.passed is passed, done.evidence
