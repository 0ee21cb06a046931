"""The Python client against the real sidecar."""

from pathlib import Path

import pytest

from sidecar.client import BrainService, Refused
from tests.e2e.support import RunningSidecar


def test_a_program_runs_a_task_and_reads_every_event_once(sidecar: RunningSidecar, workspace: Path) -> None:
    (workspace / "a.txt").write_text("hello\n")
    brain = BrainService(sidecar.url, sidecar.token)
    task = brain.execute("list the files", workspace=str(workspace))
    seqs = [event["seq"] for event in task.events() if event.get("seq")]
    assert seqs == list(range(1, len(seqs) + 1))
    assert task.state()["status"] == "completed"
    assert brain.tasks(limit=1)[0]["id"] == task.id
    assert [event["seq"] for event in task.events(after=seqs[-2])] == seqs[-1:]


def test_the_same_key_starts_one_task(sidecar: RunningSidecar, workspace: Path) -> None:
    brain = BrainService(sidecar.url, sidecar.token)
    first = brain.execute("list the files", workspace=str(workspace), key="once")
    assert brain.execute("list the files", workspace=str(workspace), key="once").id == first.id
    assert first.wait()["status"] == "completed"


def test_a_refusal_has_the_problems_code(sidecar: RunningSidecar) -> None:
    with pytest.raises(Refused) as refusal:
        BrainService(sidecar.url, sidecar.token).task("t_missing").state()
    assert (refusal.value.status, refusal.value.code) == (404, "unknown_task")
