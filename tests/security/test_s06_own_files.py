"""S6: with the home directory as workspace, no file tool reads or writes what belongs to the sidecar."""

from pathlib import Path

import pytest

from sidecar.cache import Caches
from tools.executor.context import BatchContext, ToolCall
from tools.executor.executor import Executor
from tools.executor.registry import default_registry
from tools.ledger import ListLedger
from tools.local.backend import LocalBackend
from tools.policy.policy import Policy


@pytest.mark.parametrize("path", ["data/token", "data/journal.sqlite", "link/token", "x/../data/token"])
async def test_s06_the_data_directory_stays_shut(tmp_path: Path, path: str) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (tmp_path / "x").mkdir()
    (data / "token").write_text("canary")
    (data / "journal.sqlite").write_text("canary")
    (tmp_path / "link").symlink_to("data")
    registry = default_registry()
    executor = Executor(registry, [LocalBackend(registry, data)], Policy(), Caches())
    ledger = ListLedger(answer="allow")
    calls = [
        ToolCall("r", "read_file", {"path": path}),
        ToolCall("w", "write_file", {"path": path, "content": "mine"}),
        ToolCall("d", "delete_file", {"path": path}),
        ToolCall("c", "create_file", {"path": path.replace("token", "new"), "content": "mine"}),
    ]
    outcomes = await executor.batch(calls, BatchContext(str(tmp_path), "auto", ledger))
    await executor.close()

    assert all(outcome.status == "error" for outcome in outcomes)
    assert all("canary" not in outcome.content for outcome in outcomes)
    assert (data / "token").read_text() == "canary"
    assert not (data / "new").exists()
