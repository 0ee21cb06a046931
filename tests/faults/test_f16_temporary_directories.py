"""F16: what a killed sidecar left in the temporary directory is gone after the next start; what is in use stays."""

import fcntl
import os
import subprocess
import time
from pathlib import Path

import pytest

from tests.e2e.support import running_sidecar
from tests.waiting import wait_until
from tools.local import temporary
from tools.local.attribution import trace
from tools.local.sandbox import probe
from tools.local.sandbox.bubblewrap import Bubblewrap


def test_f16_temporary_directories_of_a_killed_sidecar_are_swept_at_the_next_start(tmp_path: Path) -> None:
    place = tmp_path / "tmp"
    place.mkdir()

    def left() -> set[str]:
        return {each.name for each in place.iterdir() if each.name.startswith("brain-")}

    with running_sidecar(tmp_path, TMPDIR=str(place)) as sidecar:
        subprocess.run(["git", "init", "-q"], cwd=sidecar.workspace, check=True)
        models = sidecar.script("work", [{"calls": [{"tool": "git_status", "args": {}}]}, {"text": "done"}])
        sidecar.wait_for_end(sidecar.execute("x", models=models, intent="edit_code", agentType="coder", verify="off"))
        (place / "brain-run-made-by-hand").mkdir()
        traces = sidecar.data_dir / "traces"
        traces.mkdir(exist_ok=True)
        for name in ("old.log", "new.log"):
            (traces / name).write_text("")
        os.utime(traces / "old.log", (0, 0))
        sidecar.kill()
        stale = {name for name in left() if (place / name / "lock").exists()}
        assert stale
        sidecar.start()
        wait_until(lambda: not stale & left(), what="the sweep")
        wait_until(lambda: not (traces / "old.log").exists(), what="the sweep of what commands changed")
        assert (traces / "new.log").exists(), "its task may be resumed"
        assert "brain-run-made-by-hand" in left(), "it has no lock, so somebody may just be making it"
        sidecar.stop()
        assert left() <= {"brain-run-made-by-hand"}


def test_f16_a_sweep_in_the_moment_before_the_lock_leaves_the_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock, swept = fcntl.flock, []

    def sweep_before_the_lock(handle: int, how: int) -> None:
        if how == fcntl.LOCK_EX:
            swept.append(temporary.sweep())
        lock(handle, how)

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(temporary, "_places", {})
    monkeypatch.setattr("atexit.register", lambda *_: None)
    monkeypatch.setattr(fcntl, "flock", sweep_before_the_lock)
    assert Path(temporary.make_directory("test", sweep_before_the_lock)).is_dir()
    assert swept == [0]
    assert temporary.sweep() == 0


def test_f16_what_a_kill_leaves_before_the_lock_is_swept_an_hour_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    left = tmp_path / "brain-run-unlocked"
    left.mkdir()
    assert temporary.sweep() == 0
    os.utime(left, (time.time() - 7_200,) * 2)
    assert temporary.sweep() == 1 and not left.exists()


def test_f16_the_first_tries_of_attribution_and_sandbox_are_in_a_directory_that_is_swept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sidecar that is killed during its start leaves nothing for ever."""
    seen = []

    def stop(place: str) -> None:
        seen.append(Path(place).parent)
        raise OSError("killed")

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(temporary, "_places", {})
    monkeypatch.setattr("atexit.register", lambda *_: None)
    monkeypatch.setattr(trace, "WorkspaceRoot", stop)
    with pytest.raises(OSError, match="killed"):
        trace.attribution_problem.__wrapped__()
    monkeypatch.setattr(Bubblewrap, "wrap", lambda _self, _argv, _access, cwd, _environment: stop(cwd))
    assert not probe.works(Bubblewrap("/usr/bin/bwrap"))
    assert len(seen) == 2 and all((each / "lock").exists() for each in seen), seen
