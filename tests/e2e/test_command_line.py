"""The commands that look, steer and manage, as a person or a script uses them, against real sidecars."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from sidecar.commands.table import COMMANDS
from tests.e2e.support import PROJECT, RunningSidecar, is_alive, running_sidecar
from tests.e2e.terminal import BRAIN, brain, command, newest, on_terminal, script, sidecar_of
from tests.waiting import SECONDS, wait_until

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
    assert "No task t_zz" in unknown.stderr
    assert "matches 2 tasks" in ambiguous.stderr
    assert (unknown.returncode, ambiguous.returncode) == (1, 2)


def test_what_the_sidecar_refuses_is_one_clear_line(sidecar: RunningSidecar) -> None:
    environ = {**sidecar.environ, "BRAIN_DATA_DIR": str(sidecar.data_dir)}
    task_id = sidecar.execute("list the files")
    sidecar.wait_for_end(task_id)

    refused = brain("cancel", task_id, environ=environ)
    assert refused.returncode == 1
    assert refused.stderr == "brain: The task has already ended (completed); there is nothing left to cancel.\n"


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
    with on_terminal(*arguments, environ=home) as terminal:
        terminal.wait_for("Allow?")
        task_id = newest(home)["id"]
        assert "touch made-by-command" in brain("approve", task_id, environ=home).stdout
        assert not (workspace / "made-by-command").exists()
        assert brain("approve", task_id, "--allow", environ=home).returncode == 0
        assert terminal.exit_code() == 0
    assert (workspace / "made-by-command").exists()
    for look, answer in ((["approve"], ["--allow"]), (["answer"], ["skip"])):
        assert brain(*look, task_id, environ=home).returncode == 0
        assert brain(*look, task_id, *answer, environ=home).returncode == 1


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


def test_route_knows_the_commands_of_the_workspace_that_one_is_in(sidecar: RunningSidecar, tmp_path: Path) -> None:
    environ = {**sidecar.environ, "BRAIN_DATA_DIR": str(sidecar.data_dir)}
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / ".brain" / "commands").mkdir(parents=True)
    (elsewhere / ".brain" / "commands" / "ship.md").write_text("---\nintent: run_command\n---\nRelease it.")
    assert brain("trust", environ=environ, cwd=elsewhere).returncode == 0
    assert "you wrote /ship" in brain("route", "/ship", environ=environ, cwd=elsewhere).stdout
    assert "you wrote /ship" not in brain("route", "/ship", environ=environ, cwd=sidecar.workspace).stdout


# -- the sidecar -------------------------------------------------------------------------------------------------------


def test_serve_says_one_line_on_standard_output_and_ends_with_0(sidecar: RunningSidecar) -> None:
    sidecar.wait_for_end(sidecar.execute("list the files"))
    process = sidecar.process
    assert process
    assert process.stdout
    assert sidecar.ready.keys() == {"event", "url", "pid", "tokenFile", "version"}
    process.send_signal(signal.SIGTERM)
    assert process.stdout.read() == ""
    assert process.wait(SECONDS) == 0


def test_serve_ends_when_the_shell_that_started_it_dies(tmp_path: Path) -> None:
    with running_sidecar(tmp_path, "--die-with-parent") as sidecar:
        assert sidecar.process
        assert sidecar.process.stdin
        sidecar.process.stdin.close()
        assert sidecar.process.wait(SECONDS) == 0


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
    assert "is in use" in taken.stderr
    assert "BRAIN_MAX_TASKS" in bad.stderr


def test_stop_stops_it_and_says_what_goes_on_later(sidecar: RunningSidecar) -> None:
    environ = {**sidecar.environ, "BRAIN_DATA_DIR": str(sidecar.data_dir)}
    done = brain("stop", environ=environ)
    assert done.returncode == 0
    assert "has stopped" in done.stdout
    assert sidecar.process
    assert sidecar.process.wait(SECONDS) == 0
    assert "No sidecar is running" in brain("stop", environ=environ).stdout


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


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_brain_without_a_terminal_prints_the_ready_line_and_ends_by_a_signal(
    home: dict[str, str], workspace: Path, number: signal.Signals
) -> None:
    environ = {**home, "PYTHONPATH": str(PROJECT)}
    command = [*BRAIN, "--no-open", "--port", "0"]
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, env=environ, cwd=workspace, text=True, **pipes) as process:  # type: ignore[call-overload]
        ready = json.loads(process.stdout.readline())
        assert ready["event"] == "ready"
        assert ready == sidecar_of(home)
        process.send_signal(number)
        stdout, stderr = process.communicate(timeout=SECONDS)
    assert (process.returncode, stdout) == (0, "")
    assert "The sidecar has stopped." in stderr and not is_alive(ready["pid"])


def test_the_panel_takes_a_free_port_if_the_usual_one_is_taken(home: dict[str, str], workspace: Path) -> None:
    with socket.socket() as other:
        with suppress(OSError):  # then it is taken already
            other.bind(("127.0.0.1", 3847))
            other.listen()
        with on_terminal("--panel", "--no-open", environ=home, cwd=workspace) as terminal:
            terminal.wait_for("Ctrl-C stops it")
            ready = sidecar_of(home)
            assert ready
            assert not ready["url"].endswith(":3847")
            terminal.press_ctrl_c()
            assert terminal.exit_code() == 0


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
    wait_until(lambda: opened.read_text().startswith(sidecar.data_dir.as_uri()), what="the redirect file")


# -- doctor and completion ---------------------------------------------------------------------------------------------


def test_doctor_tells_what_is_there_and_shows_no_key(home: dict[str, str]) -> None:
    environ = {**home, "ANTHROPIC_API_KEY": "sk-very-secret", "BRAIN_MAX_TASKS": "7"}
    done = brain("doctor", environ=environ)
    assert done.returncode == 0, done.stdout
    assert "ANTHROPIC_API_KEY in the environment" in done.stdout
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
            timeout=SECONDS,
            check=True,
        )
        return done.stdout.split()

    assert completed("mess") == ["message"]
    assert completed("run", "--approvals", "") == ["ask", "edits", "auto", "readonly"]
    assert completed("show", "t_") == [task_id[:10]]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_teaches_itself(name: str, home: dict[str, str]) -> None:
    done = brain(name, "--help", environ=home)
    assert done.returncode == 0
    assert f"brain {name}" in done.stdout
    assert "examples:" in done.stdout


HEAVY = {"pydantic", "asyncio", "starlette", "uvicorn"}


@pytest.mark.parametrize("name", ["tasks", "run", "show", "approve", "diff", "tools", "open"])
def test_a_command_that_only_talks_to_a_sidecar_imports_nothing_heavy(name: str) -> None:
    code = f"""
