"""A command's changes are those of its own processes, in every sandbox; other writers meanwhile keep theirs."""

import asyncio
import os
import shutil
import subprocess
import sys
import textwrap
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.faults.scale import scaled
from tests.support.sandboxes import sandboxes_of
from tests.support.workbench import Workbench, workbench
from tests.waiting import until_true
from tools.ledger import Outcome, digest
from tools.local.attribution.trace import attribution_problem

pytestmark = pytest.mark.skipif(bool(attribution_problem()), reason=f"not here: {attribution_problem()}")
ROOT = Path(__file__).parents[3]


@pytest.fixture(params=["none", "bubblewrap", "landlock"])
async def bench(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Workbench]:
    async with workbench(tmp_path, sandboxes=sandboxes_of(request.param)) as opened:
        yield opened


def states(outcome: Outcome) -> dict[str, list[tuple[str | None, str | None]]]:
    found: dict[str, list[tuple[str | None, str | None]]] = {}
    for file in outcome.files:
        assert file.doubt is None
        found.setdefault(file.path, []).append((file.before, file.after))
    return found


def pair(before: bytes | None, after: bytes | None) -> tuple[str | None, str | None]:
    return (None if before is None else digest(before), None if after is None else digest(after))


async def running(bench: Workbench, first: str, then: str) -> "asyncio.Task[Outcome]":
    """A command that does one thing, waits until `go` is there, and does another."""
    line = f"{first}; touch up; while [ ! -e go ]; do sleep 0.01; done; {then}"
    task = asyncio.create_task(bench.call("run_command", command=line))
    await until_true((bench.workspace / "up").exists, 30)
    return task


async def ended(bench: Workbench, task: "asyncio.Task[Outcome]") -> Outcome:
    bench.write("go", "")
    outcome = await task
    assert outcome.status == "success", outcome.content
    assert not outcome.irreversible
    return outcome


async def test_what_the_user_and_another_call_write_meanwhile_is_not_the_commands(bench: Workbench) -> None:
    bench.write("README", "old\n")
    bench.write("other.txt", "old\n")
    task = await running(bench, "echo 1 > a", "echo 2 > b")
    bench.write("README", "saved by you\n")
    bench.write("made.txt", "by you\n")
    await bench.call("write_file", path="other.txt", content="by another call\n")
    outcome = await ended(bench, task)
    assert states(outcome) == {"a": [pair(None, b"1\n")], "b": [pair(None, b"2\n")], "up": [pair(None, b"")]}


async def test_your_save_after_the_command_wrote_the_same_file_stays_yours(bench: Workbench) -> None:
    bench.write("a", "old\n")
    task = await running(bench, "echo command > a", "true")
    bench.write("a", "command\nand you\n")
    assert states(await ended(bench, task))["a"] == [pair(b"old\n", b"command\n")]


async def test_your_save_before_the_command_wrote_the_same_file_stays_yours(bench: Workbench) -> None:
    bench.write("a", "old\n")
    task = await running(bench, "true", "echo command >> a")
    bench.write("a", "you\n")
    assert states(await ended(bench, task))["a"] == [pair(b"you\n", b"you\ncommand\n")]


async def test_your_save_between_two_writes_of_the_command_stays_yours(bench: Workbench) -> None:
    bench.write("a", "old\n")
    task = await running(bench, "echo one > a", "echo two >> a")
    bench.write("new", "you\n")
    (bench.workspace / "new").rename(bench.workspace / "a")
    assert states(await ended(bench, task))["a"] == [pair(b"old\n", b"one\n"), pair(b"you\n", b"you\ntwo\n")]


async def test_a_tools_write_between_two_writes_of_the_command_is_the_tools(bench: Workbench) -> None:
    bench.write("a", "old\n")
    task = await running(bench, "echo one > a", "echo two >> a")
    await bench.call("write_file", path="a", content="tool\n")
    assert states(await ended(bench, task))["a"] == [pair(b"old\n", b"one\n"), pair(b"tool\n", b"tool\ntwo\n")]


async def test_a_file_that_you_delete_or_make_again_after_the_command_is_yours(bench: Workbench) -> None:
    bench.write("a", "old\n")
    task = await running(bench, "echo one > a; echo x > b; rm b", "true")
    (bench.workspace / "a").unlink()
    bench.write("b", "yours\n")
    found = states(await ended(bench, task))
    assert found["a"] == [pair(b"old\n", b"one\n")] and "b" not in found


