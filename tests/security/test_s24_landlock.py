"""S24 where there is no bubblewrap: the helper gives up rights, then becomes the command. Fails closed."""

import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.support import PROJECT
from tests.waiting import SECONDS
from tools.local.sandbox.access import CommandAccess
from tools.local.sandbox.landlock import Landlock, Unconfined
from tools.local.sandbox.probe import works
from tools.local.sandbox.spawn import popen

pytestmark = pytest.mark.skipif(sys.platform != "linux" or not works(Landlock()), reason="this machine has no Landlock")


class Caged:
    def __init__(self, root: Path) -> None:
        self.workspace = root / "workspace"
        self.home = root / "home"
        self.data = self.home / "data"
        for place in (self.workspace, self.data, self.home / ".ssh", self.home / ".local/bin"):
            place.mkdir(parents=True)
        (self.home / ".ssh" / "id").write_text("canary")
        (self.data / "token").write_text("canary")
        (self.home / ".local/bin/x").write_text("of use")
        self._sandbox = Landlock()

    def run(self, command: str, *, approved: bool = False) -> str:
        environ = {"HOME": str(self.home), "PATH": os.environ["PATH"]}
        access = CommandAccess.grant(str(self.workspace), str(self.home), approved=approved, private=[str(self.data)])
        launch = self._sandbox.wrap(["/bin/sh", "-c", command], access, str(self.workspace), environ)
        started = popen(launch, cwd=self.workspace, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        return started.communicate(timeout=SECONDS)[0].decode()


@pytest.fixture
def caged(tmp_path: Path) -> Caged:
    return Caged(tmp_path)


def test_theworkspace_is_written_the_system_read_and_nothing_else(caged: Caged) -> None:
    assert (
        caged.run("echo a > a.txt; cat a.txt; ls /usr > /dev/null && echo read; mktemp > /dev/null && echo tmp")
        == "a\nread\ntmp\n"
    )
    caged.run("touch /etc/planted ~/planted ../planted /tmp/planted-by-landlock")
    assert not any(
        Path(place).exists() for place in ("/etc/planted", caged.home / "planted", "/tmp/planted-by-landlock")
    )
    assert not (caged.workspace.parent / "planted").exists()


def test_keys_and_the_sidecars_files_are_out_of_sight_and_the_users_tools_are_not(caged: Caged) -> None:
    assert caged.run(f"cat ~/.ssh/id {caged.data}/token; cat ~/.local/bin/x") == "of use"
    assert caged.run("cat ~/.ssh/id", approved=True) == "canary"
    assert caged.run(f"cat {caged.data}/token", approved=True) == ""


def test_s24_no_socket_can_be_made_and_pipes_still_can(caged: Caged) -> None:
    script = (
        "import socket\ntry:\n    socket.socket(); print('open')\nexcept OSError: print('shut')\nsocket.socketpair()"
    )
    (caged.workspace / "probe.py").write_text(script)
    assert caged.run("python3 probe.py | cat") == "shut\n"
    assert caged.run("python3 probe.py", approved=True) == "open\n"


def test_no_one_outside_can_be_signalled_or_looked_into(caged: Caged) -> None:
    said = caged.run(
        f"kill -0 {os.getpid()} 2> /dev/null || echo no; cat /proc/{os.getpid()}/environ | head -c 1 | wc -c"
    )
    assert said.split()[-1] == "0"
    assert said.startswith("no") or os.uname().release < "6.12"


def test_what_it_cannot_give_up_it_does_not_run(caged: Caged) -> None:
    def nothing_is_given_up() -> None:
        raise Unconfined("the rules do not hold")

    line = ["/bin/sh", "-c", "touch planted"]
    launch = (
        Landlock().wrap(line, CommandAccess.grant(str(caged.workspace)), "/", {})._replace(restrict=nothing_is_given_up)
    )
    with pytest.raises(Unconfined):
        popen(launch, cwd=caged.workspace)
    assert not (caged.workspace / "planted").exists()


def test_only_the_command_gives_up_its_rights_and_this_process_keeps_all_of_them(caged: Caged) -> None:
    before = Path("/proc/self/status").read_text().split("Seccomp:")[0].partition("CapInh")[2]
    caged.run("true")
    assert Path("/proc/self/status").read_text().split("Seccomp:")[0].partition("CapInh")[2] == before
    socket.socket().close()
    (caged.home / "still-ours").write_text("x")


def test_root_keeps_no_power_but_over_the_owners_of_files(caged: Caged) -> None:
    told = caged.run("grep -E '^(CapEff|CapBnd|NoNewPrivs|Seccomp):' /proc/self/status").split()
    found = dict(zip(told[::2], told[1::2], strict=True))
    assert found["NoNewPrivs:"] == "1"
    assert found["Seccomp:"] == "2"
    if os.geteuid() == 0:
        assert int(found["CapEff:"], 16) & ~0b1011 == 0
        assert int(found["CapBnd:"], 16) & ~0b1011 == 0


def test_a_command_reads_of_proc_what_is_its_own(caged: Caged) -> None:
    assert caged.run("(cat /proc/self/stat > /dev/null && ls /proc/self/fd > /dev/null && echo own)") == "own\n"
    others = f"/proc/{os.getpid()}"
    assert caged.run(f"cat {others}/environ {others}/maps {others}/fd/*; ls {others}/cwd/; readlink {others}/exe") == ""


@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("setpriv") is None, reason="about root in a container")
@pytest.mark.parametrize(
    ("missing", "tier"),
    [("-sys_admin", "landlock"), ("-all", "landlock"), ("-setpcap,-sys_admin", "none")],
    ids=["the usual container", "one without any power", "one whose root could not give up its powers"],
)
def test_s24_root_in_a_container_has_the_sandbox_that_its_powers_allow_or_none(missing: str, tier: str) -> None:
    script = "from tools.local.sandbox.probe import Sandboxes; print(Sandboxes().tier)"
    line = ["setpriv", f"--bounding-set={missing}", sys.executable, "-c", script]
    done = subprocess.run(line, capture_output=True, text=True, check=True, cwd=PROJECT, timeout=SECONDS)
    assert done.stdout == f"{tier}\n"
