"""S6, S9, S13, S14, S24: what a command inside the sandbox cannot do, whatever it tries. Fails closed."""

import os
import re
import shutil
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.workbench import Workbench
from tests.waiting import SECONDS
from tools.executor.executor import Executor
from tools.ledger import Outcome
from tools.local.backend import LocalBackend
from tools.local.confinement import CommandLimits, strip_limits
from tools.local.sandbox import landlock
from tools.local.sandbox.access import CommandAccess, CommandLaunch
from tools.local.sandbox.bubblewrap import Bubblewrap
from tools.local.sandbox.probe import Sandboxes, works
from tools.local.sandbox.seatbelt import Seatbelt
from tools.policy.policy import Policy

SANDBOXES = Sandboxes()
pytestmark = pytest.mark.skipif(not SANDBOXES.available(), reason="this machine has no sandbox")


class Caged(Workbench):
    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.backend = LocalBackend(self.registry, self.data_dir, sandboxes=SANDBOXES, limits=CommandLimits())
        self.executor = Executor(self.registry, [self.backend], Policy(contained=SANDBOXES.available))
        self.data_dir.mkdir()

    async def run(self, command: str | list[str], **args: object) -> Outcome:
        return await self.call("run_command", command=command, **args)


def needs_bubblewrap() -> None:
    if not isinstance(SANDBOXES.best(), Bubblewrap):
        pytest.skip(f"needs bubblewrap's namespaces; the sandbox here is {SANDBOXES.tier}")


@pytest.fixture
async def caged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Caged]:
    home = tmp_path / "home"
    (home / ".ssh").mkdir(parents=True)
    (home / ".ssh" / "id").write_text("canary-key")
    monkeypatch.setenv("HOME", str(home))
    bench = Caged(tmp_path)
    yield bench
    await bench.executor.close()


async def test_the_workspace_can_be_written_and_the_system_only_read(caged: Caged) -> None:
    written = await caged.run("echo here > a.txt && cat a.txt && ls /usr/bin > /dev/null && echo read")
    assert written.content == "here\nread"
    assert caged.read("a.txt") == b"here\n"
    for place in ("/etc/planted", "/usr/planted", f"{Path.home()}/planted", "/planted"):
        await caged.run(["touch", place])
        assert not Path(place).exists()


async def test_its_tmp_is_its_own(caged: Caged, tmp_path: Path) -> None:
    outcome = await caged.run(f"ls /tmp; touch /tmp/planted-{os.getpid()}; mktemp")
    assert outcome.status == "success"
    assert not Path(f"/tmp/planted-{os.getpid()}").exists()


async def test_s24_it_reaches_no_network_but_its_own_loopback(caged: Caged) -> None:
    needs_bubblewrap()
    script = (
        "import socket\n"
        "try:\n    socket.create_connection(('198.51.100.1', 80), 2); print('out')\n"
        "except OSError: print('in')\n"
        "own = socket.create_server(('127.0.0.1', 0)); socket.create_connection(own.getsockname()); print('own')\n"
    )
    caged.write("probe.py", script)
    assert (await caged.run(["python3", "probe.py"])).content == "in\nown"


async def test_s06_neither_the_sidecars_own_files_nor_the_users_keys_are_there(caged: Caged) -> None:
    (caged.data_dir / "token").write_text("canary-token")
    script = f"cat {caged.data_dir}/token; cat ~/.s*h/id; cat {Path.home()}/.s??/id; echo end"
    outcome = await caged.run(script)
    assert "canary" not in outcome.content
    assert "end" in outcome.content


async def test_it_sees_no_other_process_and_gains_no_rights(caged: Caged) -> None:
    needs_bubblewrap()
    outcome = await caged.run(
        "ls -d /proc/[0-9]* | wc -l; grep NoNewPrivs /proc/self/status; test -w /proc/sys/kernel || echo ro"
    )
    count, privileges, kernel = outcome.content.split("\n")
    assert int(count) < 10
    assert privileges.endswith("1")
    assert kernel == "ro"


async def test_s14_what_is_protected_stays_as_it_is(caged: Caged) -> None:
    for name in (".git/hooks/pre-commit", ".git/config", ".env", ".vscode/tasks.json", "sub/.env"):
        caged.write(name, "before")
    # Written so that the names do not stand there: what the words hide, the sandbox still holds.
    script = "for f in .g*/hooks/pre-commit .g*/con??? .e?v .v*/tasks.json sub/.e?v; do echo after > $f; rm -f $f; done"
    await caged.run(script)
    for name in (".git/hooks/pre-commit", ".git/config", ".env", ".vscode/tasks.json", "sub/.env"):
        assert caged.read(name) == b"before", name