SCRIPT = """
import ctypes, os, threading
libc = ctypes.CDLL(None)
def put(path, text, flags=os.O_WRONLY | os.O_CREAT | os.O_TRUNC):
    handle = os.open(path, flags, 0o644); os.write(handle, text); os.close(handle)
put("opened", b"x")
libc.close(libc.creat(b"created", 0o644))
os.unlink("unlinked")
os.rename("old", "new")
os.link("linked", "link")
os.symlink("linked", "symlink")
os.truncate("truncated", 1)
os.chmod("mode", 0o755)
handle = os.open("fmode", os.O_RDONLY); os.fchmod(handle, 0o700); os.close(handle)
os.mkdir("d"); here = os.open("d", os.O_RDONLY | os.O_DIRECTORY)
handle = os.open("inner", os.O_WRONLY | os.O_CREAT, 0o644, dir_fd=here); os.write(handle, b"x"); os.close(handle)
os.chdir("sub"); put("../sub/./relative", b"x"); os.chdir("..")
put("alias/through", b"x")
put("pointer", b"pointed")
put(os.getcwd() + "/absolute", b"x")
worker = threading.Thread(target=put, args=("threaded", b"x")); worker.start(); worker.join()
child = os.fork()
if child == 0:
    put("forked", b"x"); os._exit(0)
os.waitpid(child, 0)
os.rename("tree", "moved")
assert libc.syscall(316, -100, b"left", -100, b"right", 2) == 0 or os.uname().machine != "x86_64"
handle = os.open(".", os.O_TMPFILE | os.O_WRONLY, 0o644); os.write(handle, b"x")
os.link(f"/proc/self/fd/{handle}", "anonymous", src_dir_fd=0, follow_symlinks=True); os.close(handle)
os.replace("temporary", "replaced")
"""


async def test_every_way_to_change_a_file_is_seen(bench: Workbench) -> None:
    for name in ("unlinked", "old", "linked", "mode", "fmode", "sub/x", "target", "tree/a", "tree/in/b", "replaced"):
        bench.write(name, name)
    bench.write("truncated", "long")
    bench.write("left", "l")
    bench.write("right", "r")
    bench.write("temporary", "t")
    (bench.workspace / "alias").symlink_to("sub")
    (bench.workspace / "pointer").symlink_to("target")
    bench.write("script.py", SCRIPT)
    outcome = await bench.call("run_command", command=f"{sys.executable} script.py")
    assert outcome.status == "success", outcome.content
    assert not outcome.irreversible, outcome.irreversible
    found = {path: pairs[0] for path, pairs in states(outcome).items()}
    exchanged = {"left": pair(b"l", b"r"), "right": pair(b"r", b"l")} if os.uname().machine == "x86_64" else {}
    assert found == exchanged | {
        **dict.fromkeys(("opened", "d/inner", "sub/relative", "sub/through"), pair(None, b"x")),
        **dict.fromkeys(("absolute", "threaded", "forked", "anonymous"), pair(None, b"x")),
        "created": pair(None, b""),
        "unlinked": pair(b"unlinked", None),
        "old": pair(b"old", None),
        "new": pair(None, b"old"),
        "link": pair(None, b"linked"),
        "symlink": pair(None, b"linked"),
        "truncated": pair(b"long", b"l"),
        "mode": pair(b"mode", b"mode"),
        "fmode": pair(b"fmode", b"fmode"),
        "target": pair(b"target", b"pointed"),
        "tree/a": pair(b"tree/a", None),
        "tree/in/b": pair(b"tree/in/b", None),
        "moved/a": pair(None, b"tree/a"),
        "moved/in/b": pair(None, b"tree/in/b"),
        "temporary": pair(b"t", None),
        "replaced": pair(b"replaced", b"t"),
    }


async def test_a_command_that_is_cancelled_or_killed_in_the_middle_has_changed_what_it_changed(
    bench: Workbench,
) -> None:
    bench.write("a", "old\n")
    task = await running(bench, "echo 1 > a", "true")
    task.cancel()
    await asyncio.wait((task,))
    (cancelled,) = bench.ledger.outcomes.values()
    assert states(cancelled).keys() == {"a", "up"}
    died = await bench.call("run_command", command="echo 2 > a; kill -9 $$")
    assert states(died) == {"a": [pair(b"1\n", b"2\n")]}


async def test_many_processes_that_write_at_once_are_all_heard_and_none_waits_for_ever(bench: Workbench) -> None:
    count = scaled(200, 1_000)
    line = f"for i in $(seq {count}); do (echo $i > f$i; echo $i >> f$i) & done; wait"
    outcome = await bench.call("run_command", command=line, timeoutMs=110_000)
    assert outcome.status == "success", outcome.content
    assert states(outcome) == {f"f{n}": [pair(None, f"{n}\n{n}\n".encode())] for n in range(1, count + 1)}


