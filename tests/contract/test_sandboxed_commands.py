"""Commands of tools in sandboxes: in the background, with a clone, after an installation, and within their time."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.containers import IMAGE
from tests.support.e2b_server import KEY
from tests.support.emulate import git
from tests.support.git_server import GitServer, git_server
from tests.support.sandboxes import sandbox_toml, sandboxes_of
from tests.support.workbench import Workbench
from tests.waiting import until_true
from tools.executor.executor import Executor
from tools.policy.policy import Policy
from tools.sandboxes.container import Containers
from tools.sandboxes.host import SandboxedBackend
from tools.sandboxes.port import SandboxError, SandboxSession, SandboxSpec

SECRET = "canary-1679091c5a880faf"


@pytest.fixture
def served(tmp_path: Path) -> Iterator[GitServer]:
    """The repository acme/shop, with a file that the workspace has too, one that it lacks, and a hook."""
    work, bare = tmp_path / "source", tmp_path / "served/acme/shop.git"
    work.mkdir()
    bare.mkdir(parents=True)
    git(bare, "init", "-q", "--bare", "-b", "main")
    git(work, "init", "-q", "-b", "main")
    (work / "notes.txt").write_text("theirs\n")
    (work / "only-there.txt").write_text("x\n")
    git(work, "add", ".")
    git(work, "commit", "-q", "-m", "first of all")
    git(work, "push", "-q", str(bare), "main")
    with git_server(tmp_path / "served") as server:
        yield server


class Bench(Workbench):
    def __init__(self, place: Path, kind: str, socket: str = "") -> None:
        super().__init__(place)
        self.kind = kind
        self._config = place / "config"
        self._config.mkdir()
        self._given = {"socket": socket, "template": IMAGE} if socket else {}
        self.configure()
        local = sandboxes_of("bubblewrap") if kind == "copy" else None
        secrets = {"TOKEN": SECRET, "E2B_API_KEY": KEY}
        self.sandboxed = SandboxedBackend(
            kind, self._config, "test", secrets.get, self.registry, self.data_dir, sandboxes=local
        )
        self.executor = Executor(self.registry, [self.sandboxed], Policy())

    def configure(self, **given: object) -> None:
        (self._config / "sandbox.toml").write_text(sandbox_toml(**self._given, **given))

    async def run(self, command: str, **more: Any) -> str:
        """What it printed; it must succeed."""
        outcome = await self.call("run_command", command=command, **more)
        assert outcome.status == "success", outcome.content
        return outcome.content

    async def start(self, command: str) -> str:
        outcome = await self.call("run_command", command=command, background=True)
        assert isinstance(outcome.details, dict), outcome.content
        return str(outcome.details["commandId"])

    async def output(self, command_id: str) -> str:
        return (await self.call("command_output", commandId=command_id)).content

    async def left(self) -> list[str]:
        """The sandboxes that are still there."""
        pool = self.sandboxed.pool
        return list(await pool.sandbox.sweep(pool.spec))


@pytest.fixture(params=["copy", "container", "e2b"])
async def bench(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Bench]:
    if request.param == "e2b":
        server = request.getfixturevalue("e2b")
        for name, value in {"API_URL": server.url, "SANDBOX_URL": server.url, "HTTP_VERSION": "1.1"}.items():
            monkeypatch.setenv(f"E2B_{name}", value)
    socket = request.getfixturevalue("socket") if request.param == "container" else ""
    opened = Bench(tmp_path / "bench", request.param, socket)
    yield opened
    await opened.executor.close()


async def until_output(bench: Bench, command_id: str, words: str) -> str:
    found = ""

    async def printed() -> bool:
        nonlocal found
        found = await bench.output(command_id)
        return words in found

    await until_true(printed)
    return found


async def test_a_command_in_the_background_is_heard_stopped_and_its_changes_come_back(bench: Bench) -> None:
    bench.write("notes.txt", "old\n")
    command_id = await bench.start("cat notes.txt; echo begun; echo new > made.txt; sleep 300")
    assert "old" in await until_output(bench, command_id, "begun")
    # Another command runs beside it, in a sandbox of its own.
    assert "beside" in await bench.run("echo beside")
    stopped = await bench.call("stop_command", commandId=command_id)
    assert stopped.status == "success", stopped.content
    assert bench.read("made.txt") == b"new\n"
    assert "begun" in await bench.output(command_id)
    await bench.sandboxed.pool.release(str(bench.workspace))
    assert await bench.left() == []


async def test_a_command_in_the_background_that_ends_leaves_its_exit_code_and_its_changes(bench: Bench) -> None:
    command_id = await bench.start("echo x > made.txt; exit 3")
    assert "3" in await until_output(bench, command_id, "xit")
    assert bench.read("made.txt") == b"x\n"
    assert await bench.left() == []


async def test_closing_ends_what_runs_in_the_background(bench: Bench) -> None:
    command_id = await bench.start("echo begun; sleep 300")
    await until_output(bench, command_id, "begun")
    await bench.executor.close()
    assert await bench.left() == []


async def test_the_environment_and_what_was_installed_first_are_there_for_each_command(bench: Bench) -> None:
    bench.configure(
        environment={"CI": "a 'b' $c"}, preinstall=["mkdir -p node_modules", "echo $CI > node_modules/made"]
    )
    assert "a 'b' $c" in await bench.run("echo $CI; cat node_modules/made")
    assert not (bench.workspace / "node_modules").exists()


async def test_an_installation_that_fails_is_named_and_leaves_no_sandbox(bench: Bench) -> None:
    bench.configure(preinstall=["echo no such package >&2; exit 7"])
    outcome = await bench.call("run_command", command="touch ran")
    assert outcome.error is not None and outcome.error.code == "sandbox_failed"
    for words in ("no such package >&2", "exit code 7", "no such package"):
        assert words in outcome.content
    assert not (bench.workspace / "ran").exists()
    assert await bench.left() == []


async def test_a_clone_brings_its_history_and_the_workspace_its_files(bench: Bench, served: GitServer) -> None:
    if bench.kind == "e2b":
        pytest.skip("the machines of the stand-in reach nothing")
    bench.write("notes.txt", "mine\n")
    if bench.kind == "copy":
        bench.configure(repository=served.url("acme/shop.git"), branch="main")
    else:
        rule = {"value": "Bearer $TOKEN", "url": f"http://localhost:{served.port}"}
        bench.configure(repository="https://git.test/acme/shop.git", secrets={"git.test": rule})
    said = await bench.run("git log --format=%s; cat notes.txt; ls; env; git config --list; echo more >> notes.txt")
    assert "first of all" in said and "mine" in said and "only-there.txt" not in said
    assert bench.read("notes.txt") == b"mine\nmore\n"
    assert sorted(path.name for path in bench.workspace.iterdir()) == ["notes.txt"]
    given = {authorization for _, authorization in served.requests}
    assert given == ({None} if bench.kind == "copy" else {f"Bearer {SECRET}"})
    # The secret was added out here: nothing inside, and nothing that was recorded, has it.
    assert SECRET not in said and SECRET not in repr(bench.ledger.events)
    assert SECRET not in await bench.run("cat /proc/[0-9]*/environ; grep -rs canary . | head; true")


async def test_a_clone_that_fails_is_named_and_leaves_no_sandbox(bench: Bench, served: GitServer) -> None:
    rule = {"value": "Bearer $TOKEN", "url": f"http://localhost:{served.port}"}
    where = served.url("acme/none.git") if bench.kind == "copy" else "https://git.test/acme/none.git"
    bench.configure(repository=where, **({} if bench.kind == "copy" else {"secrets": {"git.test": rule}}))
    outcome = await bench.call("run_command", command="touch ran")
    assert outcome.error is not None and outcome.error.code == "sandbox_failed"
    assert "none.git can't be cloned" in outcome.content
    assert not (bench.workspace / "ran").exists()
    assert await bench.left() == []


@pytest.mark.parametrize("bench", ["copy"], indirect=True)
async def test_a_sandbox_that_is_half_used_up_is_replaced_before_the_next_command(bench: Bench) -> None:
    bench.configure(ttl=60)
    await bench.run("echo x > mine.txt")
    pool = bench.sandboxed.pool
    [place] = pool._places.values()
    first = place.copy
    await bench.run("true")
    assert place.copy is first
    place.opened -= 31
    await bench.run("cat mine.txt")
    assert place.copy is not first


async def test_a_container_ends_by_itself_when_its_time_is_over(socket: str) -> None:
    containers = Containers("ttl", {}.get)
    spec = SandboxSpec(template=IMAGE, socket=socket).model_copy(update={"ttl": 3})
    session: SandboxSession | None = None
    try:
        with pytest.raises(SandboxError, match=r"running|no such|stopped"):
            session = await containers.open(spec)
            while True:
                await session.run(["/bin/sleep", "0.2"], environment={}, output=lambda stream, data: None)
    finally:
        if session is not None:
            await session.close()
        await containers.close()
