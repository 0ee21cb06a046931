"""The calls of a shell that asks its editor: each gets an answer, whatever it holds."""

from pathlib import Path
from typing import Any

import pytest

from bridge.shell.backend import CallAnswer
from bridge.shell.buffers import Buffers
from bridge.shell.editor import EditorCallRunner
from bridge.shell.open_files import OpenFiles
from sidecar.wire.bridge import OpenCall


class SavedFiles:
    """An editor without unsaved text."""

    async def read(self, path: str) -> str:
        return Path(path).read_text()

    async def write(self, path: str, text: str) -> None:
        raise OSError("read-only")


class NoReads:
    async def run(self, wanted: OpenCall) -> CallAnswer:
        raise AssertionError("the shell reads only what isn't saved")


async def answer(tmp_path: Path, tool: str, **args: Any) -> CallAnswer:
    runner = EditorCallRunner(NoReads(), OpenFiles(str(tmp_path), tmp_path / "data", SavedFiles()), Buffers())
    call = OpenCall(id="c1", tool=tool, args=args, timeout_ms=30_000, workspace=str(tmp_path))
    try:
        return await runner.run(call)
    finally:
        runner.close()


@pytest.mark.parametrize(
    ("tool", "args", "code"),
    [
        ("save_file", {}, "tool_failed"),
        ("save_file", {"path": 3}, "tool_failed"),
        ("read_file", {"path": "a.py"}, "not_open"),
        ("read_files", {"paths": ["a.py", None, "../b"]}, "not_open"),
        ("unsaved_files", {"paths": "a.py"}, None),
        ("unsaved_files", {"paths": ["a.py", "\0", "/etc/passwd"], "change": True}, None),
        ("save_file", {"path": "a.py"}, None),
    ],
)
async def test_every_call_is_answered(tool: str, args: dict[str, Any], code: str | None, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    found = await answer(tmp_path, tool, **args)
    assert (found.error.code if found.error else None) == code
    assert found.error is not None or found.result is not None
    if tool == "unsaved_files":
        assert found.result is not None and found.result.details == {"unsaved": []}
