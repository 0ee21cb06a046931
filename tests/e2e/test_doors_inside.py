"""Doors inside the sidecar, with secrets from the store of keys; and deliveries that start schedules."""

import json
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from sidecar.config.keys import Keys
from tests.e2e.doors import SECRET, Doors, labeled, sign
from tests.e2e.support import RunningSidecar, running_sidecar
from tests.waiting import wait_until


@pytest.fixture
def doors(tmp_path: Path) -> Iterator[Doors]:
    config = tmp_path / "config" / "rainy-brain"
    (config / "hooks").mkdir(parents=True, exist_ok=True)
    (config / "schedules").mkdir()
    workspace = tmp_path / "workspace"
    text = f'[github]\nallow = ["alice"]\n[github.repositories]\n"acme/shop" = "{workspace}"\n'
    (config / "doors.toml").write_text(text)
    (config / "hooks" / "nightly.toml").write_text('secret = "BRAIN_HOOK_CI"\nschedule = "look"\n')
    (config / "schedules" / "look.md").write_text(
        f'---\ncron: "0 0 1 1 *"\nworkspace: {workspace}\napprovals: readonly\nmaxPerDay: 1\n---\nlist the files\n'
    )
    (tmp_path / "data").mkdir(mode=0o700)
    # Not in the environment: no keyring is here, so it is in the private file.
    (tmp_path / "data" / "keys.json").write_text(json.dumps({"github-webhook": {"key": SECRET}}))
    assert Keys({}, tmp_path / "data").variable("BRAIN_GITHUB_WEBHOOK_SECRET") == SECRET
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with running_sidecar(tmp_path, BRAIN_DOORS_PORT=str(port), BRAIN_HOOK_CI=SECRET) as sidecar:
        opened = Doors(sidecar)
        opened.address = ("127.0.0.1", port)
        wait_until(lambda: _open(port), what="the doors")
        yield opened


def _open(port: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0


def ended(doors: Doors, sidecar: RunningSidecar) -> list[str]:
    doors.wait_until_worked_on()
    found = [task_id for (task_id,) in doors.rows("SELECT task_id FROM deliveries ORDER BY id")]
    for task_id in found:
        sidecar.wait_for_end(task_id)
    return found


def test_the_sidecar_itself_takes_deliveries_and_stops_with_its_doors(doors: Doors) -> None:
    sidecar = doors.sidecar
    assert doors.github("issues", labeled(1), "d-1") == (202, {"accepted": True})
    assert doors.github("issues", labeled(1), "d-1") == (200, {"duplicate": True})
    assert doors.github("issues", labeled(2), "d-2", secret="guess")[0] == 401
    assert len(ended(doors, sidecar)) == 1
    # Only hooks: the API is elsewhere.
    assert doors.post("../api/brain/tasks", b"{}")[0] == 404
    assert sidecar.stop() == 0
    assert not _open(doors.address[1])


def test_a_delivery_starts_a_schedule_once_and_within_its_limits(doors: Doors) -> None:
    sidecar = doors.sidecar
    body = json.dumps({"number": 1}).encode()
    signature = {"X_Signature_256": f"sha256={sign(body)}"}
    assert doors.post("nightly", body, **signature)[0] == 202
    assert doors.post("nightly", body, **signature)[0] == 200
    (task_id,) = ended(doors, sidecar)
    task = sidecar.task(task_id)
    assert task["task"] == "list the files"
    assert sidecar.get("/api/brain/schedules").json["schedules"][0]["lastTask"] == task_id
    key = {"Idempotency-Key": "again"}
    refused = sidecar.post("/api/brain/schedules/look/start", {}, headers=key)
    assert (refused.status, refused.json["code"]) == (409, "schedule_waits")
    assert sidecar.post("/api/brain/schedules/none/start", {}, headers=key).status == 404