async def test_very_many_opens_of_one_file_end(bench: Workbench) -> None:
    count = scaled(5_000, 100_000)
    opening = f"for _ in range({count}): os.close(os.open('a', os.O_WRONLY | os.O_CREAT))"
    script = f"import os\n{opening}\nopen('a', 'w').write('x')"
    bench.write("script.py", script)
    outcome = await bench.call("run_command", command=f"{sys.executable} script.py", timeoutMs=110_000)
    assert outcome.status == "success" and states(outcome) == {"a": [pair(None, b"x")]}


DYING = """
import os, signal, subprocess, sys, threading
from pathlib import Path
from tools.local.attribution.trace import CommandTrace
from tools.local.git import Repository
from tools.local.root import WorkspaceRoot
root = WorkspaceRoot(sys.argv[1])
trace = CommandTrace(root, Repository(root), Path(sys.argv[2]))
tracer = trace.tracer()
def start():
    tracer.install()
    line = "echo 1 > a; touch up; while [ ! -e go ]; do sleep 0.01; done; echo 2 > a || touch never; echo $? >&3"
    subprocess.Popen(["/bin/sh", "-c", line], cwd=sys.argv[1], pass_fds=(3,))
thread = threading.Thread(target=start)
thread.start(); thread.join()
while not os.path.exists(sys.argv[1] + "/up"):
    pass
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_when_the_sidecar_is_killed_the_command_fails_instead_of_waiting_and_its_changes_are_known(
    tmp_path: Path,
) -> None:
    from tools.local.attribution.trace import CommandTrace
    from tools.local.git import Repository
    from tools.local.root import WorkspaceRoot

    workspace, log = tmp_path / "w", tmp_path / "log"
    workspace.mkdir()
    (workspace / "a").write_text("old\n")
    (workspace / "yours").write_text("old\n")
    reading, writing = os.pipe()
    line = [
        sys.executable,
        "-c",
        f"import os; os.dup2({writing}, 3, inheritable=True)\n{DYING}",
        str(workspace),
        str(log),
    ]
    died = subprocess.run(line, cwd=ROOT, pass_fds=(writing,), timeout=60, check=False)
    assert died.returncode == -9
    os.close(writing)
    (workspace / "go").write_text("")
    with os.fdopen(reading, "rb") as answer:
        assert answer.read().strip() != b"0"
    assert (workspace / "a").read_text() == "1\n" and not (workspace / "never").exists()
    root = WorkspaceRoot(str(workspace))
    trace = CommandTrace.restored(root, Repository(root), log)
    assert trace is not None
    found = {
        each.path: (each.before and each.before.content, each.after and each.after.content) for each in trace.changes()
    }
    assert found == {"a": (b"old\n", b"1\n"), "up": (None, b"")}
    assert not any(each.doubt for each in trace.changes())
    later = time.time() + 60
    os.utime(workspace / "a", (later, later))
    second = CommandTrace.restored(root, Repository(root), log)
    assert second is not None
    assert [each.path for each in second.changes() if each.doubt] == ["a"]
    trace.forget()
    root.close()


@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("setpriv") is None, reason="needs root to become somebody else")
@pytest.mark.parametrize("tier", ["bubblewrap", "landlock"])
def test_it_works_for_a_plain_user(tier: str, tmp_path: Path) -> None:
    script = f"""
    import asyncio
    from pathlib import Path
    from tests.support.sandboxes import sandboxes_of
    from tests.support.workbench import workbench

    async def main() -> None:
        async with workbench(Path({str(tmp_path / "place")!r}), sandboxes=sandboxes_of({tier!r})) as bench:
            bench.write("a", "old")
            outcome = await bench.call("run_command", command="echo new > a; rm -f b; (echo c > c)")
            print(outcome.status, sorted(file.path for file in outcome.files), outcome.irreversible)
            assert outcome.status == "success", outcome.content
            print([file.doubt for file in outcome.files])

    asyncio.run(main())
    """
    tmp_path.chmod(0o777)
    for parent in tmp_path.parents[:-1]:
        if parent.stat().st_mode & 0o5 != 0o5:
            parent.chmod(parent.stat().st_mode | 0o5)
    line = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", sys.executable, "-B", "-c"]
    environment = {**os.environ, "HOME": str(tmp_path), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [*line, textwrap.dedent(script)], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    if "Skipped" in done.stderr or "PermissionError" in done.stderr.partition("tools/local")[0]:
        pytest.skip("a plain user can't run this here")
    assert done.stdout.splitlines() == ["success ['a', 'c'] []", "[None, None]"], done.stdout + done.stderr
