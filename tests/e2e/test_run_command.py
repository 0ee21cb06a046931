"""`brain run`, with pipes and on a terminal, against real sidecars."""

import json
import os
import re
import signal
from pathlib import Path

import pytest

from tests.e2e.support import RunningSidecar, is_alive, running_sidecar
from tests.e2e.terminal import LONG, brain, command, newest, on_terminal, program, script, sidecar_of
from tests.waiting import wait_until

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
    assert "No such directory: /no/such/place" in done.stderr
    assert not Path(home["BRAIN_DATA_DIR"]).exists()


def test_run_reads_a_long_task_from_standard_input(home: dict[str, str], workspace: Path) -> None:
    assert brain("run", "-", environ=home, cwd=workspace, stdin="list the files\n").returncode == 0


def test_run_goes_on_when_the_sidecar_is_killed_in_the_middle(tmp_path: Path, workspace: Path) -> None:
    with running_sidecar(tmp_path) as sidecar:
        environ = {**sidecar.environ, "BRAIN_DATA_DIR": str(sidecar.data_dir)}
        model = script(environ, "slow", {"text": "one two three four", "deltaMs": 400}, {"text": "never"})
        arguments = ["run", "say it", "--json", "--model", model, "--intent", "run_command"]
        with program(*arguments, environ=environ) as process:
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
    assert "Lost the connection to the sidecar" in errors


def test_run_says_so_when_the_sidecar_was_stopped_under_it(sidecar: RunningSidecar) -> None:
    environ = {**sidecar.environ, "BRAIN_DATA_DIR": str(sidecar.data_dir)}
    model = script(environ, "slow", {"text": "one two three four five six seven", "deltaMs": 2_000})
    with on_terminal("run", "say it", "--model", model, "--intent", "run_command", environ=environ) as terminal:
        terminal.wait_for("terminal 1/1")
        assert sidecar.stop() == 0
        terminal.wait_for("The sidecar was stopped. The task is saved")
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
        terminal.wait_for("Press Ctrl-C again to detach")
        terminal.press_ctrl_c()
        assert terminal.exit_code() == 5
        assert re.search(
            r"Detached; the task continues\. Watch it again: brain show --follow t_[0-9a-f]{8}", terminal.text
        )
    os.kill(sidecar.pid, signal.SIGCONT)
    assert sidecar.get("/api/brain/tasks").json["tasks"][0]["status"] in ("running", "cancelling", "cancelled")


def test_nothing_is_left_on_the_screen_before_an_error(home: dict[str, str], workspace: Path) -> None:
    broken = {**home, "BRAIN_MAX_TASKS": "many"}
    with on_terminal("run", "list the files", environ=broken, cwd=workspace) as terminal:
        assert terminal.exit_code() == 4
        assert "Starting the sidecar …\r\x1b[2Kbrain: The sidecar didn't start" in terminal.raw


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


@pytest.mark.parametrize(("key", "state", "ran"), [("y", "Allowed", True), ("n", "Denied", False)])
def test_a_command_is_shown_in_full_and_asked_about(
    home: dict[str, str], workspace: Path, key: str, state: str, ran: bool
) -> None:
    model = script(home, "asks", command("touch made-by-command"), {"text": "That was all."})
    arguments = ("run", "do it", "--model", model, "--intent", "run_command")
    with on_terminal(*arguments, environ=home, cwd=workspace) as terminal:
        terminal.wait_for("Allow?")
        assert "$ touch made-by-command" in terminal.text
        terminal.press("what?\n")
        terminal.press(f"{key}\n")
        assert terminal.exit_code() == 0
        assert state in terminal.text
    assert (workspace / "made-by-command").exists() is ran


def test_a_command_is_declined_with_a_reason(home: dict[str, str], workspace: Path) -> None:
    model = script(home, "asks", command("touch made-by-command"), {"text": "That was all."})
    arguments = ("run", "do it", "--model", model, "--intent", "run_command")
    with on_terminal(*arguments, environ=home, cwd=workspace) as terminal:
        terminal.wait_for("Allow?")
        terminal.press("n write notes.txt instead\n")
        assert terminal.exit_code() == 0
        assert "Denied" in terminal.text
        assert "› write notes.txt instead" in terminal.text
    assert not (workspace / "made-by-command").exists()


def test_always_is_asked_once_for_the_same_command(home: dict[str, str], workspace: Path) -> None:
    again = command("echo again >> log")
    model = script(home, "twice", again, again, {"text": "That was all."})
    arguments = ("run", "do it", "--model", model, "--intent", "run_command")
    with on_terminal(*arguments, environ=home, cwd=workspace) as terminal:
        terminal.wait_for("Allow?")
        terminal.press("a\n")
        assert terminal.exit_code() == 0
        assert terminal.text.count("needs your approval") == 1
    assert (workspace / "log").read_text() == "again\nagain\n"


def test_a_question_that_is_answered_elsewhere_is_withdrawn(home: dict[str, str], workspace: Path) -> None:
    model = script(home, "asks", command("touch made-by-command"), {"text": "That was all."})
    with on_terminal(
        "run", "do it", "--model", model, "--intent", "run_command", environ=home, cwd=workspace
    ) as terminal:
        terminal.wait_for("Allow?")
        assert brain("approve", newest(home)["id"], "--deny", environ=home).returncode == 0
        assert terminal.exit_code() == 0
        assert "Denied" in terminal.text
    assert not (workspace / "made-by-command").exists()


def test_without_a_terminal_no_one_is_asked_to_let_the_checks_run(home: dict[str, str], workspace: Path) -> None:
    (workspace / "calc.py").write_text("def add(a, b):\n    return a + b\n")
    (workspace / "test_calc.py").write_text("from calc import add\n\n\ndef test_it():\n    assert add(1, 2) == 3\n")
    done = brain("run", "rename add to plus", environ=home, cwd=workspace)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Not verified" in done.stdout
    assert "`brain trust` lets a workspace's checks run" in done.stdout
    assert newest(home)["verified"] is None
    assert brain("trust", str(workspace), environ=home).returncode == 0
    again = brain("run", "rename plus to add", environ=home, cwd=workspace)
    assert again.returncode == 0 and newest(home)["verified"] is True, again.stdout + again.stderr


def test_on_a_terminal_the_checks_of_a_workspace_that_is_not_trusted_are_asked_about(
    home: dict[str, str], workspace: Path
) -> None:
    (workspace / "calc.py").write_text("def add(a, b):\n    return a + b\n")
    (workspace / "test_calc.py").write_text("from calc import add\n\n\ndef test_it():\n    assert add(1, 2) == 3\n")
    with on_terminal("run", "rename add to plus", environ=home, cwd=workspace) as terminal:
        terminal.wait_for("Allow?")
        terminal.press("y\n")
        assert terminal.exit_code() == 0
    assert newest(home)["verified"] is True


def test_ctrl_c_at_a_question_cancels_the_task(home: dict[str, str], workspace: Path) -> None:
    model = script(home, "asks", command("touch made-by-command"))
    with on_terminal(
        "run", "do it", "--model", model, "--intent", "run_command", environ=home, cwd=workspace
    ) as terminal:
        terminal.wait_for("Allow?")
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
        assert "Detached; the task continues" in terminal.text
    assert sidecar.task(task_id)["status"] == "running"


def test_output_that_no_one_reads_any_more_ends_quietly(sidecar: RunningSidecar) -> None:
    environ = {**sidecar.environ, "BRAIN_DATA_DIR": str(sidecar.data_dir)}
    for _ in range(2):
        sidecar.wait_for_end(sidecar.execute("list the files"))
    with program("tasks", environ=environ) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 141
