"""The first minute without a key: from a sentence to a project, through the real process."""

import tempfile
import time
from datetime import datetime
from pathlib import Path

from tests.benchmarks.result import Result
from tests.e2e.support import RunningSidecar, running_sidecar

ROUNDS = 5


async def run() -> list[Result]:
    small, few = _written("create a python package called textkit")
    many, files = _written("create a react app called todo-list")
    with tempfile.TemporaryDirectory() as directory:
        whole, proven = _proven(Path(directory))
    return [
        Result(f"scaffold a python package, its {few} files", small, "s", most=2),
        Result(f"scaffold a react app, its {files} files", many, "s", most=5),
        Result("python package: POST to its tests passing", whole, "s", most=10),
        Result("python package: POST to verified", proven, "s", most=10),
    ]


def _written(task: str) -> tuple[float, int]:
    """From the request to the last file, each time by a new process in a new workspace; nothing is installed or run."""
    took, files = [], 0
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory() as directory, running_sidecar(Path(directory)) as sidecar:
            began = time.time()
            task_id = sidecar.execute(task)
            sidecar.wait_for_event(
                task_id, lambda event: event["type"] == "step" and event["message"] == "Install", seconds=60
            )
            written = [event for event in sidecar.events(task_id) if _is_written(event)]
            took.append(max(_seconds(event["at"]) for event in written) - began)
            files = len(written)
    return min(took), files


def _proven(directory: Path) -> tuple[float, float]:
    """From the request to the end of the project's own tests, and to the end of the task, which verifies it."""
    with running_sidecar(directory) as sidecar:
        _trust(sidecar)
        began = time.time()
        done = sidecar.wait_for_end(sidecar.execute("create a python package called textkit"), seconds=120)
        assert done["result"]["verification"]["passed"] is True, done
        ran = [event for event in sidecar.events(done["id"]) if event["type"] == "tool" and _passed(event)]
        return _seconds(ran[0]["at"]) - began, time.time() - began


def _trust(sidecar: RunningSidecar) -> None:
    assert sidecar.post("/api/brain/trust", {"workspace": str(sidecar.workspace), "trusted": True}).status == 200


def _is_written(event: dict[str, object]) -> bool:
    return event["type"] == "tool" and event["tool"] == "create_file" and event["status"] == "success"


def _passed(event: dict[str, object]) -> bool:
    return event["tool"] == "run_tests" and event["status"] == "success"


def _seconds(at: str) -> float:
    return datetime.fromisoformat(at).timestamp()