async def test_a_commit_is_possible_all_the_same(caged: Caged) -> None:
    assert (await caged.run("git init -q . && echo a > a.txt && git add .")).status == "success"
    words = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "one"]
    assert (await caged.run(words)).status == "success"


async def test_an_ordinary_projects_tests_run_inside(caged: Caged) -> None:
    caged.write("test_it.py", "def test_it(tmp_path):\n    (tmp_path / 'x').write_text('a')\n")
    assert "1 passed" in (await caged.call("run_tests")).content
    caged.write("Makefile", "test:\n\t@echo made > made.txt && cat made.txt\n")
    assert (await caged.run("make test")).content == "made"
    if shutil.which("npm"):
        caged.write("package.json", '{"name": "x", "scripts": {"test": "node -p 6*7"}}')
        assert "42" in (await caged.run("npm test --silent")).content


async def test_nothing_that_it_started_is_left(caged: Caged) -> None:
    await caged.run("(setsid sleep 4711 > /dev/null 2>&1 &) ; nohup sleep 4711 > /dev/null 2>&1 & true")
    lines = [place.read_bytes() for place in Path("/proc").glob("[0-9]*/cmdline")]
    assert b"sleep\x004711\x00" not in lines


async def test_a_time_limit_ends_everything_inside_and_asks_first(caged: Caged) -> None:
    outcome = await caged.run("trap 'echo asked > asked.txt; exit 0' TERM; sleep 4712 & wait", timeoutMs=500)
    assert outcome.error is not None and outcome.error.code == "timed_out"
    assert caged.read("asked.txt") == b"asked\n"


async def test_a_missing_program_and_an_exit_code_are_reported_as_outside(caged: Caged) -> None:
    missing = await caged.run(["no-such-program"])
    assert missing.error is not None and missing.error.code == "command_not_found"
    failed = await caged.run("exit 7")
    assert isinstance(failed.details, dict) and failed.details["exitCode"] == 7


async def test_a_sandbox_that_cannot_start_runs_nothing(caged: Caged, monkeypatch: pytest.MonkeyPatch) -> None:
    needs_bubblewrap()
    broken = Sandboxes()
    wrap = Bubblewrap("bwrap").wrap

    class Broken(Bubblewrap):
        def wrap(self, *args: object) -> CommandLaunch:  # type: ignore[override]
            start = wrap(*args)  # type: ignore[arg-type]
            return start._replace(argv=[start.argv[0], "--no-such-option", *start.argv[1:]])

    broken._found, broken._looked = Broken("bwrap"), True
    caged.executor = Executor(
        caged.registry, [LocalBackend(caged.registry, caged.data_dir, sandboxes=broken)], Policy()
    )
    assert (await caged.run("touch planted")).status == "error"
    assert not (caged.workspace / "planted").exists()


def test_switched_off_is_said_and_every_command_asks() -> None:
    off = Sandboxes("off")
    assert off.tier == "off"
    assert not off.available()


def test_what_a_user_approved_may_use_the_network_and_their_keys(tmp_path: Path) -> None:
    best = SANDBOXES.best()
    assert best is not None
    strict = best.wrap(["true"], CommandAccess.grant(str(tmp_path), str(Path.home())), "/", {})
    approved = best.wrap(["true"], CommandAccess.grant(str(tmp_path), str(Path.home()), approved=True), "/", {})
    if isinstance(best, Bubblewrap):
        assert "--unshare-net" in strict.argv
        assert "--unshare-net" not in approved.argv


async def test_a_command_that_forks_without_end_is_ended_long_before_its_deadline(tmp_path: Path) -> None:
    bench = Caged(tmp_path)
    bench.backend = LocalBackend(
        bench.registry, bench.data_dir, sandboxes=SANDBOXES, limits=CommandLimits(processes=300)
    )
    bench.executor = Executor(bench.registry, [bench.backend], Policy(contained=SANDBOXES.available))
    began = time.monotonic()
    outcome = await bench.run("while :; do sleep 4713 & done", timeoutMs=60_000)
    assert outcome.status == "error"
    assert time.monotonic() - began < SECONDS
    await bench.executor.close()
    lines = [place.read_bytes() for place in Path("/proc").glob("[0-9]*/cmdline") if place.exists()]
    assert lines.count(b"sleep\x004713\x00") == 0


