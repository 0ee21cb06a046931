"""S36: other terminals, Unix sockets, io_uring, modes and keys are out of reach from inside, in both tiers."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from sidecar.config.grants import Permissions
from tests.security.escapes import try_all
from tests.security.plain_user import run_as_plain_user
from tests.security.sandboxed import SandboxedWorkbench, make_tier
from tools.executor.executor import Executor
from tools.policy.policy import Policy

TIERS = ["bubblewrap", "landlock"]


@pytest.fixture(params=TIERS)
def tier(request: pytest.FixtureRequest) -> str:
    if make_tier(request.param) is None:
        pytest.skip(f"this machine has no {request.param}")
    return str(request.param)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    """Beside the system's own files, where a sandbox empties nothing by itself."""
    if not os.access("/opt", os.W_OK):
        yield tmp_path
        return
    found = Path(tempfile.mkdtemp(dir="/opt", prefix="brain-test-"))
    yield found
    shutil.rmtree(found)


async def test_s36_no_way_out_works(tier: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", os.environ.get("HOME", "/"))
    assert await try_all(tmp_path, tier) == []


#: Every call that gives a file its mode, with the bit that lends the owner's rights to whoever starts it.
_SET_USER_ID = """
import ctypes, os, struct
libc = ctypes.CDLL(None, use_errno=True)
open("f", "w").close()
handle = os.open("f", os.O_RDONLY)
def raw(number, *words):
    if libc.syscall(number, *words) < 0:
        raise OSError(ctypes.get_errno(), "refused")
tries = {
    "chmod": lambda: os.chmod("f", 0o4755),
    "fchmod": lambda: os.fchmod(handle, 0o4755),
    "fchmodat": lambda: os.chmod("f", 0o4755, dir_fd=os.open(".", os.O_RDONLY)),
    "fchmodat2": lambda: raw(452, -100, b"f", 0o4755, 0),
    "open": lambda: os.open("new", os.O_CREAT | os.O_WRONLY, 0o4755),
    "unnamed": lambda: os.open(".", os.O_TMPFILE | os.O_WRONLY, 0o4755),
    "mknod": lambda: os.mknod("node", 0o104755),
    "openat2": lambda: raw(437, -100, b"how", struct.pack("QQQ", os.O_CREAT | os.O_WRONLY, 0o4755, 0), 24),
}
for name, act in tries.items():
    try:
        act()
        print(name, "went through")
    except OSError:
        pass
made = [name for name in os.listdir(".") if os.stat(name).st_mode & 0o4000]
os.chmod("f", 0o755), os.open("plain", os.O_CREAT | os.O_WRONLY, 0o755), os.open(".", os.O_RDONLY | os.O_DIRECTORY)
print("left", made)
"""


async def test_s36_a_command_leaves_no_program_that_lends_your_rights(tier: str, tmp_path: Path) -> None:
    bench = SandboxedWorkbench(tmp_path, tier)
    bench.write("lend.py", _SET_USER_ID)
    try:
        assert (await bench.call("run_command", command="python3 lend.py")).content == "left []"
    finally:
        await bench.executor.close()


async def test_s36_nor_from_a_home_beside_the_system(tier: str, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", os.environ.get("HOME", "/"))
    assert await try_all(place, tier) == []


@pytest.mark.parametrize("tier", TIERS)
def test_s36_nor_for_a_plain_user(tier: str) -> None:
    done = run_as_plain_user("-m", "tests.security.escapes", tier)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "nothing escaped" in done.stdout


@pytest.fixture
async def bench(tier: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[SandboxedWorkbench]:
    home = tmp_path / "home"
    (home / ".local/bin").mkdir(parents=True)
    (home / ".cache/pip").mkdir(parents=True)
    (home / ".cargo/registry").mkdir(parents=True)
    (home / "install/bin").mkdir(parents=True)
    (home / "install/lib").mkdir()
    (home / "bin").mkdir()
    for name in (".local/bin/tool", ".cache/pip/x", ".cargo/registry/x", "install/lib/x", "bin/x"):
        (home / name).write_text("seen")
    (home / ".gitconfig").write_text(
        '[user]\n\tname = Ada\n\temail = ada@example.com\n[url "https://canary@x/"]\n\tinsteadOf = https://x/\n'
        "[credential]\n\thelper = store\n[core]\n\tpager = evil\n"
    )
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PATH", f"{home}/install/bin:{home}/bin:{os.environ['PATH']}")
    bench = SandboxedWorkbench(tmp_path, tier)
    yield bench
    await bench.executor.close()


async def said(bench: SandboxedWorkbench, command: str) -> str:
    outcome = await bench.call("run_command", command=command, timeoutMs=60_000)
    assert outcome.status == "success", outcome
    return outcome.content


async def test_s36_modes_times_and_attributes_change_in_the_workspace(bench: SandboxedWorkbench) -> None:
    bench.write("a.sh", "#!/bin/sh\necho ran\n")
    assert await said(bench, "chmod +x a.sh && ./a.sh && chmod 640 a.sh && stat -c %a a.sh") == "ran\n640"
    assert await said(bench, "touch -d @1000 a.sh new && stat -c %Y a.sh new") == "1000\n1000"
    assert (
        await said(bench, "mkdir d && cp -p a.sh d/ && install -m 755 a.sh b.sh && stat -c '%a %Y' d/a.sh")
        == "640 1000"
    )
    assert await said(
        bench, "tar cf x.tar a.sh d && mkdir out && tar xpf x.tar -C out && stat -c '%a %Y' out/a.sh"
    ) == ("640 1000")
    assert await said(
        bench, "cd d && ln -s a.sh link && chmod 600 link && touch -h -d @5 link && stat -c '%a %Y' a.sh"
    ) == ("600 1000")
    script = (
        "import os; f = os.open('b.sh', os.O_RDONLY); os.fchmod(f, 0o700); os.chown(f, -1, -1); os.utime(f, (7, 8));"
        "os.utime('b.sh', ns=(5, 6)); os.chown('b.sh', os.getuid(), os.getgid()); print(oct(os.stat('b.sh').st_mode))"
    )
    assert await said(bench, f'{sys.executable} -c "{script}"') == "0o100700"
    assert "ok" in await said(bench, "f=$(mktemp) && chmod 600 $f && touch $f && echo ok")


async def test_s36_tools_and_caches_are_there_and_the_rest_of_the_home_is_not(bench: SandboxedWorkbench) -> None:
    names = "~/.local/bin/tool ~/.cache/pip/x ~/.cargo/registry/x ~/install/lib/x ~/bin/x"
    assert await said(bench, f"cat {names}") == "seen" * 5
    listed = await said(bench, "cat ~/.gitcon*; cat ~/bin/../.gitcon*; ls -A ~ || true; echo end")
    assert "canary" not in listed
    assert not await _can_write(bench, "~/.cache/pip/x")


async def _can_write(bench: SandboxedWorkbench, place: str) -> bool:
    await bench.call("run_command", command=f"echo changed > {place}")
    return Path(place).expanduser().read_text() != "seen"


async def test_s36_git_knows_who_you_are_and_nothing_else_of_you(bench: SandboxedWorkbench) -> None:
    bench.write("a.txt", "a")
    await said(bench, "git add a.txt && git commit -qm one")
    assert await said(bench, "git log -1 --format='%an %ae'") == "Ada ada@example.com"
    assert "canary" not in await said(bench, "git config --list; env")


async def test_s36_a_repository_around_the_workspace_can_be_read(bench: SandboxedWorkbench, tmp_path: Path) -> None:
    top = tmp_path / "home/code"
    subprocess.run(["git", "init", "-q", str(top)], check=True)
    (top / "shared.txt").write_text("shared")
    (top / "part").mkdir()
    bench.context = replace(bench.context, workspace=str(top / "part"))
    assert await said(bench, "cat ../shared.txt; git status --short .. | tail -1") == "shared?? ../shared.txt"


async def test_s36_a_path_is_readable_once_you_grant_it(bench: SandboxedWorkbench, tmp_path: Path) -> None:
    (tmp_path / "home/.aws").mkdir()
    (tmp_path / "home/.aws/config").write_text("region")
    (tmp_path / "home/lib").mkdir()
    (tmp_path / "home/lib/x").write_text("library")
    command = "d=.a; cat ~/lib/x ~/$d$(echo ws)/config || true"
    assert "region" not in await said(bench, command) and "library" not in await said(bench, command)
    granted = Permissions(reads=(f"{tmp_path}/home/lib", f"{tmp_path}/home/.aws/config", str(bench.data_dir)))
    bench.executor = Executor(bench.registry, [bench.backend], Policy(permissions=lambda workspace: granted))
    bench.data_dir.mkdir(exist_ok=True)
    (bench.data_dir / "token").write_text("canary")
    assert await said(bench, command) == "libraryregion"
    assert "canary" not in await said(bench, f"cat {bench.data_dir}/token || true")
    assert not await _can_write(bench, "~/.local/bin/tool")
    await bench.call("run_command", command="echo x >> ~/lib/x; chmod 777 ~/lib/x")
    assert (tmp_path / "home/lib/x").read_text() == "library"
    assert (tmp_path / "home/lib/x").stat().st_mode & 0o777 != 0o777


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
async def test_s36_node_talks_to_its_children(bench: SandboxedWorkbench) -> None:
    bench.write("child.js", "process.send(42)")
    bench.write(
        "main.js",
        "require('child_process').fork('./child.js').on('message', value => console.log(value))",
    )
    assert await said(bench, "node main.js") == "42"
