"""F24: one data directory, two sidecars: the second refuses and says where the first is; a stale lock is taken over."""

import fcntl
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from sidecar.config.data_dir import AlreadyRunning, DataDir
from sidecar.wire.health import Ready
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


def test_f24_a_start_waits_a_moment_for_what_a_killed_sidecar_was_just_starting(tmp_path: Path) -> None:
    """A process inherits the lock until it runs its program."""
    data = DataDir(tmp_path)
    data.prepare()
    ended = subprocess.Popen(["true"])
    ended.wait(SECONDS)
    orphan = os.open(tmp_path / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(orphan, fcntl.LOCK_EX)
    ready = Ready(url="http://127.0.0.1:1", pid=os.getpid(), token_file="t", version="0")
    (tmp_path / "sidecar.json").write_text(ready.to_json())
    with pytest.raises(AlreadyRunning):
        data.lock()
    (tmp_path / "sidecar.json").write_text(ready.model_copy(update={"pid": ended.pid}).to_json())
    threading.Timer(0.1, os.close, [orphan]).start()
    data.lock()
    assert not (tmp_path / "sidecar.json").exists()
