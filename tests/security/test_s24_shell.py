"""S14, S24 in a desktop shell: what the sidecar's own commands cannot do, those that a shell runs cannot either."""

import json
import shutil
import socket
import tempfile
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
#: Asks the gateway for a tunnel to each host, and opens a file in each place.
SEE = """
import os, socket, urllib.parse
said = []
proxy = urllib.parse.urlsplit(os.environ["HTTP_PROXY"])
for host in ("localhost", "example.com"):
    with socket.create_connection((proxy.hostname, proxy.port), 10) as own:
        own.sendall(f"CONNECT {{host}}:{port} HTTP/1.1\\r\\n\\r\\n".encode())
        said.append(f"{{host}} {{own.recv(100).split()[1].decode()}}")
for place in {places!r}:
    said.append(f"read {{os.path.exists(place + '/data.txt')}}")
print(", ".join(said))
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


def test_s24_a_shells_commands_have_what_you_granted_and_no_more(sidecar: RunningSidecar, tmp_path: Path) -> None:
    if not Sandboxes().reaches_hosts():
        pytest.skip("this machine's sandbox reaches no granted host")
    home = Path(sidecar.environ["HOME"]) if "HOME" in sidecar.environ else Path.home()
    shared, other = (Path(tempfile.mkdtemp(prefix="brain-shared-", dir=home)) for _ in range(2))
    with socket.create_server(("127.0.0.1", 0)) as server, shell_process(sidecar) as shell:
        for place in (shared, other):
            (place / "data.txt").write_text("canary")
        (sidecar.workspace / "see.py").write_text(
            SEE.format(port=server.getsockname()[1], places=[str(shared), str(other)])
        )
        for kind, value in (("read", str(shared)), ("host", "localhost")):
            body = {"workspace": str(sidecar.workspace), "kind": kind, "value": value}
            assert sidecar.post("/api/brain/grants", body).status == 200
        call = {"tool": "run_command", "args": {"command": "python3 see.py"}}
        models = sidecar.script("see", [{"calls": [call]}, {"text": "done"}])
        task = sidecar.execute("x", models=models, approvals="auto", intent="run_command", agentType="terminal")
        sidecar.wait_for_end(task)
        events = sidecar.events(task)
        assert shell.close() == 0
    for place in (shared, other):
        shutil.rmtree(place)
    (said,) = [event for event in events if event["type"] == "tool" and event["status"] == "success"]
    assert said["executor"] == "shell"
    assert "localhost 200, example.com 403, read True, read False" in json.dumps(said)
