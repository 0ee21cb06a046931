"""S14, S24 in a desktop shell: what the sidecar's own commands cannot do, those that a shell runs cannot either."""

import json
from pathlib import Path

import pytest

from tests.e2e.bridge import shell_process
from tests.e2e.support import RunningSidecar
from tools.local.sandbox.probe import Sandboxes

pytestmark = pytest.mark.skipif(not Sandboxes().available(), reason="this machine has no sandbox")

SCRIPT = """
import os, socket
names = [".e" + "nv", ".vs" + "code/settings.json"]
for name in names:
    os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
    open(name, "w").write("planted")
try:
    open("/etc/planted", "w")
except OSError:
    print("system kept")
try:
    socket.create_connection(("198.51.100.1", 80), 2)
except OSError:
    print("no network")
"""


def test_s24_a_shells_commands_run_inside_the_sandbox_and_write_nothing_protected(sidecar: RunningSidecar) -> None:
    (sidecar.workspace / "make.py").write_text(SCRIPT)
    call = {"tool": "run_command", "args": {"command": "python3 make.py"}}
    models = sidecar.script("plant", [{"calls": [call]}, {"text": "done"}])
    with shell_process(sidecar) as shell:
        task = sidecar.execute("x", models=models, approvals="auto", intent="run_command", agentType="terminal")
        sidecar.wait_for_end(task)
        events = sidecar.events(task)
        assert shell.close() == 0
    (said,) = [event for event in events if event["type"] == "tool" and event["status"] == "error"]
    assert said["executor"] == "shell"
    assert "system kept" in json.dumps(said)
    assert "no network" in json.dumps(said)
    assert not (sidecar.workspace / ".env").exists()
    assert not (sidecar.workspace / ".vscode").exists()
    assert not Path("/etc/planted").exists()
