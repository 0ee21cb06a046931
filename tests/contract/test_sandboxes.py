"""The port of sandboxes: a directory in both local tiers, a container of a real Podman, a machine of E2B's SDK."""

import asyncio
import io
import stat
import subprocess
import tarfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, NamedTuple, cast

import pytest

from sidecar.config.paths import config_file
from sidecar.config.settings import Settings
from sidecar.doctor.checks import check_sandbox
from sidecar.doctor.report import DoctorContext
from tests.support.containers import IMAGE
from tests.support.e2b_server import KEY
from tests.support.sandboxes import sandboxes_of
from tests.waiting import SECONDS
from tools.local.environment import sidecar_mark
from tools.local.processes import Processes
from tools.local.reaper import Reaper, process_table
from tools.local.root import WorkspaceRoot
from tools.sandboxes.container import Containers
from tools.sandboxes.copies import WorkspaceCopy
from tools.sandboxes.directory import Directories
from tools.sandboxes.e2b import E2bMachines
from tools.sandboxes.port import NetworkAccess, Sandbox, SandboxError, SandboxSession, SandboxSpec

_GET = """perl -MIO::Socket::INET -e '$s = IO::Socket::INET->new($ARGV[0]) or exit 7;
print $s "GET $ARGV[1] HTTP/1.1\\r\\nHost: x\\r\\nAuthorization: mine\\r\\n\\r\\n"; print while <$s>'"""
SECRET = "canary-5d41402abc4b2a76"


class Trial(NamedTuple):
    sandbox: Sandbox
    spec: SandboxSpec
    session: SandboxSession


@pytest.fixture(params=["bubblewrap", "landlock", "container", "e2b"])
async def tested(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Trial]:
    spec, sandbox = SandboxSpec(), _make(request, tmp_path, monkeypatch)
    if request.param == "container":
        spec = SandboxSpec(template=IMAGE, socket=request.getfixturevalue("socket"))
    session = await sandbox.open(spec)
    yield Trial(sandbox, spec, session)
    await session.close()
    await sandbox.close()


