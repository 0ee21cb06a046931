"""The commands as a person or a script uses them, against real sidecars."""

import json
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sidecar.commands import COMMANDS
from tests.e2e.support import (
    PROJECT,
    RunningSidecar,
    clean_environ,
    is_alive,
    running_sidecar,
    wait_until,
)
from tests.e2e.terminal import BRAIN, brain, on_terminal

#: Live output is for those who watch already, so it is said again and again.
LONG = "while :; do echo started; sleep 0.1; done"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    path = tmp_path / "workspace"
    path.mkdir(exist_ok=True)
    (path / "notes.txt").write_text("TODO: water the plants\n")
    return path


@pytest.fixture
def home(tmp_path: Path) -> Iterator[dict[str, str]]:
    """An environment with a data directory of its own; a sidecar that was left there is stopped."""
    environ = clean_environ(tmp_path, BRAIN_DATA_DIR=str(tmp_path / "data"))
    yield environ
    brain("stop", environ=environ)


def script(home: dict[str, str], name: str, *replies: dict[str, Any]) -> str:
    directory = Path(home["BRAIN_DATA_DIR"]) / "scripts"
    directory.mkdir(parents=True, exist_ok=True)
    (directory / f"{name}.json").write_text(json.dumps(replies))
    return f"scripted/{name}"


def command(text: str) -> dict[str, Any]:
    return {"calls": [{"tool": "run_command", "args": {"command": text}}]}


def sidecar_of(home: dict[str, str]) -> dict[str, Any] | None:
    try:
        found: dict[str, Any] = json.loads((Path(home["BRAIN_DATA_DIR"]) / "sidecar.json").read_text())
    except FileNotFoundError:
        return None
    return found


