"""F13: the workspace is deleted or replaced while a task works in it."""

import asyncio
import shutil
import time
from pathlib import Path

import pytest

from tests.support.workbench import workbench
from tools.executor import runner

CALLS = [
    ("read_file", {"path": "a.txt"}),
    ("write_file", {"path": "b.txt", "content": "x"}),
    ("list_dir", {}),
    ("search_code", {"query": "x"}),
    ("run_command", {"command": "touch planted"}),
]


@pytest.mark.parametrize(("tool", "args"), CALLS)
async def test_f13_a_call_waits_for_a_workspace_that_is_gone_for_a_moment(
    tmp_path: Path, tool: str, args: dict[str, str]
) -> None:
    async with workbench(tmp_path) as bench:
        bench.write("a.txt", "x\n")
        bench.workspace.rename(tmp_path / "away")
        calling = asyncio.create_task(bench.call(tool, **args))
        done, _ = await asyncio.wait([calling], timeout=0.3)
        assert not done
        (tmp_path / "away").rename(bench.workspace)
        assert (await calling).status == "success"


async def test_f13_calls_wait_once_for_a_workspace_that_does_not_come_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with workbench(tmp_path) as bench:
        shutil.rmtree(bench.workspace)
        monkeypatch.setattr(runner, "WORKSPACE_SECONDS", 0.5)
        began = time.monotonic()
        await bench.call("list_dir")
        first = time.monotonic() - began
        monkeypatch.setattr(runner, "WORKSPACE_SECONDS", 3_600)
        outcome = await bench.call("read_file", path="a.txt")
        assert first >= 0.5 and outcome.error is not None and outcome.error.code == "workspace_gone"


@pytest.mark.parametrize(("tool", "args"), CALLS)
async def test_f13_a_deleted_workspace_is_a_clean_error_and_works_again_when_it_is_back(
    tmp_path: Path, tool: str, args: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "WORKSPACE_SECONDS", 0.1)
    async with workbench(tmp_path) as bench:
        bench.write("a.txt", "x\n")
        assert (await bench.call("read_file", path="a.txt")).status == "success"
        shutil.rmtree(bench.workspace)

        gone = await bench.call(tool, **args)

        assert gone.error is not None and gone.error.code == "workspace_gone"
        assert not bench.workspace.exists()
        bench.workspace.mkdir()
        bench.write("a.txt", "x\n")
        assert (await bench.call(tool, **args)).status == "success"


@pytest.mark.parametrize(("tool", "args"), CALLS)
async def test_f13_a_workspace_replaced_by_a_link_is_not_followed(
    tmp_path: Path, tool: str, args: dict[str, str]
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.txt").write_text("secret x\n")
    async with workbench(tmp_path) as bench:
        bench.write("a.txt", "x\n")
        await bench.call("read_file", path="a.txt")
        bench.workspace.rename(tmp_path / "moved")
        bench.workspace.symlink_to(outside)

        outcome = await bench.call(tool, **args)

        assert outcome.error is not None and outcome.error.code == "workspace_gone"
        assert "secret" not in outcome.content
    assert [place.name for place in outside.iterdir()] == ["a.txt"]
    assert [place.name for place in (tmp_path / "moved").iterdir()] == ["a.txt"]
