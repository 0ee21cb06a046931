"""The reference shell over a real WebSocket: unsaved buffers, its log, its processes."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bridge.shell.buffers import BufferHost
from bridge.shell.shell import ReferenceShell
from sidecar.config.data_dir import ShellDirectory
from sidecar.wire.bridge import Diagnostic
from tests.support.loopback import Loopback, loopback, start_call
from tests.waiting import SECONDS, until_true
from tools.errors import ChangedElsewhere, ToolError
from tools.host import FileChange


@pytest.fixture
async def bridge() -> AsyncIterator[Loopback]:
    async with loopback() as made:
        yield made


@pytest.fixture
async def shell(bridge: Loopback, tmp_path: Path) -> AsyncIterator[ReferenceShell]:
    workspace, private = tmp_path / "workspace", tmp_path / "workspace" / "data"
    private.mkdir(parents=True)
    (private / "token").write_text("secret")
    async with bridge.reference_shell(workspace, tmp_path / "shell", private=[private]) as made:
        yield made


async def test_an_unsaved_buffer_wins_over_the_disk(bridge: Loopback, shell: ReferenceShell) -> None:
    workspace = Path(shell.workspace)
    (workspace / "a.py").write_text("saved\n")
    shell.open_buffer("a.py", "unsaved, ä\n")
    assert (await start_call(bridge, "read_file", "c1", workspace, path="a.py")).content == "1 unsaved, ä"
    shell.close_buffer("a.py")
    assert (await start_call(bridge, "read_file", "c2", workspace, path="a.py")).content == "1 saved"


async def test_an_edit_changes_the_buffer_and_saves_it(bridge: Loopback, shell: ReferenceShell) -> None:
    workspace = Path(shell.workspace)
    (workspace / "a.py").write_text("x = 1\n")
    shell.open_buffer("a.py", "x = 1\ny = 2\n")
    await start_call(bridge, "edit_file", "c1", workspace, path="a.py", oldText="y = 2", newText="y = 3")
    assert shell.buffer("a.py") == "x = 1\ny = 3\n" == (workspace / "a.py").read_text()
    await start_call(bridge, "delete_file", "c2", workspace, path="a.py")
    assert shell.buffer("a.py") is None and not (workspace / "a.py").exists()


async def test_a_link_that_appeared_since_the_policys_look_leads_to_no_protected_file(
    bridge: Loopback, shell: ReferenceShell
) -> None:
    workspace = Path(shell.workspace)
    (workspace / ".git/hooks").mkdir(parents=True)
    (workspace / "real").mkdir()
    (workspace / "docs").symlink_to(".git/hooks")
    (workspace / "other").symlink_to("real")
    with pytest.raises(ToolError, match=r"leads to \.git/hooks"):
        await start_call(bridge, "create_file", "c1", workspace, path="docs/pre-commit", content="evil")
    assert not list((workspace / ".git/hooks").iterdir())
    await start_call(bridge, "create_file", "c2", workspace, path="other/a.txt", content="a")
    assert (workspace / "real/a.txt").read_text() == "a"


async def test_a_buffer_of_a_file_that_does_not_exist_yet(bridge: Loopback, shell: ReferenceShell) -> None:
    workspace = Path(shell.workspace)
    shell.open_buffer("new.py", "only here\n")
    assert (await start_call(bridge, "read_file", "c1", workspace, path="new.py")).content == "1 only here"
    await start_call(bridge, "edit_file", "c2", workspace, path="new.py", oldText="only here", newText="on disk")
    assert (workspace / "new.py").read_text() == "on disk\n"


async def test_a_patch_of_several_files_is_all_or_nothing(
    bridge: Loopback, shell: ReferenceShell, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = Path(shell.workspace)
    (workspace / "a").write_text("old\n")
    (workspace / "b").write_text("old\n")
    apply = BufferHost.apply

    async def edited_meanwhile(host: BufferHost, change: FileChange) -> None:
        if change.path == "b":
            raise ChangedElsewhere("b was edited meanwhile.")
        await apply(host, change)

    monkeypatch.setattr(BufferHost, "apply", edited_meanwhile)
    patch = "".join(f"--- a/{name}\n+++ b/{name}\n@@ -1 +1 @@\n-old\n+new\n" for name in "ab")
    with pytest.raises(ToolError, match="edited meanwhile"):
        await start_call(bridge, "apply_patch", "c1", workspace, patch=patch)
    assert (workspace / "a").read_text() == "old\n"


async def test_the_sidecars_own_directory_stays_shut(bridge: Loopback, shell: ReferenceShell) -> None:
    for number, tool in enumerate(("read_file", "write_file")):
        args = {"path": "data/token"} | ({"content": "x"} if tool == "write_file" else {})
        with pytest.raises(ToolError) as denied:
            await start_call(bridge, tool, f"c{number}", Path(shell.workspace), **args)
        assert denied.value.code == "path_denied"


async def test_what_is_no_call_is_an_error_with_a_code(bridge: Loopback, shell: ReferenceShell) -> None:
    with pytest.raises(ToolError) as refused:
        await start_call(bridge, "read_file", "c1", Path(shell.workspace), path="a", surprise=True)
    assert refused.value.code == "invalid_arguments"


async def test_what_a_model_may_do_about_an_error_is_distinguished_from_what_happened(
    bridge: Loopback, shell: ReferenceShell
) -> None:
    with pytest.raises(ToolError) as missing:
        await start_call(bridge, "edit_file", "c1", Path(shell.workspace), path="a", oldText="x", newText="y")
    assert missing.value.message == "a does not exist."
    assert "find_files" in missing.value.advice


async def test_a_command_goes_on_through_a_lost_connection_and_runs_once(
    bridge: Loopback, shell: ReferenceShell
) -> None:
    workspace = Path(shell.workspace)
    command = "echo run >> log; until [ -e go ]; do sleep 0.01; done; echo done"
    asked = start_call(bridge, "run_command", "c1", workspace, command=command)
    await until_true((workspace / "log").exists)
    for outlet in list(bridge.dispatcher._outlets.values()):
        outlet._abort()  # type: ignore[attr-defined]
    await until_true(lambda: not shell.connected.is_set())
    await asyncio.wait_for(shell.connected.wait(), SECONDS)
    (workspace / "go").touch()
    assert "done" in (await asked).content
    assert (workspace / "log").read_text() == "run\n"


async def test_a_cancel_kills_the_process_and_names_it(bridge: Loopback, shell: ReferenceShell) -> None:
    workspace = Path(shell.workspace)
    heard: list[object] = []
    asked = start_call(bridge, "run_command", "c1", workspace, reports=heard, command="echo $$ > pid; exec sleep 1000")
    await until_true(lambda: (workspace / "pid").exists() and (workspace / "pid").read_text().strip())
    pid = int((workspace / "pid").read_text())
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked
    assert not Path(f"/proc/{pid}").exists()
    assert [each[0] for each in heard if isinstance(each, tuple)] == [pid]


async def test_a_background_command_is_ended_from_afar(bridge: Loopback, shell: ReferenceShell) -> None:
    workspace = Path(shell.workspace)
    command = "echo $$ > pid; exec sleep 1000"
    await start_call(bridge, "run_command", "c1", workspace, command=command, background=True)
    await until_true(lambda: (workspace / "pid").exists() and (workspace / "pid").read_text().strip())
    pid = int((workspace / "pid").read_text())
    assert pid in [each.pid for each in await bridge.backend.stop("c1", str(workspace))]
    assert not Path(f"/proc/{pid}").exists()
    assert await bridge.backend.stop("never", str(workspace)) == []
    assert await bridge.backend.stop("c1", "/elsewhere") == ()


async def test_what_the_editor_knows_is_reported(bridge: Loopback, shell: ReferenceShell) -> None:
    (Path(shell.workspace) / "a.py").write_text("x\n")
    shell.focus("a.py")
    shell.diagnostics("a.py", [Diagnostic(line=2, message="no")])
    shell.file_changed("b.py")
    await until_true(lambda: bridge.changed)
    assert bridge.changed == [f"{shell.workspace}/b.py"]
    assert bridge.dispatcher.editor.focus(shell.workspace) == "a.py"
    found = bridge.dispatcher.editor.diagnostics(shell.workspace)
    assert found is not None and found["a.py"][0].message == "no"


async def test_a_call_of_before_a_restart_is_awaited_until_its_shell_is_back(bridge: Loopback, tmp_path: Path) -> None:
    waiting = asyncio.create_task(bridge.backend.returned("c1", "write_file", str(tmp_path), None))
    async with bridge.raw_shell(tmp_path / "elsewhere", "write_file") as other:
        await other.hello()
        assert not waiting.done()
        async with bridge.raw_shell(tmp_path, "write_file") as back:
            await back.hello(remembers=["c1"])
            assert await asyncio.wait_for(waiting, SECONDS)
        async with bridge.raw_shell(tmp_path, "write_file") as new:
            await new.hello()
            assert not await asyncio.wait_for(bridge.backend.returned("c2", "write_file", str(tmp_path), None), SECONDS)


def test_each_shell_has_a_place_of_its_own_and_leaves_it(tmp_path: Path) -> None:
    one, two = ShellDirectory(tmp_path), ShellDirectory(tmp_path)
    assert one.path != two.path
    one.release()
    again = ShellDirectory(tmp_path)
    assert again.path == one.path
    again.release(), two.release()