def newest(home: dict[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(brain("show", "--json", environ=home).stdout)
    return found


# -- run ---------------------------------------------------------------------------------------------------------------


def test_run_says_in_plain_lines_what_was_done_and_ends_with_0(home: dict[str, str], workspace: Path) -> None:
    done = brain("run", "search for TODO", environ=home, cwd=workspace)

    assert done.returncode == 0, done.stderr
    assert "notes.txt:1: TODO: water the plants" in done.stdout
    assert "✓ Completed" in done.stdout
    assert "\x1b" not in done.stdout
    assert done.stderr == ""


def test_the_sidecar_that_run_starts_for_itself_is_gone_afterwards(home: dict[str, str], workspace: Path) -> None:
    assert brain("run", "list the files", environ=home, cwd=workspace).returncode == 0
    assert sidecar_of(home) is None


def test_run_uses_the_sidecar_that_is_running_and_leaves_it_running(sidecar: RunningSidecar, tmp_path: Path) -> None:
    environ = {**sidecar.environ, "BRAIN_DATA_DIR": str(sidecar.data_dir)}

    assert brain("run", "list the files", environ=environ, cwd=sidecar.workspace).returncode == 0

    assert [task["task"] for task in sidecar.get("/api/brain/tasks").json["tasks"]] == ["list the files"]
    assert is_alive(sidecar.pid)


def test_run_json_prints_the_events_and_nothing_else(home: dict[str, str], workspace: Path) -> None:
    done = brain("run", "list the files", "--json", environ=home, cwd=workspace)

    events = [json.loads(line) for line in done.stdout.splitlines()]
    durable = [event["seq"] for event in events if "seq" in event]
    assert durable == list(range(1, len(durable) + 1))
    assert (events[0]["status"], events[-1]["status"]) == ("queued", "completed")
    assert done.returncode == 0


def test_a_task_that_fails_ends_with_1_and_says_what_to_do_next(home: dict[str, str], workspace: Path) -> None:
    done = brain("run", "compose a symphony", environ=home, cwd=workspace)

    assert done.returncode == 1
    assert "✗ Failed" in done.stdout
    assert "brain message t_" in done.stdout


def test_a_workspace_that_does_not_exist_is_refused_before_anything_starts(home: dict[str, str]) -> None:
    done = brain("run", "list the files", "--workspace", "/no/such/place", environ=home)

    assert (done.returncode, done.stdout) == (2, "")
    assert "There is no directory /no/such/place" in done.stderr
    assert not Path(home["BRAIN_DATA_DIR"]).exists()


def test_run_reads_a_long_task_from_standard_input(home: dict[str, str], workspace: Path) -> None:
    assert brain("run", "-", environ=home, cwd=workspace, stdin="list the files\n").returncode == 0


def test_run_goes_on_when_the_sidecar_is_killed_in_the_middle(tmp_path: Path, workspace: Path) -> None:
    with running_sidecar(tmp_path) as sidecar:
        environ = {**sidecar.environ, "BRAIN_DATA_DIR": str(sidecar.data_dir)}
        model = script(environ, "slow", {"text": "one two three four", "deltaMs": 400}, {"text": "never"})
        arguments = ["run", "say it", "--json", "--model", model, "--intent", "run_command"]
        with subprocess.Popen(
            [*BRAIN, *arguments], env=environ, cwd=PROJECT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout
            events = []
            for line in process.stdout:
                events.append(json.loads(line))
                if events[-1]["type"] == "delta" and is_alive(sidecar.pid):
                    sidecar.kill()
            errors = process.stderr.read() if process.stderr else ""

    durable = [event["seq"] for event in events if "seq" in event]
    assert durable == list(range(1, len(durable) + 1)), "no gap and no repeat"
    assert process.returncode == 0, errors
    assert events[-1]["status"] == "completed"
    assert "The connection to the sidecar was lost" in errors


def test_run_says_so_when_the_sidecar_was_stopped_under_it(sidecar: RunningSidecar) -> None:
    environ = {**sidecar.environ, "BRAIN_DATA_DIR": str(sidecar.data_dir)}
    model = script(environ, "slow", {"text": "one two three four five six seven", "deltaMs": 2_000})
    with on_terminal("run", "say it", "--model", model, "--intent", "run_command", environ=environ) as terminal:
        terminal.wait_for("terminal 1/1")
        assert sidecar.stop() == 0
        terminal.wait_for("The sidecar was stopped. The task is kept")
        assert terminal.exit_code() == 4


# -- run, on a terminal ------------------------------------------------------------------------------------------------


def test_on_a_terminal_progress_is_drawn_and_erased_again(home: dict[str, str], workspace: Path) -> None:
    model = script(home, "lines", command("echo first; sleep 0.5; echo second; sleep 0.3"), {"text": "That was all."})
    arguments = ("run", "print", "--model", model, "--intent", "run_command", "--approvals", "auto")
    with on_terminal(*arguments, environ=home, cwd=workspace) as terminal:
        assert terminal.exit_code() == 0
        assert "│ second" in terminal.text
        assert "That was all." in terminal.text
        assert "\x1b[2K" in terminal.raw
        assert terminal.text.rstrip().splitlines()[-1].startswith("✓ Completed")


def test_no_color_is_honoured_on_a_terminal(home: dict[str, str], workspace: Path) -> None:
    with on_terminal("run", "list the files", environ={**home, "NO_COLOR": "1"}, cwd=workspace) as terminal:
        assert terminal.exit_code() == 0
        assert not re.search(r"\x1b\[[0-9;]*m", terminal.raw)


def test_what_a_command_prints_cannot_drive_the_terminal(home: dict[str, str], workspace: Path) -> None:
    text = "sleep 0.3; printf '\\033]0;owned\\007\\033[2J\\033[31mred\\n'; sleep 0.3"
    model = script(home, "evil", command(text), {"text": "Done \x1b]52;c;ZXZpbA==\x07 now."})
    arguments = ("run", "print", "--model", model, "--intent", "run_command", "--approvals", "auto")
    with on_terminal(*arguments, environ=home, cwd=workspace) as terminal:
        assert terminal.exit_code() == 0
        assert "\x1b]" not in terminal.raw
        assert "\x1b[2J" not in terminal.raw
        assert "\\x1b]52" in terminal.raw


def test_ctrl_c_cancels_the_task_and_says_what_was_killed(home: dict[str, str], workspace: Path) -> None:
    model = script(home, "long", command(LONG))
    arguments = ("run", "wait", "--model", model, "--intent", "run_command", "--approvals", "auto")
    with on_terminal(*arguments, environ=home, cwd=workspace) as terminal:
        terminal.wait_for("│ started")
        terminal.press_ctrl_c()
        assert terminal.exit_code() == 130
        assert "■ Cancelled" in terminal.text
        killed = re.search(r"killed: .*\(process (\d+)\)", terminal.text)
        assert killed
        assert not is_alive(int(killed[1]))
    assert newest(home)["status"] == "cancelled"


def test_a_second_ctrl_c_leaves_the_task_alone_and_says_how_to_see_it_again(sidecar: RunningSidecar) -> None:
    environ = {**sidecar.environ, "BRAIN_DATA_DIR": str(sidecar.data_dir)}
    model = script(environ, "long", command(LONG))
    arguments = ("run", "wait", "--model", model, "--intent", "run_command", "--approvals", "auto")
    with on_terminal(*arguments, environ=environ, cwd=sidecar.workspace) as terminal:
        terminal.wait_for("│ started")
        # A sidecar that does not answer keeps nobody waiting.
        os.kill(sidecar.pid, signal.SIGSTOP)
        terminal.press_ctrl_c()
        terminal.wait_for("Once more leaves it alone")
        terminal.press_ctrl_c()
        assert terminal.exit_code() == 5
        assert re.search(
            r"Detached; the task goes on\. Watch it again: brain show --follow t_[0-9a-f]{8}", terminal.text
        )
    os.kill(sidecar.pid, signal.SIGCONT)
    assert sidecar.get("/api/brain/tasks").json["tasks"][0]["status"] in ("running", "cancelling", "cancelled")


def test_nothing_is_left_on_the_screen_before_an_error(home: dict[str, str], workspace: Path) -> None:
    broken = {**home, "BRAIN_MAX_TASKS": "many"}
    with on_terminal("run", "list the files", environ=broken, cwd=workspace) as terminal:
        assert terminal.exit_code() == 4
        assert "Starting the sidecar …\r\x1b[2Kbrain: The sidecar could not be started" in terminal.raw


def test_a_task_that_was_left_while_it_was_cancelled_is_cancelled_all_the_same(
    home: dict[str, str], workspace: Path
) -> None:
    model = script(home, "stubborn", command(f"trap '' TERM; {LONG}"))
    arguments = ("run", "wait", "--model", model, "--intent", "run_command", "--approvals", "auto")
    with on_terminal(*arguments, environ=home, cwd=workspace) as terminal:
        terminal.wait_for("│ started")
        terminal.press_ctrl_c()
        terminal.wait_for("■ Cancelling")
        terminal.press_ctrl_c()
        assert terminal.exit_code() in (5, 130)
    wait_until(lambda: newest(home)["status"] == "cancelled", what="the task to be cancelled")


@pytest.mark.parametrize(("key", "state", "ran"), [("y", "allowed", True), ("n", "denied", False)])
def test_a_command_is_shown_in_full_and_asked_about(
    home: dict[str, str], workspace: Path, key: str, state: str, ran: bool
) -> None:
    model = script(home, "asks", command("touch made-by-command"), {"text": "That was all."})
    arguments = ("run", "do it", "--model", model, "--intent", "run_command")
    with on_terminal(*arguments, environ=home, cwd=workspace) as terminal:
        terminal.wait_for("Allow it?")
        assert "$ touch made-by-command" in terminal.text
        terminal.press("what?\n")
        terminal.press(f"{key}\n")
        assert terminal.exit_code() == 0
        assert state in terminal.text
    assert (workspace / "made-by-command").exists() is ran


def test_always_is_asked_once_for_the_same_command(home: dict[str, str], workspace: Path) -> None:
    again = command("echo again >> log")
    model = script(home, "twice", again, again, {"text": "That was all."})
    arguments = ("run", "do it", "--model", model, "--intent", "run_command")
    with on_terminal(*arguments, environ=home, cwd=workspace) as terminal:
        terminal.wait_for("Allow it?")
        terminal.press("a\n")
        assert terminal.exit_code() == 0
        assert terminal.text.count("needs your word") == 1
    assert (workspace / "log").read_text() == "again\nagain\n"


def test_a_question_that_is_answered_elsewhere_is_taken_back(home: dict[str, str], workspace: Path) -> None:
    model = script(home, "asks", command("touch made-by-command"), {"text": "That was all."})
    with on_terminal(
        "run", "do it", "--model", model, "--intent", "run_command", environ=home, cwd=workspace
    ) as terminal:
        terminal.wait_for("Allow it?")
        assert brain("approve", newest(home)["id"], "--deny", environ=home).returncode == 0
        assert terminal.exit_code() == 0
        assert "denied" in terminal.text
    assert not (workspace / "made-by-command").exists()


def test_ctrl_c_at_a_question_cancels_the_task(home: dict[str, str], workspace: Path) -> None:
    model = script(home, "asks", command("touch made-by-command"))
    with on_terminal(
        "run", "do it", "--model", model, "--intent", "run_command", environ=home, cwd=workspace
    ) as terminal:
        terminal.wait_for("Allow it?")
        terminal.press_ctrl_c()
        assert terminal.exit_code() == 130
    assert not (workspace / "made-by-command").exists()


def test_ctrl_c_while_following_only_stops_the_watching(sidecar: RunningSidecar) -> None:
    environ = {**sidecar.environ, "BRAIN_DATA_DIR": str(sidecar.data_dir)}
    models = sidecar.script("long", [command(LONG)])
    task_id = sidecar.execute("wait", intent="run_command", models=models, approvals="auto")
    with on_terminal("show", "--follow", task_id, environ=environ) as terminal:
        terminal.wait_for("run_command")
        terminal.press_ctrl_c()
        assert terminal.exit_code() == 5
        assert "Detached; the task goes on" in terminal.text
    assert sidecar.task(task_id)["status"] == "running"


def test_output_that_nobody_reads_any_more_ends_quietly(sidecar: RunningSidecar) -> None:
    environ = {**sidecar.environ, "BRAIN_DATA_DIR": str(sidecar.data_dir)}
    for _ in range(2):
        sidecar.wait_for_end(sidecar.execute("list the files"))
    with subprocess.Popen(
        [*BRAIN, "tasks"], env=environ, cwd=PROJECT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 141


# -- looking -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def interrupted(tmp_path: Path, home: dict[str, str], workspace: Path) -> str:
    """The id of a task that a sidecar left unfinished when it was stopped."""
    with running_sidecar(tmp_path) as sidecar:
        models = sidecar.script("pausing", [{"text": "Back again.", "delayMs": 1_500}])
        task_id = sidecar.execute("say it", intent="run_command", models=models)
        sidecar.wait_for_event(task_id, lambda event: event["type"] == "model")
        assert sidecar.stop() == 0
    return task_id


def test_looking_at_tasks_needs_no_sidecar_and_sets_nothing_off(home: dict[str, str], interrupted: str) -> None:
    for _ in range(2):
        listed = brain("tasks", "--json", environ=home)
        assert [json.loads(line)["status"] for line in listed.stdout.splitlines()] == ["interrupted"], listed.stderr
    shown = brain("show", interrupted[:8], environ=home)
    assert "interrupted" in shown.stdout
    assert "brain resume --follow" in shown.stdout
    assert sidecar_of(home) is None


def test_a_task_is_cancelled_without_being_started_first(home: dict[str, str], interrupted: str) -> None:
    done = brain("cancel", interrupted, environ=home)

    assert (done.returncode, done.stderr) == (0, "")
    assert "■ Cancelled" in done.stdout
    assert newest(home)["status"] == "cancelled"


def test_resume_goes_on_with_what_was_interrupted(home: dict[str, str], interrupted: str) -> None:
    done = brain("resume", "--follow", interrupted, environ=home)

    assert done.returncode == 0, done.stdout + done.stderr
    assert "Back again." in done.stdout


def test_tasks_is_a_table_with_ids_that_other_commands_take(sidecar: RunningSidecar) -> None:
    environ = {**sidecar.environ, "BRAIN_DATA_DIR": str(sidecar.data_dir)}
    task_id = sidecar.execute("list the files")
    sidecar.wait_for_end(task_id)

    listed = brain("tasks", environ=environ)
    short = listed.stdout.splitlines()[1].split()[0]
    assert task_id.startswith(short)
    assert "✓ Completed" in brain("show", short, environ=environ).stdout
    assert "✓ Completed" in brain("show", "--follow", short, environ=environ).stdout


def test_an_unknown_or_ambiguous_id_is_explained(sidecar: RunningSidecar) -> None:
    environ = {**sidecar.environ, "BRAIN_DATA_DIR": str(sidecar.data_dir)}
    for _ in range(2):
        sidecar.wait_for_end(sidecar.execute("list the files"))

    unknown, ambiguous = brain("show", "t_zz", environ=environ), brain("show", "t_", environ=environ)
    assert "There is no task t_zz" in unknown.stderr
    assert "is the beginning of 2 ids" in ambiguous.stderr
    assert (unknown.returncode, ambiguous.returncode) == (1, 2)


def test_what_the_sidecar_refuses_is_one_clear_line(sidecar: RunningSidecar) -> None:
    environ = {**sidecar.environ, "BRAIN_DATA_DIR": str(sidecar.data_dir)}
    task_id = sidecar.execute("list the files")
    sidecar.wait_for_end(task_id)

    refused = brain("cancel", task_id, environ=environ)
    assert refused.returncode == 1
    assert refused.stderr == "brain: The task is already completed; there is nothing left to cancel.\n"


# -- steering ----------------------------------------------------------------------------------------------------------


def test_a_message_continues_a_task_that_has_ended(home: dict[str, str], workspace: Path) -> None:
    assert brain("run", "list the files", environ=home, cwd=workspace).returncode == 0
    task_id = newest(home)["id"]

    assert brain("message", task_id, "search for TODO", environ=home).returncode == 0
    followed = brain("show", "--follow", task_id, environ=home)
    assert "water the plants" in followed.stdout


def test_an_approval_is_answered_from_another_terminal(home: dict[str, str], workspace: Path) -> None:
    model = script(home, "asks", command("touch made-by-command"), {"text": "That was all."})
    arguments = ["run", "do it", "--model", model, "--intent", "run_command", "--workspace", str(workspace)]
    with subprocess.Popen([*BRAIN, *arguments], env=home, cwd=PROJECT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        for line in process.stdout:
            if "Waiting for your answer" in line:
                break
        task_id = newest(home)["id"]
        assert "touch made-by-command" in brain("approve", task_id, environ=home).stdout
        assert not (workspace / "made-by-command").exists()
        assert brain("approve", task_id, "--allow", environ=home).returncode == 0
        process.stdout.read()
    assert process.returncode == 0
    assert (workspace / "made-by-command").exists()


# -- tools, routes, policy ---------------------------------------------------------------------------------------------


def test_a_tool_is_run_without_a_model(home: dict[str, str], workspace: Path) -> None:
    done = brain("tool", "search_code", "query=TODO", "maxResults=1", environ=home, cwd=workspace)
    assert (done.returncode, "water the plants" in done.stdout) == (0, True)

    refused = brain("tool", "run_command", "command=touch x", environ=home, cwd=workspace)
    assert refused.returncode == 1
    assert "--approvals auto" in refused.stderr
    assert not (workspace / "x").exists()


def test_tools_route_and_policy_answer_and_run_nothing(home: dict[str, str]) -> None:
    assert "search_code" in brain("tools", environ=home).stdout
    assert "run_command" in brain("route", "run the tests", environ=home).stdout
    assert brain("policy", "explain", "git log -5", environ=home).stdout.startswith("ask: ")
    denied = brain("policy", "explain", "sudo rm -rf /", environ=home)
    assert (denied.stdout[:5], denied.returncode) == ("deny:", 1)


# -- the sidecar -------------------------------------------------------------------------------------------------------


def test_serve_says_one_line_on_standard_output_and_ends_with_0(sidecar: RunningSidecar) -> None:
    sidecar.wait_for_end(sidecar.execute("list the files"))
    process = sidecar.process
    assert process
    assert process.stdout
    assert sidecar.ready.keys() == {"event", "url", "pid", "tokenFile", "version"}
    process.send_signal(signal.SIGTERM)
    assert process.stdout.read() == ""
    assert process.wait(2) == 0


def test_serve_ends_when_the_shell_that_started_it_dies(tmp_path: Path) -> None:
    with running_sidecar(tmp_path, "--die-with-parent") as sidecar:
        assert sidecar.process
        assert sidecar.process.stdin
        sidecar.process.stdin.close()
        assert sidecar.process.wait(5) == 0


def test_serve_refuses_what_it_cannot_do_with_its_own_exit_code(sidecar: RunningSidecar, tmp_path: Path) -> None:
    environ = sidecar.environ
    other = str(tmp_path / "other")
    twice = brain("serve", "--port", "0", "--data-dir", str(sidecar.data_dir), environ=environ)
    remote = brain("serve", "--host", "0.0.0.0", "--data-dir", other, environ=environ)
    taken = brain("serve", "--port", str(sidecar.port), "--data-dir", other, environ=environ)
    bad = brain("serve", "--port", "0", "--data-dir", other, environ={**environ, "BRAIN_MAX_TASKS": "many"})

    assert [done.returncode for done in (twice, remote, taken, bad)] == [3, 2, 4, 2]
    assert [done.stdout for done in (twice, remote, taken, bad)] == [""] * 4
    assert "already running" in twice.stderr
    assert "--allow-remote" in remote.stderr
    assert "is taken" in taken.stderr
    assert "BRAIN_MAX_TASKS" in bad.stderr


def test_stop_stops_it_and_says_what_goes_on_later(sidecar: RunningSidecar) -> None:
    environ = {**sidecar.environ, "BRAIN_DATA_DIR": str(sidecar.data_dir)}
    done = brain("stop", environ=environ)
    assert done.returncode == 0
    assert "has stopped" in done.stdout
    assert sidecar.process
    assert sidecar.process.wait(5) == 0
    assert "nothing to stop" in brain("stop", environ=environ).stdout


def test_brain_alone_attaches_to_the_one_that_is_running(sidecar: RunningSidecar) -> None:
    environ = {**sidecar.environ, "BRAIN_DATA_DIR": str(sidecar.data_dir)}
    done = brain("--no-open", environ=environ)
    assert done.returncode == 0
    assert f"is already running at {sidecar.url}" in done.stdout


def test_brain_alone_serves_until_ctrl_c(home: dict[str, str], workspace: Path) -> None:
    with on_terminal("--no-open", "--port", "0", environ=home, cwd=workspace) as terminal:
        terminal.wait_for("Ctrl-C stops it")
        ready = sidecar_of(home)
        assert ready
        terminal.press_ctrl_c()
        assert terminal.exit_code() == 0
        assert not is_alive(ready["pid"])


def test_the_address_of_the_panel_has_a_code_that_works_once(sidecar: RunningSidecar) -> None:
    environ = {**sidecar.environ, "BRAIN_DATA_DIR": str(sidecar.data_dir)}
    url = brain("open", "--print", environ=environ).stdout.strip()
    code = url.removeprefix(f"{sidecar.url}/#code=")
    assert sidecar.token not in url
    traded = sidecar.post("/api/brain/session", {"code": code}, authenticated=False)
    assert traded.json["token"] == sidecar.token
    assert sidecar.post("/api/brain/session", {"code": code}, authenticated=False).status == 401


def test_open_opens_the_browser(sidecar: RunningSidecar, tmp_path: Path) -> None:
    opened = tmp_path / "opened"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\nprintf %s "$1" > {opened}\n')
    browser.chmod(0o755)
    environ = {**sidecar.environ, "BRAIN_DATA_DIR": str(sidecar.data_dir), "BROWSER": f"{browser} %s"}
    assert brain("open", environ=environ).returncode == 0
    wait_until(opened.exists, what="the browser")
    wait_until(lambda: f"{sidecar.url}/#code=" in opened.read_text(), what="the address")


# -- doctor and completion ---------------------------------------------------------------------------------------------


def test_doctor_tells_what_is_there_and_shows_no_key(home: dict[str, str]) -> None:
    environ = {**home, "ANTHROPIC_API_KEY": "sk-very-secret", "BRAIN_MAX_TASKS": "7"}
    done = brain("doctor", environ=environ)
    assert done.returncode == 0, done.stdout
    assert "ANTHROPIC_API_KEY is set" in done.stdout
    assert "max_tasks = 7, from BRAIN_MAX_TASKS" in done.stdout
    assert "very-secret" not in done.stdout + done.stderr
    found = {finding["about"] for finding in json.loads(brain("doctor", "--json", environ=environ).stdout)}
    assert {"program", "data", "sidecar", "journal", "settings", "git", "ripgrep", "sandbox", "processes"} <= found


def test_doctor_ends_with_1_when_nothing_can_work(home: dict[str, str]) -> None:
    done = brain("doctor", environ={**home, "BRAIN_MAX_TASKS": "many"})
    assert done.returncode == 1
    assert "missing" in done.stdout


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash here")
def test_bash_completes_commands_options_and_tasks(sidecar: RunningSidecar, tmp_path: Path) -> None:
    task_id = sidecar.execute("list the files")
    program = tmp_path / "bin" / "brain"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {BRAIN[0]} -m sidecar "$@"\n')
    program.chmod(0o755)
    environ = {
        **sidecar.environ,
        "BRAIN_DATA_DIR": str(sidecar.data_dir),
        "PATH": f"{program.parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(PROJECT),
    }

    def completed(*words: str) -> list[str]:
        line = " ".join(f"'{word}'" for word in ("brain", *words))
        text = f'eval "$(brain completion bash)"; COMP_WORDS=({line}); COMP_CWORD={len(words)}; _brain; '
        done = subprocess.run(
            ["bash", "-c", text + 'printf "%s\\n" "${COMPREPLY[@]}"'],
            env=environ,
            capture_output=True,
            text=True,
            timeout=20,
            check=True,
        )
        return done.stdout.split()

    assert completed("mess") == ["message"]
    assert completed("run", "--approvals", "") == ["ask", "auto", "readonly"]
    assert completed("show", "t_") == [task_id[:10]]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_teaches_itself(name: str, home: dict[str, str]) -> None:
    done = brain(name, "--help", environ=home)
    assert done.returncode == 0
    assert f"brain {name}" in done.stdout
    assert "examples:" in done.stdout
