"""Canaries: the tokens of doors and sandboxes are in no log, event, metric, trace, journal or child's environment."""

import json
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from sidecar.config.keys import TOKENS
from tests.e2e.doors import Doors, labeled
from tests.e2e.support import PROJECT, running_sidecar
from tests.waiting import wait_until

CANARIES = {
    names[0]: f"canary{number:02d}-{names[0].lower().replace('_', '')}-9e107d9d"
    for number, names in enumerate(TOKENS.values())
}


@pytest.mark.parametrize("stored", [False, True], ids=["environment", "store"])
def test_tokens_of_doors_are_seen_nowhere(tmp_path: Path, stored: bool) -> None:
    config, data = tmp_path / "config" / "rainy-brain", tmp_path / "data"
    config.mkdir(parents=True)
    data.mkdir(mode=0o700)
    workspace = tmp_path / "workspace"
    text = f'[github]\nallow = ["alice"]\npull_requests = false\n[github.repositories]\n"acme/shop" = "{workspace}"\n'
    (config / "doors.toml").write_text(f'{text}[slack]\nallow = ["U1"]\n[telegram]\nallow = ["1"]\n')
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # nobody listens: every call fails, and failures are logged
        url = f"http://127.0.0.1:{closed.getsockname()[1]}"
        urls = {f"BRAIN_{name}_URL": url for name in ("GITHUB", "LINEAR", "SLACK", "TELEGRAM")}
        if stored:
            entries = {name: {"key": CANARIES[names[0]]} for name, names in TOKENS.items()}
            (data / "keys.json").write_text(json.dumps(entries))
            (data / "keys.json").chmod(0o600)
        given = {} if stored else CANARIES
        with running_sidecar(tmp_path, BRAIN_LOG_FORMAT="json", **urls, **given) as sidecar:
            echo = " ".join(f"${name}" for name in CANARIES)
            (workspace / "leak.txt").write_text("\n".join(CANARIES.values()))  # as if somebody had pasted them
            command = f"env; echo {echo}; cat leak.txt; cat /proc/self/environ"
            calls = [{"calls": [{"tool": "run_command", "args": {"command": command}}]}, {"text": echo}]
            models = sidecar.script("s", calls)
            task_id = sidecar.execute("x", models=models, approvals="auto", intent="run_command", agentType="terminal")
            sidecar.wait_for_end(task_id)
            doors = Doors(sidecar)
            # Its own settings of secrets would win over the stored ones.
            doors.environ = {**sidecar.environ}
            doors.start()
            secret = CANARIES["BRAIN_GITHUB_WEBHOOK_SECRET"]
            assert doors.github("issues", labeled(1), "d-1", secret=secret)[0] == 202
            doors.wait_until_worked_on()
            # The answer to the issue is tried, and fails.
            wait_until(
                lambda: doors.rows("SELECT count(*) FROM outbox WHERE attempts > 0") != [(0,)], what="an attempt"
            )
            doors.end()
            trace = [sys.executable, "-m", "sidecar", "trace", task_id, "--data-dir", str(data)]
            traced = subprocess.run(trace, env=sidecar.environ, capture_output=True, text=True, cwd=PROJECT, check=True)
            seen = [traced.stdout, json.dumps(sidecar.events(task_id)), sidecar.get("/metrics").body.decode()]
            seen += [sidecar.get("/api/brain/tasks").body.decode(), sidecar.get("/api/brain/status").body.decode()]
            sidecar.stop()
            seen += [sidecar.log_file.read_text(), doors.log_file.read_text()]
    files = [place for place in data.rglob("*") if place.is_file() and place.name != "keys.json"]
    for name, canary in CANARIES.items():
        assert not [text[:200] for text in seen if canary in text], name
        assert not [place for place in files if canary.encode() in place.read_bytes()], name
