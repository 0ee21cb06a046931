"""A real model end to end. What it says is poor; the path that it says it on must hold."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sidecar.models.local import probe
from tests.e2e.support import PROJECT, RunningSidecar, running_sidecar

PACKAGES = PROJECT / ".venv" / "local-model"
SECONDS = 300.0

pytestmark = [
    pytest.mark.skipif(not PACKAGES.is_dir(), reason="no local model here; `make local-model` fetches one"),
    pytest.mark.timeout(900),
]


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join((str(PACKAGES), str(PROJECT)))}
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.local_model.serve"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environ,
        cwd=PROJECT,
    )
    assert process.stdin and process.stdout
    try:
        address = next(line.split()[1] for line in process.stdout if line.startswith("listening"))
        yield f"{address}/v1"
    finally:
        process.kill()
        process.wait(10)
        process.stdin.close()
        process.stdout.close()


@pytest.fixture
def sidecar(server: str, tmp_path: Path) -> Iterator[RunningSidecar]:
    models = dict.fromkeys(("BRAIN_MODEL_FAST", "BRAIN_MODEL_SMART", "BRAIN_MODEL_INSTANT"), "openai/smollm2")
    environ = {**models, "OPENAI_BASE_URL": server, "BRAIN_MODEL_REPLY_TOKENS": "48"}
    with running_sidecar(tmp_path, **environ) as sidecar:
        (sidecar.workspace / "notes.txt").write_text("water the plants\n")
        yield sidecar


def test_the_server_says_what_it_really_holds(server: str) -> None:
    assert probe(server, "smollm2").context_tokens == 8192


def test_a_task_goes_all_the_way(sidecar: RunningSidecar) -> None:
    task = sidecar.execute("say hello", intent="chat", maxIterations=2)
    ended = sidecar.wait_for_end(task, seconds=SECONDS)
    events = sidecar.events(task)
    said = [event for event in events if event["type"] == "message" and event["role"] == "assistant"]
    called = [event for event in events if event["type"] == "tool"]
    assert said or called, ended
    assert ended["usage"]["inputTokens"] > 100
    assert 0 < ended["usage"]["outputTokens"] <= 48 * 10
    assert ended["status"] == "completed" or ended["error"]["recoverable"], ended


def test_what_is_too_long_for_it_is_said_and_not_cut_off(sidecar: RunningSidecar) -> None:
    task = sidecar.execute("say hello to " + "everybody and " * 5_000, intent="chat", maxIterations=1)
    ended = sidecar.wait_for_end(task, seconds=SECONDS)
    assert (ended["status"], ended["error"]["code"]) == ("failed", "context_overflow")
