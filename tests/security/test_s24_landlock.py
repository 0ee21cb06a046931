"""S24 where there is no bubblewrap: the helper gives up rights, then becomes the command. Fails closed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tools.local.sandbox import Room
from tools.local.sandbox.landlock import Landlock
from tools.local.sandbox.probe import _works

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or not _works(Landlock()), reason="this machine has no Landlock"
)


class Caged:
    def __init__(self, root: Path) -> None:
        self.workspace = root / "workspace"
        self.home = root / "home"
        self.data = self.home / "data"
        for place in (self.workspace, self.data, self.home / ".ssh", self.home / "tools"):
            place.mkdir(parents=True)
        (self.home / ".ssh" / "id").write_text("canary")
        (self.data / "token").write_text("canary")
        (self.home / "tools" / "x").write_text("of use")
        self._sandbox = Landlock()

    def run(self, command: str, *, approved: bool = False) -> str:
        room = Room(str(self.workspace), approved, (str(self.data),))
        environ = {"HOME": str(self.home), "PATH": os.environ["PATH"]}
        line = self._sandbox.around(["/bin/sh", "-c", command], room, str(self.workspace), environ, ())
        done = subprocess.run(
            line, cwd=self.workspace, env=environ, capture_output=True, text=True, timeout=20, check=False
        )
        return done.stdout


@pytest.fixture
def caged(tmp_path: Path) -> Caged:
    return Caged(tmp_path)


def test_the_workspace_is_written_the_system_read_and_nothing_else(caged: Caged) -> None:
    assert (
        caged.run("echo a > a.txt; cat a.txt; ls /usr > /dev/null && echo read; mktemp > /dev/null && echo tmp")
        == "a\nread\ntmp\n"
    )
    caged.run("touch /etc/planted ~/planted ../planted /tmp/planted-by-landlock")
    assert not any(
        Path(place).exists() for place in ("/etc/planted", caged.home / "planted", "/tmp/planted-by-landlock")
    )
    assert not (caged.workspace.parent / "planted").exists()


def test_keys_and_the_sidecars_files_are_out_of_sight_and_the_persons_tools_are_not(caged: Caged) -> None:
    assert caged.run(f"cat ~/.ssh/id {caged.data}/token; cat ~/tools/x") == "of use"
    assert caged.run("cat ~/.ssh/id", approved=True) == "canary"
    assert caged.run(f"cat {caged.data}/token", approved=True) == ""


def test_s24_no_socket_can_be_made_and_pipes_still_can(caged: Caged) -> None:
    script = (
        "import socket\ntry:\n    socket.socket(); print('open')\nexcept OSError: print('shut')\nsocket.socketpair()"
    )
    (caged.workspace / "probe.py").write_text(script)
    assert caged.run("python3 probe.py | cat") == "shut\n"
    assert caged.run("python3 probe.py", approved=True) == "open\n"


def test_nobody_outside_can_be_signalled_or_looked_into(caged: Caged) -> None:
    said = caged.run(
        f"kill -0 {os.getpid()} 2> /dev/null || echo no; cat /proc/{os.getpid()}/environ | head -c 1 | wc -c"
    )
    assert said.split()[-1] == "0"
    assert said.startswith("no") or os.uname().release < "6.12"


def test_what_it_cannot_give_up_it_does_not_run(caged: Caged) -> None:
    line = Landlock().around(["/bin/sh", "-c", "touch planted"], Room(str(caged.workspace)), "/", {}, ())
    line[4] = "{}"
    done = subprocess.run(line, cwd=caged.workspace, capture_output=True, check=False)
    assert done.returncode != 0
    assert not (caged.workspace / "planted").exists()