def _make(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Sandbox:
    match request.param:
        case "container":
            return Containers("test", {"TOKEN": SECRET}.get)
        case "e2b":
            server = request.getfixturevalue("e2b")
            monkeypatch.setenv("E2B_API_URL", server.url)
            monkeypatch.setenv("E2B_SANDBOX_URL", server.url)
            monkeypatch.setenv("E2B_HTTP_VERSION", "1.1")
            return E2bMachines("test", {"E2B_API_KEY": KEY, "TOKEN": SECRET}.get)
        case tier:
            found = sandboxes_of(tier)
            assert found is not None
            mark = sidecar_mark(tmp_path)
            processes = Processes(tmp_path, mark, Reaper(process_table(), mark))
            return Directories(processes, found, [str(tmp_path)])


async def run(session: SandboxSession, script: str, **environment: str) -> tuple[int, str, str]:
    said = {1: bytearray(), 2: bytearray()}
    code = await session.run(
        ["/bin/sh", "-c", script], environment=environment, output=lambda stream, data: said[stream].extend(data)
    )
    return code, said[1].decode(), said[2].decode()


async def test_a_command_has_its_own_environment_directory_and_streams(tested: Trial) -> None:
    code, out, error = await run(tested.session, 'echo "$NAME"; echo problem >&2; pwd; exit 3', NAME="a 'b' $c")
    assert (code, error) == (3, "problem\n")
    assert out == f"a 'b' $c\n{tested.session.workspace}\n"


async def test_a_file_is_exchanged_byte_for_byte(tested: Trial) -> None:
    content = bytes(range(256)) * 1_000
    await tested.session.write("file", content)
    code, out, _ = await run(tested.session, f"wc -c < {tested.session.exchange}/file")
    assert (code, out.strip()) == (0, "256000")
    assert await tested.session.read("file", len(content)) == content
    with pytest.raises(SandboxError):
        await tested.session.read("file", len(content) - 1)
    with pytest.raises(SandboxError):
        await tested.session.read("missing", 10)


async def test_nothing_that_a_command_started_runs_after_it(tested: Trial) -> None:
    code, _, _ = await run(tested.session, "(sleep 3017 >/dev/null 2>&1 &) ; exit 0")
    assert code == 0
    _, out, _ = await run(tested.session, "for each in /proc/[0-9]*; do tr '\\0' ' ' < $each/cmdline; echo; done; true")
    assert "sleep 3017" not in out


async def test_a_command_has_no_network_unless_it_is_given_some(tested: Trial) -> None:
    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        reached.set()
        writer.close()

    reached = asyncio.Event()
    server = await asyncio.start_server(listen, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    try:
        assert (await run(tested.session, f"{_GET} 127.0.0.1:{port} /"))[0] != 0
        assert not reached.is_set()
    finally:
        server.close()


async def test_a_cancelled_command_is_gone_with_its_sandbox(tested: Trial, tmp_path: Path) -> None:
    printed = asyncio.Event()
    work = asyncio.ensure_future(
        tested.session.run(
            ["/bin/sh", "-c", "echo on; sleep 300"], environment={}, output=lambda stream, data: printed.set()
        )
    )
    await asyncio.wait_for(printed.wait(), SECONDS)
    work.cancel()
    await asyncio.wait([work])
    await tested.session.close()
    await tested.session.close()
    assert await tested.sandbox.sweep(tested.spec) == []


async def test_what_an_earlier_process_left_is_swept(tested: Trial) -> None:
    if tested.sandbox.tier == "copy":
        pytest.skip("a directory and its processes are swept with those of the sidecar")
    assert await tested.sandbox.sweep(tested.spec) == [tested.session.name]
    assert await tested.sandbox.sweep(tested.spec) == []


async def test_output_arrives_while_the_command_runs_and_may_be_endless(tested: Trial) -> None:
    size = 0

    def count(stream: int, data: bytes) -> None:
        nonlocal size
        size += len(data)

    argv = ["/bin/sh", "-c", "yes 0123456789 | head -c 3000000"]
    assert await tested.session.run(argv, environment={}, output=count) == 0
    assert size == 3_000_000


async def test_changes_come_back_and_nothing_else(tested: Trial, tmp_path: Path) -> None:
    place = tmp_path / "project"
    place.mkdir()
    for name, text in {
        "keep.txt": "same",
        "edit.txt": "old",
        "gone.txt": "x",
        ".env": SECRET,
        ".gitignore": "out/",
    }.items():
        (place / name).write_text(text)
    (place / "run.sh").write_text("#!/bin/sh\n")
    (place / "run.sh").chmod(0o755)
    (place / "link").symlink_to("keep.txt")
    copy = WorkspaceCopy(WorkspaceRoot(str(place)), tested.session)
    await copy.prepare()
    await copy.send()
    script = """
    [ -x run.sh ] && [ "$(cat link)" = same ] && [ ! -e .env ] || exit 9
    echo new > edit.txt; rm gone.txt; mkdir -p a/b out .git/hooks; echo deep > 'a/b/new file.txt'; echo no > out/built
    echo evil > .git/hooks/pre-commit; echo evil > .envrc; ln -s /etc/passwd outside; chmod +x 'a/b/new file.txt'
    """
    assert (await run(tested.session, script))[0] == 0
    brought = await copy.bring_back(approved=False)
    assert sorted(brought.paths) == ["a/b/new file.txt", "edit.txt", "gone.txt", "outside"]
    assert (place / "edit.txt").read_text() == "new\n"
    assert stat.S_IMODE((place / "a/b/new file.txt").stat().st_mode) == 0o755
    assert not (place / "gone.txt").exists()
    assert (place / ".env").read_text() == SECRET
    assert not (place / "out").exists()
    assert not (place / ".envrc").exists()
    assert not (place / ".git").exists()
    assert any(line.startswith(".envrc: ") for line in brought.kept_there)
    assert "1 ignored file" in brought.kept_there
    assert await copy.bring_back(approved=False) == await copy.bring_back(approved=False)


async def test_an_edit_made_here_meanwhile_is_kept_and_named(tested: Trial, tmp_path: Path) -> None:
    place = tmp_path / "project"
    place.mkdir()
    (place / "both.txt").write_text("old")
    copy = WorkspaceCopy(WorkspaceRoot(str(place)), tested.session)
    await copy.prepare()
    await copy.send()
    await run(tested.session, "echo theirs > both.txt; echo theirs > new.txt")
    (place / "both.txt").write_text("mine")
    (place / "new.txt").write_text("mine")
    brought = await copy.bring_back(approved=True)
    assert brought.paths == ()
    assert [line.partition(":")[0] for line in brought.kept_there] == ["both.txt", "new.txt"]
    assert (place / "both.txt").read_text() == (place / "new.txt").read_text() == "mine"
    await copy.send()
    assert (await run(tested.session, "cat both.txt"))[1] == "mine"


async def test_a_hostile_archive_reaches_nothing_outside_the_workspace(tested: Trial, tmp_path: Path) -> None:
    place = tmp_path / "project"
    place.mkdir()
    (place / "dir").mkdir()
    (place / "dir" / "file").write_text("x")
    copy = WorkspaceCopy(WorkspaceRoot(str(place)), tested.session)
    await copy.prepare()
    await copy.send()
    # A directory becomes a link that leads out, with a file behind it.
    script = f"rm -rf dir; ln -s {tmp_path} dir; mkfifo pipe 2>/dev/null; exit 0"
    await run(tested.session, script)
    await copy.bring_back(approved=False)
    await run(tested.session, "rm dir; mkdir dir; echo evil > dir/planted")
    await copy.bring_back(approved=False)
    assert not (tmp_path / "planted").exists()


class _Forging:
    """A sandbox whose `tar` is the command's own."""

    def __init__(self, session: SandboxSession, archive: bytes) -> None:
        self._session = session
        self._archive = archive

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)

    async def read(self, name: str, limit: int) -> bytes:
        return self._archive


async def test_a_forged_archive_writes_no_protected_file_through_its_own_link(tested: Trial, tmp_path: Path) -> None:
    place = tmp_path / "project"
    (place / ".git/hooks").mkdir(parents=True)
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        link, planted = tarfile.TarInfo("dir"), tarfile.TarInfo("dir/pre-commit")
        link.type, link.linkname, planted.size = tarfile.SYMTYPE, ".git/hooks", 4
        archive.addfile(link)
        archive.addfile(planted, io.BytesIO(b"evil"))
    copy = WorkspaceCopy(WorkspaceRoot(str(place)), cast(SandboxSession, _Forging(tested.session, buffer.getvalue())))
    brought = await copy.bring_back(approved=False)
    assert not list((place / ".git/hooks").iterdir())
    assert brought.paths == ("dir",) and brought.kept_there[0].startswith("dir/pre-commit: ")


async def test_hooks_stay_in_the_sandbox_wherever_git_looks_for_them(tested: Trial, tmp_path: Path) -> None:
    place = tmp_path / "project"
    place.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=place, check=True)
    subprocess.run(["git", "config", "core.hooksPath", "tools/checks"], cwd=place, check=True)
    copy = WorkspaceCopy(WorkspaceRoot(str(place)), tested.session)
    await copy.prepare()
    await copy.send()
    await run(tested.session, "mkdir -p tools/checks; echo evil > tools/checks/pre-commit; echo fine > tools/other")
    brought = await copy.bring_back(approved=False)
    assert brought.paths == ("tools/other",) and not (place / "tools/checks").exists()
    assert brought.kept_there[0].startswith("tools/checks/pre-commit: ")
    assert (await copy.bring_back(approved=True)).paths == ("tools/checks/pre-commit",)


