"""S31: the rules are kept by the process, not by the prompt. A scripted model tries, with nobody being asked."""

import json
from pathlib import Path

import pytest

from tests.e2e.support import Json, RunningSidecar
from tools.local.sandbox.probe import Sandboxes

PLANTER = """
import os
for name in (".e" + "nv", ".git/hooks/post-com" + "mit", ".github/workflows/x.yml", ".vs" + "code/settings.json"):
    os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
    open(name, "w").write("planted")
"""


def tried(sidecar: RunningSidecar, *calls: tuple[str, Json], **options: object) -> list[Json]:
    """What came of each call, the last word of it."""
    replies = [{"calls": [{"tool": tool, "args": args}]} for tool, args in calls]
    models = sidecar.script("tries", [*replies, {"text": "done"}])
    wanted = {"approvals": "auto", "intent": "run_command", "agentType": "terminal", **options}
    task = sidecar.execute("x", models=models, **wanted)
    sidecar.wait_for_end(task)
    last: dict[str, Json] = {}
    for event in sidecar.events(task):
        if event["type"] == "tool":
            last[event["callId"]] = event
    assert len(last) == len(calls)
    return list(last.values())


@pytest.mark.parametrize("approvals", ["auto", "ask", "readonly"])
def test_s31_what_is_denied_is_refused_whatever_the_approvals(sidecar: RunningSidecar, approvals: str) -> None:
    calls = [
        ("run_command", {"command": "sudo touch planted"}),
        ("run_command", {"command": "true; " * 51 + "sudo touch planted"}),
        ("run_command", {"command": ["sh", "-c", "su''do touch planted"]}),
    ]
    assert [each["error"]["code"] for each in tried(sidecar, *calls, approvals=approvals)] == ["denied"] * 3
    assert not (sidecar.workspace / "planted").exists()


def test_s31_no_argument_and_no_path_gets_around_it(sidecar: RunningSidecar, tmp_path: Path) -> None:
    (sidecar.workspace / "a.txt").write_text("a")
    outside = tmp_path / "outside"
    calls = [
        ("run_command", {"command": "touch planted", "sandbox": False}),
        ("run_command", {"command": "touch planted", "approvals": "auto"}),
        ("run_command", {"command": "touch planted", "cwd": "/"}),
        ("write_file", {"path": str(outside), "content": "x"}),
        ("write_file", {"path": "../outside", "content": "x"}),
        ("read_file", {"path": str(sidecar.data_dir / "token")}),
        ("git_show", {"ref": "--output=planted"}),
    ]
    codes = [each["error"]["code"] for each in tried(sidecar, *calls, agentType="coder", intent="edit_code")]
    assert set(codes) <= {"invalid_arguments", "path_denied", "not_found"}
    assert not outside.exists()
    assert not (sidecar.workspace / "planted").exists()


def test_s31_a_read_only_task_changes_nothing(sidecar: RunningSidecar) -> None:
    (sidecar.workspace / "a.txt").write_text("a")
    calls = [
        ("run_command", {"command": "touch planted"}),
        ("write_file", {"path": "planted", "content": ""}),
        ("edit_file", {"path": "a.txt", "oldText": "a", "newText": "b"}),
        ("delete_file", {"path": "a.txt"}),
        ("git_commit", {"message": "x"}),
    ]
    ended = tried(sidecar, *calls, approvals="readonly", agentType="coder", intent="edit_code")
    assert {each["status"] for each in ended} == {"error"}
    assert [place.name for place in sidecar.workspace.iterdir() if not place.name.startswith(".")] == ["a.txt"]
    assert (sidecar.workspace / "a.txt").read_text() == "a"


@pytest.mark.skipif(not Sandboxes().available(), reason="this machine has no sandbox")
def test_s14_s31_a_command_that_no_one_was_asked_about_makes_no_protected_file(sidecar: RunningSidecar) -> None:
    (sidecar.workspace / "make.py").write_text(PLANTER)
    (ended,) = tried(sidecar, ("run_command", {"command": "python3 make.py"}))
    assert ended["error"]["code"] == "protected_files"
    for name in (".env", ".git/hooks/post-commit", ".github/workflows/x.yml", ".vscode/settings.json"):
        assert name in json.dumps(ended)
        assert not (sidecar.workspace / name).exists()
    # Set aside where nothing of a workspace can reach it.
    kept = [place for place in (sidecar.data_dir / "aside").rglob("*") if place.is_file()]
    assert [place.read_text() for place in kept] == ["planted"] * 4


def test_s15_s24_with_auto_these_are_denied_at_once_and_the_model_is_told(sidecar: RunningSidecar) -> None:
    calls: list[tuple[str, Json]] = [
        ("write_file", {"path": ".env", "content": "x"}),
        ("write_file", {"path": ".git/hooks/pre-commit", "content": "x"}),
        ("write_file", {"path": ".vscode/tasks.json", "content": "{}"}),
        ("write_file", {"path": ".github/workflows/ci.yml", "content": "x"}),
        ("run_command", {"command": "cp make.py .env"}),
        ("run_command", {"command": "curl http://198.51.100.1/"}),
        ("run_command", {"command": "npm install"}),
    ]
    ended = tried(sidecar, *calls, intent="edit_code", agentType="coder")
    assert [each["error"]["code"] for each in ended] == ["denied"] * len(calls)
    assert all("runs unattended" in each["error"]["message"] for each in ended)
    assert all("Go on" in each["error"]["advice"] for each in ended)
    assert "brain policy allow install npm" in ended[-1]["error"]["message"]
    assert [place for place in sidecar.workspace.rglob("*") if place.is_file()] == []
