"""S34: what asks only because a workspace isn't trusted gets by your yes what trust gives, and nothing more."""

import socket
from dataclasses import replace
from pathlib import Path

import pytest

from tests.security.sandboxed import SandboxedWorkbench

#: Tries what a test has no need of, and says what went through.
GREEDY = """
import os, socket, unittest
def greedy():
    got = []
    try:
        open(os.path.join({home!r}, ".ssh", "id_rsa")).read(); got.append("key")
    except OSError: pass
    try:
        socket.create_connection(("127.0.0.1", {port}), 2).close(); got.append("network")
    except OSError: pass
    print("GOT", ",".join(got) or "nothing")
class Greedy(unittest.TestCase):
    def test_greedy(self):
        greedy()
"""


@pytest.mark.parametrize("tier", ["bubblewrap", "landlock"])
async def test_s34_tests_that_you_allowed_have_no_network_and_no_keys(
    tmp_path: Path, tier: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    (home / ".ssh").mkdir(parents=True)
    (home / ".ssh/id_rsa").write_text("canary")
    monkeypatch.setenv("HOME", str(home))
    bench = SandboxedWorkbench(tmp_path, tier)
    bench.context = replace(bench.context, approvals="ask")
    with socket.create_server(("127.0.0.1", 0)) as server:
        bench.write("test_greedy.py", GREEDY.format(home=str(home), port=server.getsockname()[1]))
        bench.write("run.sh", "python3 -c 'import test_greedy; test_greedy.greedy()'\n")
        bench.ledger.answer = "allow"
        try:
            allowed = await bench.call("run_command", command="python3 -m unittest test_greedy")
            assert bench.ledger.questions, "the workspace isn't trusted"
            assert "GOT nothing" in allowed.content
            # A command that trust wouldn't let run has what you allowed, and shows that the attempts are real.
            other = await bench.call("run_command", command="sh run.sh")
            assert "GOT" in other.content
            assert "network" in other.content
        finally:
            await bench.executor.close()
