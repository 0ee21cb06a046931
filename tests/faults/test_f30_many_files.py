"""F30: a task on 50,000 files while the machine is busy: the loop never blocks, and no connection is lost."""

import http.client
import json
import os
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.e2e.support import PROJECT, Json, RunningSidecar, running_sidecar
from tests.faults.scale import FULL

COUNT = 50_500
#: Processor time that the loop may spend at a stretch, whatever else the machine does.
MOST_LOOP_SECONDS = 0.05
#: Between two requests for `/health`: a loop that blocks for longer than allowed meets at least one.
PULSE_SECONDS = 0.04
#: What an answer may take beyond that of an idle sidecar at the same time, and the share that may take longer.
MOST_SECONDS = 0.05
SLOW_SHARE = 0.05
#: A loop that waits for something takes longer than any scheduling.
BLOCKED_SECONDS = 2.0


def fill(workspace: Path, count: int = COUNT) -> None:
    """Quickly: a program that does nothing else. Few contents, because Git writes a file for each of them."""
    program = (
        "import os, sys\n"
        "for d in range(int(sys.argv[2]) // 100):\n"
        "    os.makedirs(f'{sys.argv[1]}/p{d % 50}/d{d}')\n"
        "    for n in range(100):\n"
        "        with open(f'{sys.argv[1]}/p{d % 50}/d{d}/m{n}.py', 'w') as f:\n"
        "            f.write(f'def f{n}_{d % 5}():\\n    return {n}\\n')\n"
    )
    subprocess.run([sys.executable, "-c", program, str(workspace), str(count)], check=True)


class Pulse:
    """Asks for `/health` over and over, and follows a stream, like a second terminal."""

    def __init__(self, sidecar: RunningSidecar) -> None:
        self._sidecar = sidecar
        self._stop = threading.Event()
        self.waits: list[float] = []
        self.problems: list[str] = []

    @contextmanager
    def running(self) -> Iterator["Pulse"]:
        thread = threading.Thread(target=self._run)
        thread.start()
        try:
            yield self
        finally:
            self._stop.set()
            thread.join()

    def _run(self) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self._sidecar.port, timeout=30)
        try:
            while not self._stop.wait(PULSE_SECONDS):
                asked = time.perf_counter()
                connection.request("GET", "/health")
                answer = connection.getresponse()
                answer.read()
                self.waits.append(time.perf_counter() - asked)
                assert answer.status == 200
        except (OSError, http.client.HTTPException, AssertionError) as error:
            self.problems.append(repr(error))
        finally:
            connection.close()

    @property
    def usual_most(self) -> float:
        """What 99 % of the answers took at most."""
        return sorted(self.waits)[int(len(self.waits) * 0.99)]

    def describe(self) -> str:
        return (
            f"{len(self.waits)} requests: median {statistics.median(self.waits) * 1000:.1f} ms, 99 % "
            f"{self.usual_most * 1000:.1f} ms, longest {max(self.waits) * 1000:.1f} ms"
        )


def work(sidecar: RunningSidecar) -> str:
    calls: list[Json] = [
        {"tool": "read_directory_tree", "args": {"depth": 3}},
        {"tool": "find_files", "args": {"pattern": "**/m7.py"}},
        {"tool": "search_code", "args": {"query": "f42_4"}},
        {"tool": "search_code", "args": {"query": "return", "maxResults": 2_000}},
        {"tool": "get_workspace_info", "args": {}},
        {"tool": "get_diagnostics", "args": {}},
        {"tool": "find_symbols", "args": {"query": "f42_4"}},
        {"tool": "find_usages", "args": {"symbol": "f42_4"}},
        {"tool": "describe_project", "args": {}},
        {"tool": "git_status", "args": {}},
        {
            "tool": "run_command",
            "args": {"command": "for f in p1/d1/*.py; do echo '# changed' >> $f; done; git status | tail -1"},
        },
        {"tool": "write_file", "args": {"path": "p1/d1/new.py", "content": "x = 1\n"}},
        {"tool": "review_changes", "args": {}},
    ]
    models = sidecar.script("many", [*({"calls": [call]} for call in calls), {"text": "done"}])
    return sidecar.execute(
        "x", models=models, intent="edit_code", agentType="coder", approvals="auto", maxIterations=30
    )


@pytest.mark.timeout(1_200)
def test_f30_with_fifty_thousand_files_the_loop_never_blocks(tmp_path: Path) -> None:
    (tmp_path / "idle").mkdir()
    measured = tmp_path / "loop.json"
    with (
        running_sidecar(tmp_path / "idle") as idle,
        running_sidecar(tmp_path, LOOP_TIME=str(measured), PYTHONPATH=str(PROJECT)) as sidecar,
    ):
        fill(sidecar.workspace)
        for words in (["init", "-q"], ["add", "."]):
            subprocess.run(["git", *words], cwd=sidecar.workspace, check=True)
        sidecar.close()
        sidecar.launcher = (sys.executable, str(PROJECT / "tests" / "faults" / "loop_time.py"))
        sidecar.start()
        os.kill(sidecar.pid, signal.SIGUSR1)
        busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(20 if FULL else 0)]
        try:
            with Pulse(sidecar).running() as pulse, Pulse(idle).running() as idle_pulse:
                task_id = work(sidecar)
                assert sidecar.wait_for_end(task_id, seconds=600)["status"] in ("completed", "escalated")
                answer = sidecar.post(f"/api/brain/tasks/{task_id}/rewind", {"seq": 0}, timeout=600)
        finally:
            for process in busy:
                process.kill()
                process.wait()
        longest = json.loads(measured.read_text())
        said = f"at work: {pulse.describe()}; idle: {idle_pulse.describe()}; longest at a stretch: {longest}"
        print(said)
        assert not pulse.problems and not idle_pulse.problems
        assert longest["seconds"] < MOST_LOOP_SECONDS, said
        slow = [wait for wait in pulse.waits if wait > MOST_SECONDS + idle_pulse.usual_most]
        assert len(slow) <= SLOW_SHARE * len(pulse.waits), said
        assert max(pulse.waits) < BLOCKED_SECONDS + 4 * max(idle_pulse.waits), said
        assert len(answer.json["files"]) == 101 and not answer.json["conflicts"], json.dumps(answer.json)[:2_000]
