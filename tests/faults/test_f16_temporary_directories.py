"""F16: what a killed sidecar left in the temporary directory is gone after the next start; what is in use stays."""

import os
import subprocess
from pathlib import Path

from tests.e2e.support import running_sidecar, wait_until


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
