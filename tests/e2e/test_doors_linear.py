"""Linear as an agent: questions and approvals as elicitations, stop, and the next issue by priority."""

import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.doors import Doors, sign
from tests.e2e.support import RunningSidecar, running_sidecar
from tests.support.linear import LINEAR_TOKEN, EmulatedLinear, emulated_linear
from tests.waiting import wait_until

MODELS = {f"BRAIN_MODEL_{role}": "scripted/story" for role in ("FAST", "SMART", "INSTANT")}
PERSON = {"id": "u1", "email": "alice@example.com"}


@pytest.fixture
def linear(tmp_path: Path) -> Iterator[EmulatedLinear]:
    with emulated_linear(tmp_path / "linear") as opened:
        yield opened


@pytest.fixture
def asking(tmp_path: Path, workspace: Path) -> Iterator[RunningSidecar]:
    with running_sidecar(tmp_path, **MODELS) as sidecar:
        yield sidecar


def open_doors(sidecar: RunningSidecar, linear: EmulatedLinear, more: str = "") -> Doors:
    config = Path(sidecar.environ["XDG_CONFIG_HOME"]) / "rainy-brain"
    config.mkdir(parents=True, exist_ok=True)
    (config / "doors.toml").write_text(
        f'[linear]\nallow = ["u1"]\napprovals = "ask"\n{more}[linear.teams]\nENG = "{sidecar.workspace}"\n'
    )
    doors = Doors(sidecar, BRAIN_LINEAR_URL=linear.url, BRAIN_LINEAR_TOKEN=LINEAR_TOKEN)
    doors.start()
    return doors


def tell(doors: Doors, action: str, session: dict[str, Any], delivery: str, **activity: Any) -> None:
    payload = {"type": "AgentSessionEvent", "action": action, "agentSession": session}
    payload |= {"webhookTimestamp": int(time.time() * 1_000), "webhookId": delivery}
    if activity:
        payload["agentActivity"] = {"user": PERSON, **activity}
    body = json.dumps(payload).encode()
    assert doors.post("linear", body, Linear_Signature=sign(body), Linear_Delivery=delivery)[0] == 202


def session_on(linear: EmulatedLinear, title: str) -> dict[str, Any]:
    issue = linear.issue(title)
    return {"id": linear.session(issue), "creator": PERSON, "issue": {**issue, "team": {"key": "ENG"}}}


def kinds(linear: EmulatedLinear) -> list[str]:
    return [content["type"] for content in linear.activities.values()]


def test_a_session_hears_a_thought_decides_an_approval_and_stops_a_task(
    asking: RunningSidecar, linear: EmulatedLinear
) -> None:
    doors = open_doors(asking, linear)
    try:
        asking.script(
            "story", [{"calls": [{"tool": "run_command", "args": {"command": "make all"}}]}, {"text": "It is made."}]
        )
        session = session_on(linear, "run make all")
        tell(doors, "created", session, "w-1")
        wait_until(lambda: "elicitation" in kinds(linear), what="the question whether it may run")
        assert kinds(linear)[0] == "thought"
        [asked] = [each for each in linear.activities.values() if each["type"] == "elicitation"]
        assert "make all" in asked["body"]
        # Somebody else, and somebody allowed who says more than yes or no, decide nothing.
        tell(doors, "prompted", session, "w-2", content={"body": "allow"}, user={"id": "mallory"})
        tell(doors, "prompted", session, "w-3", content={"body": "allow it perhaps later"})
        doors.wait_until_worked_on()
        [(task_id,)] = doors.rows("SELECT task_id FROM subjects")
        assert asking.task(task_id)["status"] == "waiting"
        tell(doors, "prompted", session, "w-4", content={"body": "Deny"})
        wait_until(lambda: "response" in kinds(linear), what="the answer")
        denied = [each for each in asking.events(task_id) if each["type"] == "approval"]
        assert denied[-1]["state"] == "denied"
        asking.script("story", [{"text": "late", "delayMs": 600_000}])
        other = session_on(linear, "explain everything")
        tell(doors, "created", other, "w-5")
        wait_until(lambda: len(doors.rows("SELECT * FROM subjects")) == 2, what="the second task")
        tell(doors, "prompted", other, "w-6", signal="stop", content={"body": ""})
        wait_until(lambda: "I stopped." in [each.get("body") for each in linear.activities.values()], what="the stop")
    finally:
        doors.end()


def test_the_most_urgent_free_issue_is_picked_when_nothing_is_at_work(
    asking: RunningSidecar, linear: EmulatedLinear
) -> None:
    asking.script("story", [{"text": "Looked at it."}])
    issues = {title: linear.issue(title, priority=priority) for title, priority in (("low", 4), ("urgent", 1))}
    doors = open_doors(asking, linear, 'pick = { team = "ENG", every = 1 }\n')
    try:
        # The stand-in has an issue of its own, of a priority in between.
        wait_until(lambda: kinds(linear).count("response") >= 3, what="three answers")
        tasks = [asking.task(row[0])["task"] for row in doors.rows("SELECT task_id FROM subjects ORDER BY rowid")]
        named = [issues[title]["identifier"] for title in ("urgent", "low")]
        assert [next(each for each in named if f" {each}:" in task) for task in (tasks[0], tasks[-1])] == named
        assert len(tasks) == 3
    finally:
        doors.end()


@pytest.mark.parametrize("moment", ["before", "after"])
def test_an_issue_that_was_picked_right_before_a_kill_gets_one_session_and_one_task(
    asking: RunningSidecar, linear: EmulatedLinear, moment: str
) -> None:
    """Killed when Linear is asked for the session: before it is created, or before we hear of it."""
    asking.script("story", [{"text": "Looked at it."}])
    issue = linear.issue("urgent", priority=1)
    created: list[str] = []

    def count(query: str, variables: Any) -> None:
        if "agentSessionCreateOnIssue" in query:
            created.append(variables["input"]["issueId"])

    def kill(query: str, variables: Any) -> None:
        if "agentSessionCreateOnIssue" in query:
            assert doors.process
            doors.process.kill()
            doors.process.wait(60)
            killed.set()
            if moment == "before":
                raise ConnectionAbortedError  # nobody asks any more

    killed = threading.Event()
    setattr(linear, moment, kill)
    doors = open_doors(asking, linear, 'pick = { team = "ENG", every = 1 }\n')
    assert killed.wait(60)
    doors.end()
    linear.before, linear.after = count, lambda query, variables: None
    doors.start()
    try:
        wait_until(lambda: "response" in kinds(linear), what="the answer")
        [(task_id,), *_] = doors.rows("SELECT task_id FROM subjects ORDER BY rowid")
        assert f" {issue['identifier']}:" in asking.task(task_id)["task"]
        assert doors.rows("SELECT count(*) FROM picking") == [(0,)]
    finally:
        doors.end()
    assert created.count(issue["id"]) == (1 if moment == "before" else 0)
