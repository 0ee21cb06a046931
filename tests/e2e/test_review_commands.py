"""`brain diff` and `brain rewind`, as a person uses them."""

import subprocess
import sys

from tests.e2e.support import PROJECT, RunningSidecar
from tests.e2e.test_review import edited, write


def brain(sidecar: RunningSidecar, *words: str) -> str:
    command = [sys.executable, "-m", "sidecar", *words, "--data-dir", str(sidecar.data_dir)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=20, cwd=PROJECT, env=sidecar.environ)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_a_diff_in_a_pipe_is_a_patch_that_git_takes(sidecar: RunningSidecar) -> None:
    (sidecar.workspace / "a.txt").write_text("one\ntwo\nthree\n")
    task_id = edited(sidecar, write("a.txt", "one\n2\nthree\n"), write("new.txt", "new\n"))
    patch = brain(sidecar, "diff", task_id)
    subprocess.run(
        ["git", "apply", "--reverse", "-"], input=patch, text=True, check=True, cwd=sidecar.workspace, timeout=10
    )
    assert (sidecar.workspace / "a.txt").read_text() == "one\ntwo\nthree\n"
    assert not (sidecar.workspace / "new.txt").exists()


def test_a_rewind_is_previewed_and_done(sidecar: RunningSidecar) -> None:
    task_id = edited(sidecar, write("a.txt", "one\n"))
    assert "1 file would change" in brain(sidecar, "rewind", task_id, "0", "--preview")
    assert (sidecar.workspace / "a.txt").exists()
    assert "deleted" in brain(sidecar, "rewind", task_id, "0")
    assert not (sidecar.workspace / "a.txt").exists()
