"""`brain diff` and `brain rewind`, as a person uses them."""

import subprocess

from tests.e2e.edits import run_edits, write
from tests.e2e.support import RunningSidecar
from tests.e2e.terminal import brain_output
from tests.waiting import SECONDS


def test_a_diff_in_a_pipe_is_a_patch_that_git_takes(sidecar: RunningSidecar) -> None:
    (sidecar.workspace / "a.txt").write_text("one\ntwo\nthree\n")
    task_id = run_edits(sidecar, write("a.txt", "one\n2\nthree\n"), write("new.txt", "new\n"))
    patch = brain_output(sidecar, "diff", task_id)
    subprocess.run(
        ["git", "apply", "--reverse", "-"], input=patch, text=True, check=True, cwd=sidecar.workspace, timeout=SECONDS
    )
    assert (sidecar.workspace / "a.txt").read_text() == "one\ntwo\nthree\n"
    assert not (sidecar.workspace / "new.txt").exists()


def test_a_rewind_is_previewed_and_done(sidecar: RunningSidecar) -> None:
    task_id = run_edits(sidecar, write("a.txt", "one\n"))
    assert "1 file would change" in brain_output(sidecar, "rewind", task_id, "0", "--preview")
    assert (sidecar.workspace / "a.txt").exists()
    assert "deleted" in brain_output(sidecar, "rewind", task_id, "0")
    assert not (sidecar.workspace / "a.txt").exists()