import sys
from sidecar.cli import main
from sidecar.commands.parser import handler
handler({COMMANDS[name].handler!r})
try: main([{name!r}, "--help"])
except SystemExit: pass
print(*sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=PROJECT, check=True)
    assert not HEAVY & set(done.stdout.splitlines()[-1].split())


def test_what_nothing_depends_on_may_be_a_wrong_name(home: dict[str, str], workspace: Path) -> None:
    found = brain("impact", "nowhere", environ=home, cwd=workspace)
    assert found.returncode == 0, found.stderr
    assert "Whether it exists: brain search nowhere\n" in found.stdout
    assert "Whether it exists" not in brain("impact", "notes.txt", environ=home, cwd=workspace).stdout


@pytest.mark.skipif(sys.platform == "win32", reason="a directory in use can't be removed")
@pytest.mark.parametrize("words", [["run", "list the files"], ["tasks"], ["doctor"], ["--panel"]])
def test_a_directory_that_is_gone_is_no_traceback(home: dict[str, str], workspace: Path, words: list[str]) -> None:
    gone = workspace / "gone"
    gone.mkdir()
    argv = ["/bin/sh", "-c", 'rmdir ../gone && exec "$@"', "sh", sys.executable, "-m", "sidecar", *words]
    done = subprocess.run(argv, cwd=gone, env=home, capture_output=True, text=True, timeout=60)
    assert done.returncode in (0, 2, 4), done.stderr
    assert "Traceback" not in done.stderr
    assert done.returncode == 0 or "The current directory no longer exists" in done.stderr


def test_a_forgotten_message_is_not_sent_to_another_task(home: dict[str, str], workspace: Path) -> None:
    assert brain("run", "list the files", environ=home, cwd=workspace).returncode == 0
    before = newest(home)
    sent = brain("message", before["id"][:10], environ=home, cwd=workspace)
    assert sent.returncode == 2
    assert "is a task; nothing was sent" in sent.stderr
    assert newest(home)["lastSeq"] == before["lastSeq"]