async def test_the_secret_of_a_host_is_never_in_the_sandbox(tested: Trial, tmp_path: Path) -> None:
    if tested.sandbox.tier == "copy":
        pytest.skip("secrets are added for containers and machines")
    heads: list[bytes] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    rule = {"value": "Bearer $TOKEN", "url": f"http://localhost:{port}"}
    spec = tested.spec.model_copy(
        update={"secrets": SandboxSpec.model_validate({"secrets": {"api.test": rule}}).secrets}
    )
    session = await tested.sandbox.open(spec)
    try:
        said = bytearray()
        script = f"{_GET} 127.0.0.1:3128 http://api.test/x; {_GET} 127.0.0.1:3128 http://other.test/; env"
        argv = ["/bin/sh", "-c", script]
        network = NetworkAccess(("api.test",))
        await session.run(argv, environment={}, output=lambda stream, data: said.extend(data), network=network)
        assert SECRET.encode() not in said
        assert (
            await run(session, f"grep -rs {SECRET} {session.workspace} {session.exchange} /tmp /proc/[0-9]*/environ")
        )[1] == ""
        if tested.sandbox.tier == "container":
            assert b"\r\n\r\nok" in said
            assert b"other.test is not among the hosts that you granted" in said
            assert len(heads) == 1
            assert f"Authorization: Bearer {SECRET}".encode() in heads[0]
    finally:
        await session.close()
        server.close()


def test_doctor_names_the_tier_and_what_is_missing(
    socket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    context = DoctorContext(tmp_path, tmp_path, {}, None)
    file = config_file().parent / "sandbox.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f'socket = "{socket}"\ntemplate = "{IMAGE}"')
    found = check_sandbox(context, Settings(sandbox="container"))
    assert (found.state, found.found.startswith("container: commands run in containers")) == ("ok", True)
    for text, problem in {
        f'socket = "{socket}"\ntemplate = "localhost/none"': "isn't there. Pull it",
        f'socket = "{tmp_path}/none"': "There is no socket of Docker or Podman",
        "ttl = 1": "`ttl`",
    }.items():
        file.write_text(text)
        assert problem in check_sandbox(context, Settings(sandbox="container")).found
    file.unlink()
    assert "brain keys set e2b" in check_sandbox(context, Settings(sandbox="e2b")).found
