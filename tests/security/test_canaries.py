"""Planted keys are nowhere to be found: not in the journal, the events, the logs, what a model reads, or a command's
environment."""

import base64
import json
from pathlib import Path

from sidecar.config.keys import Keys
from sidecar.telemetry.redaction import REDACTED, Redactor, environment_secrets
from tests.e2e.support import running_sidecar
from tests.support.workbench import workbench

KEY = "canary-0123456789-planted"
LOOKS = "sk-ant-api03-" + "Ab3" * 12


def test_a_planted_key_is_found_nowhere(tmp_path: Path) -> None:
    with running_sidecar(tmp_path, ANTHROPIC_API_KEY=KEY, DATABASE_PASSWORD=f"{KEY}-2") as sidecar:
        (sidecar.workspace / "settings.py").write_text(f"KEY = '{KEY}'\nOTHER = '{LOOKS}'\nPLAIN = 'plain-text'\n")
        slowly = f"printf %s {KEY[:10]}; sleep 0.1; echo {KEY[10:]}"
        replies = [
            {"calls": [{"tool": "read_file", "args": {"path": "settings.py"}}]},
            {"calls": [{"tool": "search_code", "args": {"query": "canary"}}]},
            {"calls": [{"tool": "run_command", "args": {"command": "cat settings.py; env; exit 3"}}]},
            {
                "calls": [
                    {
                        "tool": "run_command",
                        "args": {"command": slowly.replace(KEY[:10], "$(head -c 16 settings.py | tail -c 9)")},
                    }
                ]
            },
            {"calls": [{"tool": "run_command", "args": {"command": ["no-such-program", "x"]}}]},
            {"text": "done"},
        ]
        models = sidecar.script("reads", replies)
        script = (sidecar.data_dir / "scripts" / "reads.json").read_text()
        assert KEY not in script
        task_id = sidecar.execute("x", models=models, approvals="auto", agentType="terminal", intent="run_command")
        with sidecar.stream(task_id) as stream:
            live = [json.dumps(event) for event in stream]
        assert any(REDACTED in event for event in live), "it was redacted, not missing"
        assert any("plain-text" in event for event in live)
        environ = sidecar.post(
            "/api/brain/tools/batch",
            {"calls": [{"tool": "run_command", "args": {"command": "env"}}], "approvals": "auto"},
        ).body.decode()
        sidecar.close()
        kept = [place for place in sidecar.data_dir.rglob("*") if place.is_file()]
        found = [place for place in [*kept, sidecar.log_file] if _holds(place.read_bytes())]
        assert found == []
        assert not [event for event in live if _holds(event.encode())]
        assert not _holds(environ.encode())
        assert "ANTHROPIC_API_KEY" not in environ


def test_what_the_person_says_is_kept_shown_and_read_without_the_secrets_in_it(tmp_path: Path) -> None:
    with running_sidecar(tmp_path, ANTHROPIC_API_KEY=KEY, BRAIN_LET_THROUGH="let-through-0123456789") as sidecar:
        (sidecar.workspace / "AGENTS.md").write_text(f"# Rules\nThe key is {KEY}.\n")
        (sidecar.workspace / "notes.txt").write_text(f"{'x' * 300} {LOOKS}\n")
        replies = [{"calls": [{"tool": "get_workspace_info", "args": {}}]}, {"text": "one"}, {"text": "two"}]
        models = sidecar.script("hears", replies)
        attached = base64.b64encode(f"KEY={KEY}".encode()).decode()
        context = {
            "selectedCode": f"key = '{LOOKS}'",
            "attachments": [{"name": "a.txt", "mediaType": "text/plain", "data": attached}],
        }
        text = f"use {KEY} and {LOOKS}, let-through-0123456789, and look at @notes.txt"
        task_id = sidecar.execute(text, models=models, context=context, intent="edit_code", agentType="coder")
        sidecar.wait_for_end(task_id)
        assert sidecar.post(f"/api/brain/tasks/{task_id}/messages", {"text": f"again {KEY}"}).status < 300
        sidecar.wait_for_end(task_id)
        told = json.dumps([sidecar.task(task_id), sidecar.events(task_id)])
        assert f"{REDACTED}anthropic-key]" in told
        assert "let-through-0123456789" in told
        sidecar.close()
        kept = [place for place in sidecar.data_dir.rglob("*") if place.is_file()]
        assert [place for place in [*kept, sidecar.log_file] if _holds(place.read_bytes())] == []
        assert attached.encode() not in b"".join(place.read_bytes() for place in kept)
        assert not _holds(told.encode())


def _holds(content: bytes) -> bool:
    return KEY.encode() in content or LOOKS.encode() in content


def test_a_value_can_be_let_through_knowingly() -> None:
    redact = Redactor(lambda: {"A_KEY": KEY}, {LOOKS})
    assert redact(f"{KEY} {LOOKS}") == f"{REDACTED}A_KEY] {LOOKS}"


def test_a_key_that_is_put_away_later_is_known_from_then_on_also_when_it_is_taken_out_again(tmp_path: Path) -> None:
    keys = Keys({}, tmp_path)
    redact = Redactor(lambda: {"openai-key": keys.find("openai") or ""}, stamp=keys.stamp)
    assert redact(KEY) == KEY
    (tmp_path / "keys.json").write_text(json.dumps({"openai": {"key": KEY}}))
    assert redact(KEY) == f"{REDACTED}openai-key]"
    keys.remove("openai")
    assert redact(KEY) == f"{REDACTED}openai-key]"


def test_a_secret_that_comes_in_pieces_is_waited_for() -> None:
    redact = Redactor(lambda: {"A_KEY": KEY})
    assert redact.open_end(f"hello {KEY[:7]}") == len("hello ")
    assert redact.open_end("hello\n") == len("hello\n")


def test_what_an_environment_calls_secret_is_known_and_paths_are_not() -> None:
    environ = {"MY_TOKEN": KEY, "SSH_AUTH_SOCK": "/run/x/agent.sock", "PATH": "/usr/bin", "PASSWORD": "short"}
    assert environment_secrets(environ) == {"MY_TOKEN": KEY}


async def test_a_mark_is_never_written_in_the_place_of_a_secret(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        bench.write("settings.py", f"KEY = '{LOOKS}'\nx = 1\n")
        shown = await bench.call("read_file", path="settings.py")
        assert LOOKS not in shown.content and REDACTED in shown.content
        outcome = await bench.call(
            "write_file", path="settings.py", content=f"KEY = '{REDACTED}anthropic-key]'\nx = 2\n"
        )
        assert outcome.error is not None and outcome.error.code == "invalid_arguments"
        assert LOOKS.encode() in bench.read("settings.py")
        edited = await bench.call("edit_file", path="settings.py", oldText="x = 1", newText="x = 2")
        assert edited.status == "success"
        assert bench.read("settings.py") == f"KEY = '{LOOKS}'\nx = 2\n".encode()
