"""F01: killed in the middle of a command with effects. The user decides: run it again, skip it, or look first."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.support import Json, RunningSidecar, running_sidecar
from tests.e2e.terminal import brain_output
from tests.waiting import SECONDS, wait_until

#: It marks each beginning, and ends only when it may.
COMMAND = "echo x >> begun.txt; while [ ! -e go ]; do sleep 0.01; done; echo done >> ended.txt"


@pytest.fixture
def sidecar(tmp_path: Path) -> Iterator[RunningSidecar]:
    with running_sidecar(tmp_path) as running:
        yield running


def lines(sidecar: RunningSidecar, name: str) -> int:
    place = sidecar.workspace / name
    return len(place.read_text().splitlines()) if place.exists() else 0


def killed_midway(sidecar: RunningSidecar, **options: object) -> str:
    task_id = sidecar.execute(f"run `{COMMAND}`", **options)
    die_midway(sidecar, 1)
    return task_id


def die_midway(sidecar: RunningSidecar, times: int) -> None:
    wait_until(lambda: lines(sidecar, "begun.txt") == times, seconds=SECONDS, what="the command")
    sidecar.kill()


def questions(sidecar: RunningSidecar, task_id: str, state: str) -> list[Json]:
    events = sidecar.events(task_id)
    return [event for event in events if event["type"] == "question" and event["state"] == state]


def asked(sidecar: RunningSidecar, task_id: str, number: int = 1) -> Json:
    """The newest question, after so many were asked."""
    wait_until(lambda: len(questions(sidecar, task_id, "asked")) == number, seconds=SECONDS, what="the question")
    question = questions(sidecar, task_id, "asked")[-1]
    assert question["choices"] == ["run again", "skip", "look"]
    assert sidecar.task(task_id)["status"] == "waiting"
    return question


def answer(sidecar: RunningSidecar, task_id: str, question: Json, choice: str) -> int:
    path = f"/api/brain/tasks/{task_id}/questions/{question['questionId']}"
    return sidecar.post(path, {"answer": choice}).status


def test_f01_skipped_it_is_not_repeated_and_the_task_completes(sidecar: RunningSidecar) -> None:
    task_id = killed_midway(sidecar)
    sidecar.restart()
    question = asked(sidecar, task_id)
    assert "may have run" in question["text"] and "begun.txt" in question["text"]
    assert answer(sidecar, task_id, question, "skip") < 300
    assert answer(sidecar, task_id, question, "run again") == 409
    task = sidecar.wait_for_end(task_id, seconds=SECONDS)
    assert task["status"] == "completed", task["error"]
    assert "may have run" in task["result"]["summary"]
    assert (lines(sidecar, "begun.txt"), lines(sidecar, "ended.txt")) == (1, 0)


def test_f01_run_again_runs_it_once_more(sidecar: RunningSidecar) -> None:
    task_id = killed_midway(sidecar)
    sidecar.restart()
    question = asked(sidecar, task_id)
    (sidecar.workspace / "go").touch()
    assert answer(sidecar, task_id, question, "run again") < 300
    assert sidecar.wait_for_end(task_id, seconds=SECONDS)["status"] == "completed"
    assert (lines(sidecar, "begun.txt"), lines(sidecar, "ended.txt")) == (2, 1)
    assert len(questions(sidecar, task_id, "asked")) == 1


def test_f01_a_look_shows_what_changed_and_asks_again_also_after_another_kill(sidecar: RunningSidecar) -> None:
    task_id = killed_midway(sidecar)
    sidecar.restart()
    assert answer(sidecar, task_id, asked(sidecar, task_id), "look") < 300
    second = asked(sidecar, task_id, 2)
    assert "begun.txt" in second["text"].rpartition("Files that changed")[2]
    sidecar.kill()
    sidecar.restart()
    wait_until(lambda: sidecar.task(task_id)["status"] == "waiting", seconds=SECONDS, what="the question")
    assert len(questions(sidecar, task_id, "asked")) == 2, "an open question is not asked twice"
    assert answer(sidecar, task_id, second, "skip") < 300
    assert sidecar.wait_for_end(task_id, seconds=SECONDS)["status"] == "completed"
    assert lines(sidecar, "begun.txt") == 1


def test_f01_killed_again_while_it_is_repeated_it_asks_again(sidecar: RunningSidecar) -> None:
    task_id = killed_midway(sidecar)
    sidecar.restart()
    assert answer(sidecar, task_id, asked(sidecar, task_id), "run again") < 300
    die_midway(sidecar, 2)
    sidecar.restart()
    assert answer(sidecar, task_id, asked(sidecar, task_id, 2), "skip") < 300
    assert sidecar.wait_for_end(task_id, seconds=SECONDS)["status"] == "completed"
    assert lines(sidecar, "begun.txt") == 2


def test_f01_under_auto_policy_skips_it(sidecar: RunningSidecar) -> None:
    task_id = killed_midway(sidecar, approvals="auto")
    sidecar.restart()
    task = sidecar.wait_for_end(task_id, seconds=SECONDS)
    assert task["status"] == "completed", task["error"]
    (answered,) = questions(sidecar, task_id, "answered")
    assert (answered["answer"], answered["by"]) == ("skip", "policy")
    assert lines(sidecar, "begun.txt") == 1


def test_f01_the_command_line_answers_it(sidecar: RunningSidecar) -> None:
    task_id = killed_midway(sidecar)
    sidecar.restart()
    asked(sidecar, task_id)
    brain_output(sidecar, "answer", task_id, "skip")
    assert sidecar.wait_for_end(task_id, seconds=SECONDS)["status"] == "completed"
