"""The whole story of an issue, with the doors and the sidecar killed at random moments: nothing lost, nothing twice."""

import json
import os
import random
import signal
import sqlite3
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.doors import Doors, sign
from tests.e2e.support import PROJECT, RunningSidecar, clean_environ
from tests.e2e.terminal import brain
from tests.e2e.verification import BUGGY, PASSED, RIGHT, TEST, says, write
from tests.faults.scale import scaled
from tests.support.emulate import APP_ID, EmulatedGithub, emulated_github, free_ports, git
from tests.support.linear import LINEAR_TOKEN, EmulatedLinear, emulated_linear
from tests.waiting import wait_until
from tools.local.sandbox.probe import Sandboxes

pytestmark = [
    pytest.mark.skipif(not Sandboxes().available(), reason="this machine has no sandbox"),
    pytest.mark.timeout(900),
]
FILES = {"calc.py": BUGGY, "test_calc.py": TEST}
KILLS = scaled(5, 30)
MODELS = {f"BRAIN_MODEL_{role}": "scripted/story" for role in ("FAST", "SMART", "INSTANT")}
REPOSITORY = "/repos/acme/shop"


class Story:
    def __init__(self, place: Path, github: EmulatedGithub, linear: EmulatedLinear) -> None:
        self.github = github
        self.linear = linear
        self.branch = ""
        workspace = place / "workspace"
        workspace.mkdir()
        for name, content in FILES.items():
            (workspace / name).write_text(content)
        app = {"BRAIN_GITHUB_APP_ID": str(APP_ID), "BRAIN_GITHUB_APP_KEY_FILE": str(place / "app.pem")}
        environ = clean_environ(place, **MODELS, PYTHONPATH=str(PROJECT))
        self.sidecar = RunningSidecar(place / "data", workspace, (), environ)
        self.sidecar.start()
        trusted = self.sidecar.post("/api/brain/trust", {"workspace": str(workspace), "trusted": True})
        assert trusted.status == 200
        self.sidecar.stop()  # from now on the doors start one when they need it
        config = Path(environ["XDG_CONFIG_HOME"]) / "rainy-brain"
        config.mkdir(parents=True, exist_ok=True)
        (config / "doors.toml").write_text(
            f'[github]\nallow = ["acme"]\ngit = "{github.git}"\n[github.repositories]\n"acme/shop" = "{workspace}"\n'
            f'[linear]\nallow = ["alice@example.com"]\n[linear.teams]\nENG = "{workspace}"\n'
        )
        self.doors = Doors(
            self.sidecar,
            free_ports(),
            BRAIN_GITHUB_URL=github.url,
            BRAIN_LINEAR_URL=linear.url,
            BRAIN_LINEAR_TOKEN=LINEAR_TOKEN,
            **app,
        )

    def play(self, content: str, earlier: int) -> None:
        script = {"reviewer": PASSED * 3, "*": [*[says("")] * earlier, write("calc.py", content), says("Mended.")]}
        self.sidecar.script("story", script)

    def deliver(self, send: Callable[[], tuple[int, Any]]) -> None:
        """As a sender does that repeats a delivery until it is taken."""

        def taken() -> bool:
            with suppress(OSError):
                return send()[0] in (200, 202)
            return False

        wait_until(taken, what="a delivery to be taken")

    def linear_hook(self, payload: dict[str, Any]) -> None:
        def send() -> tuple[int, Any]:
            body = json.dumps({**payload, "webhookTimestamp": int(time.time() * 1_000)}).encode()
            return self.doors.post("linear", body, Linear_Signature=sign(body), Linear_Delivery=payload["webhookId"])

        self.deliver(send)

    def github_hook(self, event: str, payload: dict[str, Any], delivery: str) -> None:
        shared = {"repository": {"full_name": "acme/shop"}, "sender": {"login": "acme", "type": "User"}}
        self.deliver(lambda: self.doors.github(event, {**payload, **shared}, delivery))

    def head(self) -> str:
        with suppress(subprocess.CalledProcessError):
            return git(self.github.server.root / "acme/shop.git", "show", f"{self.branch}:calc.py")
        return ""

    def settled(self) -> bool:
        with suppress(sqlite3.Error):
            return self.doors.rows("SELECT count(*) FROM outbox WHERE state = 'waiting'") == [(0,)]
        return False


