"""`brain run` in scripts: forms of output, piped input, limits, and commands without an id."""

import json
import os
import subprocess
from pathlib import Path

from tests.e2e.terminal import BRAIN, PROJECT, brain, command, script


def test_only_the_answer_is_printed_and_piped_input_is_context(home: dict[str, str], workspace: Path) -> None:
    model = script(home, "says", *[{"text": "The **answer** is 42.\x1b[31m"}] * 3)
    done = brain(
        "run", "-p", "/ask what is it?", "-m", model, "-w", str(workspace), environ=home, stdin="a diff", cwd=workspace
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "The **answer** is 42.\n"
    task = json.loads(brain("show", "--json", environ=home, cwd=workspace).stdout)
    again = brain("run", "-c", "-o", "json", "/ask again", "-m", model, environ=home, cwd=workspace)
    found = json.loads(again.stdout)
    assert (found["status"], found["conversationId"]) == ("completed", task["conversationId"])
    events = brain("run", "--last", "--output", "events", "/ask more", "-m", model, environ=home, cwd=workspace)
    assert [json.loads(line)["type"] for line in events.stdout.splitlines()][-1] == "status"
    assert len(brain("tasks", "--here", "--json", environ=home, cwd=workspace).stdout.splitlines()) == 3
    assert "No matching" in brain("tasks", "--here", environ=home, cwd=workspace.parent).stdout
    assert "again" in brain("tasks", "--search", "again", environ=home).stdout


def test_a_script_never_waits_and_limits_end_a_task(home: dict[str, str], workspace: Path) -> None:
    looks = [command(f"echo {number}") for number in range(9)]
    model = script(home, "loops", *looks, {"text": "done"})
    arguments = ["run", "/run them", "-m", model, "-p", "--max-turns", "2", "--max-cost", "1"]
    # Standard input is a pipe that stays open and silent.
    silent, other = os.pipe()
    try:
        done = subprocess.run(
            [*BRAIN, *arguments],
            env={**home, "PYTHONPATH": str(PROJECT)},
            cwd=workspace,
            stdin=silent,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    finally:
        os.close(silent)
        os.close(other)
    assert done.returncode == 1
    assert done.stdout == ""
    assert "Nothing came on standard input" in done.stderr


def test_commands_take_the_newest_task_of_this_directory(home: dict[str, str], workspace: Path) -> None:
    model = script(home, "says", {"text": "apples"}, {"text": "pears"})
    assert brain("run", "/ask one", "-m", model, environ=home, cwd=workspace).returncode == 0
    followed = brain("message", "--follow", "and now?", environ=home, cwd=workspace)
    assert followed.returncode == 0, followed.stderr
    assert "pears" in followed.stdout and "apples" not in followed.stdout
    elsewhere = brain("cancel", environ=home, cwd=workspace.parent)
    assert elsewhere.returncode == 1
    assert f"No task worked in {workspace.parent}" in elsewhere.stderr
    assert brain("-v", environ=home).stdout.startswith("brain ")
    assert "No key for groq is stored" in brain("keys", "rm", "groq", environ=home).stderr
