"""F13: the workspace is deleted or replaced while a task works in it."""

import shutil
from pathlib import Path

import pytest

from tests.support.workbench import workbench

CALLS = [
    ("read_file", {"path": "a.txt"}),
    ("write_file", {"path": "b.txt", "content": "x"}),
    ("list_dir", {}),
    ("search_code", {"query": "x"}),
    ("run_command", {"command": "touch planted"}),
]


@pytest.mark.parametrize(("tool", "args"), CALLS)
async def test_f13_a_deleted_workspace_is_a_clean_error_and_works_again_when_it_is_back(
    tmp_path: Path, tool: str, args: dict[str, str]
) -> None:
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
