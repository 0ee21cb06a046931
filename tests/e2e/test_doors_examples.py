"""Every example of a webhook that GitHub's own SDK publishes: good, forged and replayed."""

import hashlib
import json
from pathlib import Path
from typing import Any

from sidecar.doors import github
from sidecar.doors.actions import Ignore, StartTask
from sidecar.doors.settings import GithubDoor
from tests.e2e.doors import Doors
from tests.e2e.support import RunningSidecar
from tests.support.mcp import packages
from tests.waiting import wait_until

EXAMPLES = "@octokit/webhooks-examples@7.6.1"
DOOR = {"label": "bug", "allow": ["Codertocat"], "pull_requests": False}


def examples() -> list[tuple[str, Any]]:
    place = packages.npm(EXAMPLES) / "node_modules/@octokit/webhooks-examples/api.github.com/index.json"
    return [(each["name"], payload) for each in json.loads(place.read_text()) for payload in each["examples"]]


def test_each_example_has_one_effect_or_none_whoever_sends_it_and_however_often(
    sidecar: RunningSidecar, workspace: Path
) -> None:
    sent = examples()
    assert len(sent) > 300
    config = Path(sidecar.environ["XDG_CONFIG_HOME"]) / "rainy-brain"
    config.mkdir(parents=True, exist_ok=True)
    (config / "doors.toml").write_text(
        '[github]\nlabel = "bug"\nallow = ["Codertocat"]\npull_requests = false\n'
        f'[github.repositories]\n"Codertocat/Hello-World" = "{workspace}"\n'
    )
    door = GithubDoor.model_validate({**DOOR, "repositories": {"Codertocat/Hello-World": str(workspace)}})
    doors = Doors(sidecar)
    doors.start()
    try:
        seen: set[bytes] = set()
        for number, (event, payload) in enumerate(sent):
            assert doors.github(event, payload, f"x-{number}", secret="guess")[0] == 401
            digest = hashlib.sha256(json.dumps(payload).encode()).digest()
            expected = 200 if digest in seen else 202
            seen.add(digest)
            assert doors.github(event, payload, f"g-{number}")[0] == expected, event
            assert doors.github(event, payload, f"r-{number}") == (200, {"duplicate": True}), event
        doors.wait_until_worked_on()
        assert doors.rows("SELECT count(*) FROM deliveries") == [(len(seen),)]
        starts = {
            github.subject(event, payload)
            for event, payload in sent
            if isinstance(action := github.read_event(event, payload, door), StartTask) and action.pull is None
        }
        assert starts, "no example asks for anything"
        tasks = sidecar.get("/api/brain/tasks?limit=100").json["tasks"]
        assert {task["conversationId"] for task in tasks} == {f"door:{subject}" for subject in starts}
        assert len(tasks) == len(starts)
        ignored = sum(isinstance(github.read_event(event, payload, door), Ignore) for event, payload in sent)
        assert ignored > 250
        wait_until(lambda: not doors.rows("SELECT 1 FROM deliveries WHERE state = 'dead'"), what="no dead delivery")
    finally:
        doors.end()