@contextmanager
def killing(story: Story, seed: int, most: int) -> Iterator[list[str]]:
    """Ends the doors or the sidecar so many times, at random moments, and starts the doors again; what was killed."""
    chance, killed, stop = random.Random(seed), list[str](), threading.Event()

    def kill() -> None:
        while len(killed) < most and not stop.wait(chance.uniform(0.1, 1.2)):
            if chance.random() < 0.6:
                story.doors.end(kill=True)
                killed.append("doors")
                story.doors.start()
            else:
                with suppress(OSError, ValueError, KeyError):
                    ready = json.loads((story.sidecar.data_dir / "sidecar.json").read_text())
                    os.kill(ready["pid"], signal.SIGKILL)
                    killed.append("sidecar")

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        yield killed
    finally:
        stop.set()
        thread.join()


def test_issues_become_merged_pull_requests_though_everything_is_killed_again_and_again(tmp_path: Path) -> None:
    """A story takes a few kills; as many are told as all of them take."""
    left = KILLS
    while left > 0:
        seed = random.randrange(1_000_000)
        print(f"{left} kills left, seed {seed}")
        left -= _play(tmp_path / f"story-{left}", seed, left)


def _play(place: Path, seed: int, most: int) -> int:
    place.mkdir()
    with emulated_github(place, FILES) as github, emulated_linear(place / "linear") as linear:
        story = Story(place, github, linear)
        story.doors.start()
        try:
            with killing(story, seed, most) as killed:
                issue = _tell(story)
            _check(story, issue)
        finally:
            story.doors.end()
            brain("stop", "--data-dir", str(story.sidecar.data_dir), environ=story.sidecar.environ, seconds=60)
    return len(killed)


def wait(holds: Callable[[], object], what: str) -> None:
    """Asks the stand-ins seldom: they have rate limits too."""
    pause = threading.Event()

    def slowly() -> object:
        pause.wait(0.2)
        return holds()

    wait_until(slowly, seconds=240, what=what)


def _tell(story: Story) -> Any:
    story.play(RIGHT, 0)
    issue = story.linear.issue("add subtracts", description="2 + 3 gives -1")
    story.branch = f"brain/{issue['identifier'].lower()}"
    session = {
        "id": story.linear.session(issue),
        "creator": {"id": "u1", "email": "alice@example.com"},
        "issue": {**issue, "description": "2 + 3 gives -1", "team": {"key": "ENG"}},
    }
    event = {"type": "AgentSessionEvent", "action": "created", "agentSession": session, "webhookId": "w-1"}
    story.linear_hook(event)
    wait(lambda: story.linear.activities, what="the first thought")
    wait(lambda: story.linear.attachments, what="the pull request")
    wait(lambda: story.linear.state(issue) == "In Review", what="In Review")
    [pull] = story.github.call("GET", f"{REPOSITORY}/pulls")
    story.play(f'"""Sums."""\n{RIGHT}', 1)
    review = {"body": "Say what the module is for.", "state": "changes_requested"}
    story.github_hook("pull_request_review", {"action": "submitted", "review": review, "pull_request": pull}, "g-1")
    wait(lambda: story.head().startswith('"""Sums'), what="the mended file")
    wait(story.settled, what="the letters")
    pull = {**pull, "merged": True}
    story.github.call("PUT", f"{REPOSITORY}/pulls/{pull['number']}/merge", {"merge_method": "merge"})
    story.github_hook("pull_request", {"action": "closed", "pull_request": pull}, "g-2")
    wait(lambda: story.linear.state(issue) == "Done", what="Done")
    return issue


def _check(story: Story, issue: Any) -> None:
    github, bare = story.github, story.github.server.root / "acme/shop.git"
    wait_until(story.settled, what="the letters")
    assert story.doors.rows("SELECT key, note FROM outbox WHERE state != 'sent'") == []
    assert story.doors.rows("SELECT count(DISTINCT task_id) FROM deliveries WHERE task_id IS NOT NULL") == [(1,)]
    [pull] = github.call("GET", f"{REPOSITORY}/pulls?state=all")
    assert pull["head"]["ref"] == story.branch and story.linear.attachments == [pull["html_url"]]
    commits = git(bare, "rev-list", story.branch).split()
    assert len(commits) == 3, "one commit for each round"
    for commit in commits[:2]:
        runs = github.call("GET", f"{REPOSITORY}/commits/{commit}/check-runs?filter=all")["check_runs"]
        assert [run["conclusion"] for run in runs] == ["success"]
    kinds = [content["type"] for content in story.linear.activities.values()]
    assert kinds[0] == "thought" and kinds.count("thought") == 1 and kinds.count("response") == 2
    assert kinds.count("error") == 0
    assert story.linear.state(issue) == "Done"
    assert story.doors.rows("SELECT * FROM works") == []
