"""`brain doors` as senders meet it: real processes, real signatures, real tasks."""

import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.e2e.doors import Doors, labeled, sign
from tests.e2e.support import RunningSidecar


@pytest.fixture
def doors(sidecar: RunningSidecar, workspace: Path) -> Iterator[Doors]:
    config = Path(sidecar.environ["XDG_CONFIG_HOME"]) / "rainy-brain"
    (config / "hooks").mkdir(parents=True, exist_ok=True)
    (config / "doors.toml").write_text(
        f'[github]\nallow = ["alice"]\n[github.repositories]\n"acme/shop" = "{workspace}"\n'
    )
    (config / "hooks" / "ci.toml").write_text(
        f'secret = "BRAIN_HOOK_CI"\nworkspace = "{workspace}"\ntask = "search for {{word}}"\napprovals = "readonly"\n'
    )
    opened = Doors(sidecar)
    opened.start()
    yield opened
    opened.end()


def test_a_labelled_issue_becomes_one_task_that_its_text_gives_no_rights(doors: Doors, sidecar: RunningSidecar) -> None:
    assert doors.github("issues", labeled(1), "d-1") == (202, {"accepted": True})
    assert doors.github("issues", labeled(1), "d-1") == (200, {"duplicate": True})
    # Nothing signs the id: the same bytes under another one are a replay.
    assert doors.github("issues", labeled(1), "d-2") == (200, {"duplicate": True})
    doors.wait_until_worked_on()
    [(state, task_id)] = doors.rows("SELECT state, task_id FROM deliveries")
    assert state == "done"
    assert [task["id"] for task in sidecar.get("/api/brain/tasks").json["tasks"]] == [task_id]
    assert sidecar.wait_for_end(task_id)["task"].startswith("Resolve issue #1 of acme/shop")


def test_bad_signatures_large_bodies_and_closed_doors_store_nothing(doors: Doors) -> None:
    assert doors.github("issues", labeled(1), "d-1", secret="guess")[0] == 401
    assert doors.post("github", b"{}")[0] == 401
    stale = json.dumps({"webhookTimestamp": (time.time() - 61) * 1_000}).encode()
    assert doors.post("linear", stale, Linear_Signature=sign(stale))[0] == 401
    assert doors.post("ci", b"x" * (4 * 1024 * 1024 + 1))[0] == 413
    assert doors.post("ci", b"[]", X_Signature_256=f"sha256={sign(b'[]')}")[0] == 400
    for name in ("nothing", "..%2fdoors", "CI", "%00", "ci%2f..%2fci"):
        assert doors.post(name, b"{}")[0] == 404, name
    assert doors.rows("SELECT * FROM deliveries") == []


@pytest.mark.parametrize(
    "body",
    [
        rb'{"word": "\ud800"}',
        rb'{"action": "labeled", "repository": {"full_name": "\udfff/\ud800"}, "issue": {"number": 1}}',
        b'{"action": "review_requested", "pull_request": {"number": "x", "head": [], "requested_reviewers": [7]}}',
        b'{"word": %s1%s}' % (b"[" * 90_000, b"]" * 90_000),
        b'{"word": 1e999, "issue": {"number": 99999999999999999999999999}}',
        b'{"word": "\xff"}',
        '{"word": "UTF-16"}'.encode("utf-16"),
    ],
    ids=["half a character", "in a name", "other types", "deep", "large numbers", "no UTF-8", "UTF-16"],
)
def test_a_signed_delivery_of_an_odd_form_harms_no_other(doors: Doors, sidecar: RunningSidecar, body: bytes) -> None:
    signature = f"sha256={sign(body)}"
    for name, header in (("ci", "X_Signature_256"), ("github", "X_Hub_Signature_256")):
        for event in ("issues", "pull_request", "check_run"):
            assert doors.post(name, body, X_GitHub_Event=event, **{header: signature})[0] in (200, 202, 400)
    assert doors.github("issues", labeled(1), "d-1")[0] == 202
    doors.wait_until_worked_on()
    [(task_id,)] = doors.rows("SELECT task_id FROM deliveries WHERE delivery_id = 'd-1'")
    assert sidecar.wait_for_end(task_id)["status"]


def test_slack_gets_its_challenge_back(doors: Doors) -> None:
    body = json.dumps({"type": "url_verification", "challenge": "abc"}).encode()
    now = str(int(time.time()))
    signature = f"v0={sign(b'v0:' + now.encode() + b':' + body)}"
    answer = doors.post("slack", body, X_Slack_Signature=signature, X_Slack_Request_Timestamp=now)
    assert answer == (200, {"challenge": "abc"})


def test_a_hook_of_ones_own_starts_the_task_of_its_template(doors: Doors, sidecar: RunningSidecar) -> None:
    body = json.dumps({"word": "TODO"}).encode()
    assert doors.post("ci", body, X_Signature_256=f"sha256={sign(body)}")[0] == 202
    doors.wait_until_worked_on()
    [(task_id,)] = doors.rows("SELECT task_id FROM deliveries")
    assert sidecar.wait_for_end(task_id)["task"] == "search for TODO"


def test_deliveries_at_once_are_all_kept_and_killing_the_process_starts_none_twice(
    doors: Doors, sidecar: RunningSidecar
) -> None:
    with ThreadPoolExecutor(40) as pool:
        answers = list(pool.map(lambda number: doors.github("issues", labeled(number), f"d-{number}")[0], range(40)))
    assert answers == [202] * 40
    doors.end(kill=True)
    doors.start()
    doors.wait_until_worked_on()
    assert doors.rows("SELECT count(*), count(DISTINCT task_id) FROM deliveries WHERE state = 'done'") == [(40, 40)]
    assert len(sidecar.get("/api/brain/tasks?limit=100").json["tasks"]) == 40


def test_comments_on_one_issue_reach_its_task_in_order_and_stop_cancels(doors: Doors, sidecar: RunningSidecar) -> None:
    doors.github("issues", labeled(9), "d-0")
    for number in range(3):
        comment = {"body": f"@rainy-brain list the files {number}"}
        doors.github("issue_comment", {**labeled(9), "action": "created", "comment": comment}, f"c-{number}")
    doors.wait_until_worked_on()
    assert len(doors.rows("SELECT DISTINCT task_id FROM deliveries")) == 1
    [(task_id,)] = doors.rows("SELECT task_id FROM subjects")
    events = sidecar.get(f"/api/brain/tasks/{task_id}/events").json["events"]
    said = [event["text"] for event in events if event["type"] == "message" and event["role"] == "user"]
    assert said[1:] == [f"@rainy-brain list the files {number}" for number in range(3)]
