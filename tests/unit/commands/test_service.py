"""The files that let a system keep a sidecar running."""

import plistlib
import shlex
from pathlib import Path

import pytest

from sidecar.commands.service import LABEL, launchd_agent, systemd_unit

COMMAND = ["/home/a b/bin/python", "-m", "sidecar", "serve", "--data-dir", '/d/100%/$HOME/"x"\\y']


def test_a_unit_runs_exactly_the_command_whatever_its_words_hold() -> None:
    (line,) = (line for line in systemd_unit(COMMAND).splitlines() if line.startswith("ExecStart="))
    # systemd turns %% into % and $$ into $; its quotes and backslashes are those of a shell.
    words = shlex.split(line.removeprefix("ExecStart=").replace("%%", "%").replace("$$", "DOLLAR"))
    assert [word.replace("DOLLAR", "$") for word in words] == COMMAND


@pytest.mark.parametrize("setting", ["Restart=on-failure", "UMask=0077", "WantedBy=default.target"])
def test_a_unit_restarts_after_a_crash_and_keeps_its_files_private(setting: str) -> None:
    assert setting in systemd_unit(COMMAND).splitlines()


def test_an_agent_of_launchd_runs_exactly_the_command() -> None:
    agent = plistlib.loads(launchd_agent(COMMAND).encode())
    assert agent["ProgramArguments"] == COMMAND
    assert agent["KeepAlive"] == {"SuccessfulExit": False}


def test_an_agent_of_launchd_has_what_launchd_requires_in_its_types() -> None:
    agent = plistlib.loads(launchd_agent(COMMAND).encode())
    assert agent["Label"] == LABEL and agent["RunAtLoad"] is True
    assert Path(agent["ProgramArguments"][0]).is_absolute() and Path(agent["WorkingDirectory"]).is_absolute()
    # An octal number in a property list is decimal: launchd would read 077 as seventy-seven.
    assert agent["Umask"] == 63 and isinstance(agent["Umask"], int)
    known = {"Label", "ProgramArguments", "RunAtLoad", "KeepAlive", "WorkingDirectory", "Umask", "ProcessType"}
    assert agent.keys() == known
