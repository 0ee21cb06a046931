"""F24: one data directory, two sidecars: the second refuses and says where the first is; a stale lock is taken over."""

import subprocess
import sys
from pathlib import Path

from tests.e2e.support import PROJECT, running_sidecar
from tests.waiting import SECONDS


def test_f24_a_second_sidecar_refuses_and_says_where_the_first_one_is(tmp_path: Path) -> None:
    with running_sidecar(tmp_path) as sidecar:
        command = [sys.executable, "-m", "sidecar", "serve", "--port", "0", "--data-dir", str(sidecar.data_dir)]
        second = subprocess.run(
            command, capture_output=True, text=True, timeout=SECONDS, cwd=PROJECT, env=sidecar.environ
        )
        assert second.returncode == 3
        assert second.stdout == ""
        assert sidecar.url in second.stderr
        assert sidecar.get("/health").status == 200


def test_f24_the_lock_of_a_killed_sidecar_is_taken_over(tmp_path: Path) -> None:
    with running_sidecar(tmp_path) as sidecar:
        old = sidecar.token
        sidecar.kill()
        assert (sidecar.data_dir / "lock").exists()
        sidecar.start()
        assert sidecar.token != old
        assert sidecar.get("/api/brain/status").status == 200
