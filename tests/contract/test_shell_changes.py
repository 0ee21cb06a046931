"""The sidecar records a shell's file changes, by commands and by edits, so that they can be undone."""

from pathlib import Path

from tests.support.loopback import loopback
from tools.executor.context import BatchContext, ToolCall
from tools.executor.executor import Executor
from tools.executor.registry import default_registry
from tools.ledger import ListLedger, digest
from tools.local.backend import LocalBackend
from tools.policy.policy import Policy


async def test_a_shells_changes_are_recorded_with_both_contents(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "a.txt").write_text("one\n")
    registry = default_registry()
    local, ledger = LocalBackend(registry, tmp_path / "data"), ListLedger()
    async with loopback() as bridge, bridge.reference_shell(workspace, tmp_path / "shell"):
        executor = Executor(registry, [bridge.backend, local], Policy())
        context = BatchContext(str(workspace), "auto", ledger)
        calls = [
            ToolCall("c1", "run_command", {"command": "echo two >> a.txt"}),
            ToolCall("c2", "write_file", {"path": "b.txt", "content": "b\n"}),
        ]
        ran, wrote = await executor.batch(calls, context, parallel=False)
        await executor.close()
    assert (ran.executor, wrote.executor) == ("shell", "shell")
    assert [(file.path, file.before, file.after) for file in ran.files] == [
        ("a.txt", digest(b"one\n"), digest(b"one\ntwo\n"))
    ]
    assert [(file.path, file.before, file.after) for file in wrote.files] == [("b.txt", None, digest(b"b\n"))]
    assert {digest(b"one\n"), digest(b"one\ntwo\n"), digest(b"b\n")} <= ledger.blobs.keys()
