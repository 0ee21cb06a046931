"""S6: with the home directory as workspace, no tool reads or writes what belongs to the sidecar."""

import json
from pathlib import Path

import pytest

from sidecar.cache import Caches
from tests.e2e.support import RunningSidecar
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


def test_s06_no_tool_and_no_command_reads_or_writes_the_configuration(sidecar: RunningSidecar) -> None:
    """Its hooks and tools run outside of the sandbox, so who writes there is out of it too."""
    home = Path(sidecar.environ["HOME"])
    own = Path(sidecar.environ["XDG_CONFIG_HOME"]) / "rainy-brain"
    own.mkdir(parents=True, exist_ok=True)
    (own / "mcp.json").write_text('{"canary": 1}')
    (home / "link").symlink_to(own)
    within = own.relative_to(home)
    calls = [
        {"tool": tool, "args": {"path": f"{place}/{name}", **more}}
        for place in (within, "link")
        for tool, name, more in (
            ("read_file", "mcp.json", {}),
            ("write_file", "mcp.json", {"content": "mine"}),
            ("create_file", "hooks.json", {"content": "mine"}),
            ("create_file", "tools/mine.py", {"content": "mine"}),
            ("delete_file", "mcp.json", {}),
        )
    ]
    commands = [
        "cat link/mcp.json",
        f"echo mine > {within}/hooks.json",
        f"mkdir -p {within} && touch {own}/policy.toml",
    ]
    calls += [{"tool": "run_command", "args": {"command": command}} for command in commands]
    calls += [
        {"tool": "search_code", "args": {"query": "canary"}},
        {"tool": "find_files", "args": {"pattern": "**/mcp.json"}},
    ]
    body = {"workspace": str(home), "calls": calls, "approvals": "auto", "parallel": False}
    results = sidecar.post("/api/brain/tools/batch", body).json["results"]

    assert [result["tool"] for result in results[:10] if result["status"] != "error"] == []
    assert '"canary": 1' not in json.dumps([result["content"] for result in results])
    assert results[-1]["details"]["paths"] == []
    assert [path.name for path in own.iterdir()] == ["mcp.json"]
    assert (own / "mcp.json").read_text() == '{"canary": 1}'


def test_s06_a_command_cannot_create_the_configuration(sidecar: RunningSidecar) -> None:
    home, own = Path(sidecar.environ["HOME"]), Path(sidecar.environ["XDG_CONFIG_HOME"]) / "rainy-brain"
    command = f"mkdir -p {own}; echo mine > {own}/hooks.json"
    body = {
        "workspace": str(home),
        "calls": [{"tool": "run_command", "args": {"command": command}}],
        "approvals": "auto",
    }
    sidecar.post("/api/brain/tools/batch", body)
    assert not (own / "hooks.json").exists()