async def test_a_command_that_writes_without_end_is_ended_at_its_limit(tmp_path: Path) -> None:
    bench = Caged(tmp_path)
    bench.backend = LocalBackend(
        bench.registry, bench.data_dir, sandboxes=SANDBOXES, limits=CommandLimits(file_bytes=1_000_000)
    )
    bench.executor = Executor(bench.registry, [bench.backend], Policy(contained=SANDBOXES.available))
    outcome = await bench.run(["dd", "if=/dev/zero", "of=large", "bs=64k", "count=100"])
    await bench.executor.close()
    assert outcome.status == "error"
    assert "command_file_bytes" in outcome.content
    assert outcome.error is not None and "a file grew past 1000000 bytes" in outcome.error.message
    assert (bench.workspace / "large").stat().st_size <= 1_000_000


async def test_a_command_dumps_no_core_and_keeps_what_builds_need(caged: Caged) -> None:
    told = (await caged.run("ulimit -c; ulimit -n; ulimit -v; ulimit -f")).content.split()
    assert told[0] == "0"
    assert int(told[1]) >= 256
    assert told[2] == "unlimited"
    assert int(told[3]) * 512 >= 900_000_000


async def test_when_memory_runs_out_a_command_is_ended_before_us(caged: Caged) -> None:
    told = (await caged.run("sleep 0.2; cat /proc/self/oom_score_adj")).content
    assert int(told) > int(Path("/proc/self/oom_score_adj").read_text())


def test_what_works_once_works_each_time() -> None:
    best = SANDBOXES.best()
    assert best is not None
    assert all(works(best) for _ in range(30))


def test_where_bubblewrap_is_missing_landlock_takes_its_place_and_where_both_are_every_command_asks(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name, **options: None)
    without = Sandboxes()
    assert without.tier in ("landlock", "none")
    assert without.description.startswith("landlock") == (without.tier == "landlock")

    monkeypatch.setattr(landlock, "_CREATE", 1_000_000)  # a call that no kernel knows
    neither = Sandboxes()
    assert neither.tier == "none"
    assert neither.description == "no sandbox works on this machine; every command needs your approval"
    assert not neither.available()


def test_a_bubblewrap_that_the_kernel_forbids_is_not_taken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    forbidden = tmp_path / "bwrap"
    forbidden.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    forbidden.chmod(0o755)
    monkeypatch.setattr(shutil, "which", lambda name, **options: str(forbidden))
    assert Sandboxes().tier in ("landlock", "none")


async def test_a_sandbox_that_is_gone_since_it_was_found_runs_nothing(caged: Caged, tmp_path: Path) -> None:
    gone = Sandboxes()
    gone._found, gone._looked = Bubblewrap(str(tmp_path / "no-such-bwrap")), True
    caged.executor = Executor(caged.registry, [LocalBackend(caged.registry, caged.data_dir, sandboxes=gone)], Policy())
    assert (await caged.run("touch planted")).status == "error"
    assert not (caged.workspace / "planted").exists()


def test_the_rules_of_macos_hide_last_and_quote_every_path(tmp_path: Path) -> None:
    """Read, not run: the last rule that fits decides there, and a path must not end its own rule."""
    odd = tmp_path / 'a") (allow network*) ("b'
    (odd / "data").mkdir(parents=True)
    access = CommandAccess.grant(str(odd), private=[str(odd / "data")], readonly=[str(odd / ".env")])
    start = Seatbelt().wrap(["true"], access, "/", {})
    rules = start.argv[2]
    bare = re.sub(r'"(?:[^"\\]|\\.)*"', '""', rules)
    assert "network" not in bare
    assert bare.count("(") == bare.count(")")
    assert bare.index("allow file-write* (subpath") < bare.index("deny file-write* (subpath")
    assert bare.rindex("deny file-read* file-write*") > bare.rindex("allow")
    assert list(start.argv[3:]) == ["true"]


@pytest.mark.parametrize("limits", [CommandLimits(), CommandLimits(1, 2, 3_000_000), CommandLimits(0, 0, 0)])
def test_a_command_is_reported_as_it_was_given_without_its_limits(limits: CommandLimits) -> None:
    line = " ".join(limits.wrap(["/bin/sh", "-c", "ulimit -n; sleep 5"], 5))
    assert strip_limits(line) == "/bin/sh -c ulimit -n; sleep 5"
