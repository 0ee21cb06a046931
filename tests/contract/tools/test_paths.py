"""Tools that read or change code understand a path however it was written."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.workbench import Workbench, workbench
from tests.waiting import until_true

CODE = "import sys\nimport os\n\n\ndef load(x):\n    return x + 42\n\n\nprint(os, sys)\n"


USER = "from pkg.a import load\n\nprint(load(2))\n"


@pytest.mark.timeout(20)
@pytest.mark.parametrize("root", ["", "./", "{workspace}/"])
@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("rename_symbol", {"symbol": "load", "newName": "read", "path": "pkg/a.py"}),
        ("move_symbol", {"symbol": "load", "from": "pkg/a.py", "to": "pkg/c.py"}),
        ("organize_imports", {"paths": ["pkg/a.py"]}),
        ("describe_file", {"path": "pkg/a.py"}),
        ("describe_symbol", {"symbol": "load", "path": "pkg/a.py"}),
        ("find_usages", {"symbol": "load", "path": "pkg/a.py"}),
    ],
)
async def test_what_a_tool_does_is_the_same_however_the_path_was_written(
    tool: str, args: dict[str, Any], root: str, tmp_path: Path
) -> None:
    said = []
    for prefix in ("", root):
        async with workbench(tmp_path / f"at{len(said)}") as bench:
            for path, text in (("pkg/__init__.py", ""), ("pkg/a.py", CODE), ("pkg/b.py", USER)):
                bench.write(path, text)
            start = prefix.format(workspace=bench.workspace)
            given = {name: _behind(start, value) for name, value in args.items()}
            outcome = await bench.call(tool, **given)
            assert outcome.status == "success", outcome.content
            files = {str(each): each.read_text() for each in sorted(bench.workspace.rglob("*.py"))}
            said.append((outcome.summary, [text for _, text in sorted(files.items())]))
    assert said[0] == said[1]


def _behind(start: str, value: Any) -> Any:
    if isinstance(value, list):
        return [_behind(start, each) for each in value]
    return f"{start}{value}" if value.endswith(".py") else value


RENAMES = """
import os, sys
os.chdir(sys.argv[1])
open("one", "w").close()
while True:
    os.rename("one", "other")
    os.rename("other", "one")
"""


async def test_a_link_upwards_is_followed_while_others_rename_files(bench: Workbench, tmp_path: Path) -> None:
    """The kernel answers that it can't be sure of a `..`, and is asked again."""
    bench.write("d/real.txt", "real\n")
    bench.write("e/x", "")
    (bench.workspace / "e" / "link").symlink_to("../d/real.txt")
    host = bench.backend.host(str(bench.workspace))
    busy = tmp_path / "busy"
    busy.mkdir()
    renaming = subprocess.Popen([sys.executable, "-c", RENAMES, str(busy)])
    try:
        await until_true(lambda: any(busy.iterdir()))
        for _ in range(3_000):
            assert await host.read("e/link", 100) == b"real\n"
    finally:
        renaming.kill()
        renaming.wait()
