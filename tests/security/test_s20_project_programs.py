"""S20: a program that a project's own environment brings is the project's code, whatever name it has."""

from pathlib import Path

import pytest

from tests.support.workbench import Workbench
from tools.executor.registry import default_registry
from tools.policy.policy import Decision, Policy

RUN = default_registry().get("run_command").spec
FOLDERS = [".venv/bin", "venv/bin", "node_modules/.bin"]


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    return Workbench(tmp_path)


def plant(bench: Workbench, folder: str, *names: str) -> None:
    for name in {*names, "python"} if folder.endswith("venv/bin") else names:
        bench.write(f"{folder}/{name}", "#!/bin/sh\ntouch planted\n").chmod(0o755)


def decided(bench: Workbench, command: str, task: str = "", *, trusted: bool, cwd: str = ".") -> Decision:
    args = RUN.arguments.model_validate({"command": command, "cwd": cwd})
    return Policy(trusted=lambda workspace: trusted).decide(RUN, args, str(bench.workspace), "ask", task)


@pytest.mark.parametrize("folder", FOLDERS)
@pytest.mark.parametrize("command", ["ls", "cat notes.txt", "git status", "grep x notes.txt"])
def test_s20_a_known_name_is_not_enough_in_a_trusted_workspace(bench: Workbench, folder: str, command: str) -> None:
    assert decided(bench, command, trusted=True).verdict == "allow"
    plant(bench, folder, command.split()[0])
    assert decided(bench, command, trusted=True).verdict == "ask"


@pytest.mark.parametrize("folder", FOLDERS)
@pytest.mark.parametrize("command", ["git status", "ls -l | sort", "wc -l notes.txt"])
def test_s20_to_ask_for_a_command_is_no_consent_to_run_a_stranger_of_its_name(
    bench: Workbench, folder: str, command: str
) -> None:
    task = f"run `{command}`"
    assert decided(bench, command, task, trusted=False).verdict == "allow"
    plant(bench, folder, command.split()[-1] if "|" in command else command.split()[0])
    assert decided(bench, command, task, trusted=False).verdict == "ask"


def test_s20_the_environment_of_an_inner_folder_counts_there(bench: Workbench) -> None:
    plant(bench, "web/node_modules/.bin", "ls")
    assert decided(bench, "ls", trusted=True).verdict == "allow"
    assert decided(bench, "ls", trusted=True, cwd="web").verdict == "ask"


@pytest.mark.parametrize("folder", FOLDERS)
async def test_s20_our_own_tools_run_no_program_of_the_workspace(bench: Workbench, folder: str) -> None:
    plant(bench, folder, "git", "rg", "sh", "bwrap")
    bench.write("notes.txt", "hello\n")
    for tool, args in {"git_status": {}, "search_code": {"query": "hello"}, "list_dir": {}, "git_log": {}}.items():
        await bench.call(tool, **args)
    assert not (bench.workspace / "planted").exists()
