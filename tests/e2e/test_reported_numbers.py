"""Reports with numbers, against the real process: commits, files and tests are counted."""

import subprocess
from pathlib import Path

from tests.e2e.support import RunningSidecar
from tests.e2e.verification import RIGHT, project, run_verified, says, write


def commit_all(workspace: Path) -> None:
    for words in (["init", "-q"], ["add", "."], ["-c", "user.name=x", "-c", "user.email=x@x", "commit", "-qm", "all"]):
        subprocess.run(["git", *words], cwd=workspace, check=True, timeout=20)


def test_numbers_that_are_not_so_are_sent_back_with_the_evidence(sidecar: RunningSidecar) -> None:
    project(sidecar)
    commit_all(sidecar.workspace)
    lie = "Created 2 commits, modified 3 files, added 4 tests, all 9 tests pass."
    story = run_verified(sidecar, [write("calc.py", RIGHT), says(lie), says("Fixed add in 1 file; 1 test passes.")])
    assert (story.task["status"], story.task["verified"]) == ("completed", True)
    assert [each["passed"] for each in story.verifications] == [False, True]
    for part in ("0 commits are made", "1 file is changed", "0 new tests are", "at most 1 test passed"):
        assert part in story.evidence(0)


def test_numbers_are_checked_when_nothing_was_done_at_all(sidecar: RunningSidecar) -> None:
    project(sidecar)
    commit_all(sidecar.workspace)
    story = run_verified(sidecar, [says("Created 2 commits, modified 3 files, tests pass.")] * 3)
    assert (story.task["status"], story.task["verified"]) == ("escalated", False)
    assert "0 commits are made" in story.evidence()
    assert "0 files are changed" in story.evidence()


def test_numbers_that_are_so_are_verified(sidecar: RunningSidecar) -> None:
    project(sidecar)
    commit_all(sidecar.workspace)
    commit = "git -c user.name=x -c user.email=x@x commit -qam fixed"
    run = {"calls": [{"tool": "run_command", "args": {"command": commit}}]}
    report = "Created 1 commit, modified 1 file, all 1 tests pass."
    story = run_verified(sidecar, [write("calc.py", RIGHT), run, says(report)])
    assert (story.task["status"], story.task["verified"]) == ("completed", True), story.verifications
    assert not story.retries


def test_tests_that_are_said_to_pass_are_run_though_nothing_was_done(sidecar: RunningSidecar) -> None:
    project(sidecar)
    commit_all(sidecar.workspace)
    story = run_verified(sidecar, [says("All 3 tests pass.")] * 3)
    assert (story.task["status"], story.task["verified"]) == ("escalated", False)
    assert "at most 0 tests passed in any run of this task" in story.evidence()
