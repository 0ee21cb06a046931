import os
import shutil
import sys

import pytest

from sidecar.verify.change import FileVersions
from sidecar.verify.checkers import CheckerRun
from sidecar.verify.result import CheckResult
from tests.support.check_runner import WorkbenchCheckRunner, changed, host
from tests.support.workbench import Workbench

#: Finds fault with every line that says BAD, and says it as mypy does.
MYPY = """#!/bin/sh
for file in "$@"; do
  case "$file" in -*) continue;; esac
  grep -n BAD "$file" | sed "s|^\\([0-9]*\\):.*|$file:\\1: error: bad type  [bad]|"
done
! grep -q BAD $(for file in "$@"; do case "$file" in -*) ;; *) echo "$file";; esac; done)
"""


async def diagnosed(bench: Workbench, changes: list[FileVersions], *, configured: bool = True) -> list[CheckResult]:
    bench.write(".venv/bin/mypy", MYPY).chmod(0o755)
    if configured:
        bench.write("mypy.ini", "[mypy]\n")
    return await CheckerRun(changes, host(bench), WorkbenchCheckRunner(bench), f"types{os.getpid()}", 60).check(
        preapproved=True
    )


async def test_a_type_checker_that_passes_is_proof(bench: Workbench) -> None:
    (found,) = await diagnosed(bench, changed(bench, a__py=("x", "y")))
    assert found.proves
    assert found.check is not None
    assert (found.check.name, found.check.exit_code, found.check.passed) == ("types", 0, True)


async def test_what_it_found_before_is_not_held_against_the_change_and_what_is_new_is(bench: Workbench) -> None:
    (found,) = await diagnosed(bench, changed(bench, a__py=("BAD\n", "new line\nBAD\n")))
    assert found.check is not None
    assert found.check.passed
    assert found.notes == ["mypy reports the same findings as before the task, and nothing new."]

    (found,) = await diagnosed(bench, changed(bench, a__py=("BAD\n", "BAD\nBAD\n")))
    assert found.check is not None
    assert not found.check.passed
    assert not found.proves
    assert found.check.evidence == "a.py:2: error: bad type  [bad]"


async def test_a_new_file_has_nothing_from_before(bench: Workbench) -> None:
    (found,) = await diagnosed(bench, changed(bench, a__py=(None, "BAD\n")))
    assert found.check is not None
    assert found.check.evidence == "a.py:1: error: bad type  [bad]"


async def test_a_file_that_is_named_like_an_option_is_looked_at_all_the_same(bench: Workbench) -> None:
    bench.write("-x.py", "BAD\n")
    (found,) = await diagnosed(bench, [FileVersions("-x.py", b"", b"BAD\n")])
    assert found.check is not None
    assert found.check.evidence == "./-x.py:1: error: bad type  [bad]"


async def test_a_checker_that_the_project_does_not_configure_is_not_asked(bench: Workbench) -> None:
    assert await diagnosed(bench, changed(bench, a__py=("x", "BAD")), configured=False) == []
    assert await diagnosed(bench, changed(bench, notes__txt=("x", "BAD"))) == []


async def test_a_checker_that_only_the_sidecar_has_is_not_run(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{sys.prefix}/bin")
    assert shutil.which("mypy")
    bench.write("mypy.ini", "[mypy]\n")
    checkers = CheckerRun(
        changed(bench, a__py=("x", "y")), host(bench), WorkbenchCheckRunner(bench), f"types{os.getpid()}", 60
    )
    assert await checkers.check(preapproved=True) == []


#: Finds fault with every line that says BAD, and says it as eslint 9 does; the formatter `unix` is gone there.
ESLINT = """#!/bin/sh
case "$*" in *unix*) echo "The unix formatter is no longer part of core ESLint." >&2; exit 2;; esac
bad=0
for file in "$@"; do
  case "$file" in -*) continue;; esac
  if grep -q BAD "$file"; then
    bad=1
    echo; echo "$PWD/$file"
    grep -n BAD "$file" | sed "s|^\\\\([0-9]*\\\\):.*|  \\\\1:1  error    bad word  no-bad|"
    echo "  1:1  warning  odd  no-odd"
  fi
done
exit $bad
"""


async def test_findings_of_eslint_count_if_they_are_new(bench: Workbench) -> None:
    bench.write("node_modules/.bin/eslint", ESLINT).chmod(0o755)
    bench.write("eslint.config.mjs", "")

    async def found(before: str, after: str) -> CheckResult:
        runner = WorkbenchCheckRunner(bench)
        changes = changed(bench, a__ts=(before, after))
        (result,) = await CheckerRun(changes, host(bench), runner, f"lint{os.getpid()}", 60).check(preapproved=True)
        return result

    new = (await found("BAD\n", "x\nBAD\nBAD\n")).check
    assert new is not None and (new.passed, new.evidence) == (False, "a.ts:3:1: bad word no-bad")
    old = (await found("BAD\n", "x\nBAD\n")).check
    assert old is not None and old.passed
