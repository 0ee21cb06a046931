"""F30: no file handle is left: the log stays short and clear, and everything works again when there are some."""

import http.client
import json
import os
import resource
import socket
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.e2e.support import PROJECT, Json, running_sidecar
from tests.waiting import SECONDS, wait_until

SAID = "No file handles are left"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lowers another process's limits")
def test_f30_without_file_handles_the_log_is_short_and_it_works_again_later(tmp_path: Path) -> None:
    with running_sidecar(tmp_path) as sidecar, ExitStack() as clients:
        assert sidecar.wait_for_end(sidecar.execute("list the files"))["status"] == "completed"
        used = len(list(Path(f"/proc/{sidecar.pid}/fd").iterdir()))
        before = sidecar.log_file.stat().st_size
        resource.prlimit(sidecar.pid, resource.RLIMIT_NOFILE, (used + 4, used + 4_096))
        for _ in range(20):
            clients.enter_context(socket.create_connection(("127.0.0.1", sidecar.port)))
        wait_until(lambda: SAID in sidecar.log_file.read_text(), what="the message")
        end = time.monotonic() + 2  # asyncio tries again every second
        wait_until(lambda: time.monotonic() > end, pause=0.1)
        assert sidecar.log_file.stat().st_size - before < 16_384
        said = sidecar.log_file.read_text()
        assert said.count(SAID) == 1 and "Traceback" not in said
        clients.close()
        resource.prlimit(sidecar.pid, resource.RLIMIT_NOFILE, (used + 1_000, used + 4_096))
        assert sidecar.wait_for_end(sidecar.execute("list the files"))["status"] == "completed"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lowers another process's limits")
def test_f30_a_task_without_file_handles_says_so_and_can_be_resumed(tmp_path: Path) -> None:
    with running_sidecar(tmp_path) as sidecar:
        connection = http.client.HTTPConnection("127.0.0.1", sidecar.port)
        headers = {"Authorization": f"Bearer {sidecar.token}", "Content-Type": "application/json"}

        def asked(method: str, path: str, body: dict[str, object] | None = None) -> Json:
            while True:
                connection.request(method, path, json.dumps(body) if body else None, headers)
                answer: Json = json.loads(connection.getresponse().read())
                if answer.get("code") != "no_file_handles":  # a request may need one, too
                    return answer

        asked("GET", "/api/brain/status")
        used = len(list(Path(f"/proc/{sidecar.pid}/fd").iterdir()))
        resource.prlimit(sidecar.pid, resource.RLIMIT_NOFILE, (3, used + 4_096))
        workspace = {"workspace": str(sidecar.workspace)}
        task = asked("POST", "/api/brain/execute", {"task": "explain nothing_of_that_name", "context": workspace})
        path = f"/api/brain/tasks/{task['taskId']}"
        wait_until(lambda: asked("GET", path)["status"] == "failed", what="the end of the task")
        failed = asked("GET", path)
        assert (failed["error"]["code"], failed["error"]["recoverable"]) == ("no_file_handles", True), failed
        log = sidecar.log_file.read_text()
        assert "No file handles are left" in log and "Traceback" not in log
        connection.close()
        resource.prlimit(sidecar.pid, resource.RLIMIT_NOFILE, (used + 1_000, used + 4_096))
        assert sidecar.post(f"{path}/resume", {}).status == 202
        assert "No symbol nothing_of_that_name" in sidecar.wait_for_end(task["taskId"])["error"]["message"]


WITHOUT_HANDLES = """
import os, resource, sqlite3, sys
from sidecar.engine.errors import lacks_handles

def refusal(path):
    try:
        sqlite3.connect(path).execute("SELECT * FROM sqlite_master")
    except sqlite3.OperationalError as error:
        return error

assert not lacks_handles(refusal("/nowhere/at/all.db"))
sqlite3.connect(sys.argv[1]).execute("CREATE TABLE a (b)")
limit = os.open("/dev/null", os.O_RDONLY) + 1
resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
assert lacks_handles(refusal(sys.argv[1]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such limit")
def test_f30_a_database_that_can_t_be_opened_without_handles_is_no_internal_error(tmp_path: Path) -> None:
    argv = [sys.executable, "-c", WITHOUT_HANDLES, str(tmp_path / "a.db")]
    tried = subprocess.run(argv, capture_output=True, text=True, timeout=SECONDS, cwd=PROJECT)
    assert tried.returncode == 0, tried.stderr


def test_f30_a_tree_that_is_too_deep_to_open_is_searched_as_far_as_possible(tmp_path: Path) -> None:
    with running_sidecar(tmp_path) as sidecar:
        (sidecar.workspace / "top.py").write_text("def top():\n    return 1\n")
        here = os.open(".", os.O_RDONLY)
        try:
            os.chdir(sidecar.workspace)
            for _ in range(600):
                Path("directory").mkdir()
                os.chdir("directory")
        finally:
            os.fchdir(here)
            os.close(here)
        calls = [
            {"tool": "find_files", "args": {"pattern": "**/*.py"}},
            {"tool": "search_code", "args": {"query": "nowhere"}},
            {"tool": "describe_project", "args": {}},
            {"tool": "rename_symbol", "args": {"symbol": "top", "newName": "peak"}},
            {"tool": "run_command", "args": {"command": "echo x > new"}},
        ]
        answer = sidecar.post(
            "/api/brain/tools/batch",
            {"workspace": str(sidecar.workspace), "calls": calls, "approvals": "auto", "parallel": False},
        )
        assert [result["status"] for result in answer.json["results"]] == ["success"] * len(calls), answer.body
        assert (sidecar.workspace / "top.py").read_text().startswith("def peak")


def test_f30_a_change_deep_in_a_tree_is_checked_as_fast_as_any(tmp_path: Path) -> None:
    with running_sidecar(tmp_path) as sidecar:
        folder = sidecar.workspace.joinpath(*["directory"] * 250)
        folder.mkdir(parents=True)
        (folder / "leaf.py").write_text("def leaf():\n    return 1\n")
        ended = sidecar.wait_for_end(sidecar.execute("rename leaf to petal", approvals="auto"))
        assert ended["status"] == "completed", ended
        assert (folder / "leaf.py").read_text().startswith("def petal")
