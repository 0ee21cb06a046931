"""S1: no route without a token, no address that others can reach without the explicit flag."""

import subprocess
import sys
from pathlib import Path

from sidecar.api.routes import ROUTES
from tests.e2e.support import PROJECT, RunningSidecar, clean_environ, running_sidecar
from tests.waiting import SECONDS

SESSION = "/api/brain/session"
OPEN = {"/health", "/ready", "/openapi.json", SESSION, f"{SESSION}/challenge", f"{SESSION}/proof"}


def test_s01_every_route_but_the_open_ones_needs_the_token(tmp_path: Path) -> None:
    with running_sidecar(tmp_path) as sidecar:
        for described in ROUTES:
            path = described.path.replace("{task_id}", "t_1").replace("{approval_id}", "a_1")
            body = {} if described.method == "POST" else None
            for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": sidecar.token}):
                answer = sidecar.request(described.method, path, body, headers=headers, authenticated=False)
                if described.path in OPEN:
                    assert answer.status in (200, 422)
                else:
                    assert (answer.status, answer.json["code"]) == (401, "unauthenticated"), described.path
        unknown = sidecar.get("/api/brain/secret", authenticated=False)
        assert unknown.status == 401, "what does not exist is not told to strangers either"


def test_s01_health_says_nothing_but_that_it_is_there(tmp_path: Path) -> None:
    with running_sidecar(tmp_path) as sidecar:
        assert sidecar.get("/health", authenticated=False).json.keys() == {"status", "version"}


def test_s01_an_address_that_others_can_reach_needs_the_flag(tmp_path: Path) -> None:
    for host in ("0.0.0.0", "::", "192.0.2.1", "example.com"):
        command = [sys.executable, "-m", "sidecar", "serve", "--port", "0", "--host", host]
        command += ["--data-dir", str(tmp_path / "data")]
        result = subprocess.run(
            command, capture_output=True, text=True, timeout=SECONDS, cwd=PROJECT, env=clean_environ(tmp_path)
        )
        assert result.returncode == 2
        assert result.stdout == ""
        assert "--allow-remote" in result.stderr


def test_s01_the_token_is_private_and_new_at_each_start(tmp_path: Path) -> None:
    with running_sidecar(tmp_path) as sidecar:
        first = sidecar.token
        assert len(first) >= 43, "256 bits"
        assert _mode(sidecar, "token") == 0o600
        assert sidecar.data_dir.stat().st_mode & 0o777 == 0o700
        sidecar.restart()
        assert sidecar.token != first
        assert (
            sidecar.get("/api/brain/status", headers={"Authorization": f"Bearer {first}"}, authenticated=False).status
            == 401
        )


def _mode(sidecar: RunningSidecar, name: str) -> int:
    return (sidecar.data_dir / name).stat().st_mode & 0o777
