"""The tool `codegen` in the real process: policy decides about it as about any service outside; its key is unseen."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.support import RunningSidecar, running_sidecar
from tests.support.codegen_server import KEY, CodegenServer
from tests.support.sandboxes import sandbox_toml


@pytest.fixture
def server() -> Iterator[CodegenServer]:
    codegen = CodegenServer()
    codegen.statuses = ["ACTIVE", "COMPLETE"]
    with codegen.running():
        yield codegen


@pytest.fixture
def sidecar(tmp_path: Path, server: CodegenServer) -> Iterator[RunningSidecar]:
    config = tmp_path / "config" / "rainy-brain"
    config.mkdir(parents=True)
    (config / "sandbox.toml").write_text(sandbox_toml(codegen={"organization": 7, "repository": 3, "url": server.url}))
    with running_sidecar(tmp_path, CODEGEN_API_KEY=KEY) as running:
        yield running


def ask(sidecar: RunningSidecar, approvals: str) -> str:
    call = {"tool": "codegen", "args": {"prompt": "sort the users"}}
    models = sidecar.script("s", [{"calls": [call]}, {"text": "done"}])
    return sidecar.execute(
        "sort them", models=models, approvals=approvals, intent="edit_code", review="never", verify="off"
    )


def outcome(sidecar: RunningSidecar, task_id: str) -> dict[str, Any]:
    ended = ("success", "error", "cancelled", "unknown")
    [found] = [each for each in sidecar.events(task_id) if each["type"] == "tool" and each["status"] in ended]
    return found


@pytest.mark.parametrize("approvals", ["auto", "readonly"])
def test_nothing_is_asked_of_codegen_where_no_one_can_allow_it(
    sidecar: RunningSidecar, server: CodegenServer, approvals: str
) -> None:
    task_id = ask(sidecar, approvals)
    sidecar.wait_for_end(task_id)
    assert outcome(sidecar, task_id)["error"]["code"] == "denied"
    assert server.asked == []


def test_codegen_works_once_you_allow_it_and_what_it_says_is_information(
    sidecar: RunningSidecar, server: CodegenServer, tmp_path: Path
) -> None:
    task_id = ask(sidecar, "ask")
    asked = sidecar.wait_for_event(task_id, lambda event: event["type"] == "approval")
    assert "Codegen" in asked["why"] and server.asked == []
    sidecar.post(f"/api/brain/tasks/{task_id}/approvals/{asked['approvalId']}", {"decision": "allow"})
    task = sidecar.wait_for_end(task_id)
    found = outcome(sidecar, task_id)
    assert found["status"] == "success" and found["details"]["url"] == "https://codegen.test/41"
    assert [each["prompt"] for each in server.asked] == ["sort the users"]
    assert task["verified"] is None, "what it says proves nothing"
    sidecar.stop()
    files = [place for place in (tmp_path / "data").rglob("*") if place.is_file()]
    assert not [place for place in [*files, sidecar.log_file] if KEY.encode() in place.read_bytes()]
