"""Tools that read or change code understand a path however it was written."""

from pathlib import Path
from typing import Any, cast

import pytest

from tests.support.workbench import workbench
from tools.paths import as_argument, normalize


def test_a_path_has_one_name() -> None:
    for written in ("a/b.py", "./a/b.py", "a//b.py", "/srv/shop/a/b.py", "/srv/shop/./a/b.py", "/srv/shop//a/b.py"):
        assert normalize(written, "/srv/shop") == "a/b.py"
    for itself in (".", "", "./", "/srv/shop", "/srv/shop/"):
        assert normalize(itself, "/srv/shop") == "."
    for elsewhere in ("/etc/passwd", "../b.py", "/srv/shops/b.py", "/srv/shop/../b.py"):
        assert normalize(elsewhere, "/srv/shop") == elsewhere


def test_a_workspace_behind_a_link_has_two_names(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    for place in ("real", "link"):
        assert normalize(f"{tmp_path}/{place}/a.py", str(tmp_path / "link")) == "a.py"


def test_a_path_is_no_option() -> None:
    assert [as_argument(path) for path in ("-x.py", "@x.py", "a/-x.py", "x.py")] == [
        "./-x.py",
        "./@x.py",
        "a/-x.py",
        "x.py",
    ]


@pytest.mark.parametrize("written", ["a.py", "./a.py", ".//a.py", "{workspace}/a.py", "{workspace}//./a.py"])
@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("write_file", {"path": "{a}", "content": "x = 2\n"}),
        ("edit_file", {"path": "{a}", "oldText": "1", "newText": "2"}),
        ("multi_edit", {"path": "{a}", "edits": [{"oldText": "1", "newText": "2"}]}),
        ("apply_patch", {"patch": "--- {a}\n+++ {a}\n@@ -1 +1 @@\n-x = 1\n+x = 2\n"}),
        ("delete_file", {"path": "{a}"}),
        ("move_file", {"from": "{a}", "to": "{a}c"}),
    ],
)
async def test_what_is_recorded_and_shown_of_a_change_has_the_files_one_name(
    tool: str, args: dict[str, Any], written: str, tmp_path: Path
) -> None:
    async with workbench(tmp_path) as bench:
        bench.write("a.py", "x = 1\n")
        name = written.format(workspace=bench.workspace)
        given = {key: value.replace("{a}", name) if isinstance(value, str) else value for key, value in args.items()}
        outcome = await bench.call(tool, "c1", **given)
        assert outcome.status == "success", outcome.content
        shown = [file["path"] for file in cast("Any", outcome.details)["files"]]
        recorded = [file.path for file in bench.ledger.intents["c1"].files]
        assert {*shown, *recorded} <= {"a.py", "a.pyc"}
        assert str(bench.workspace) not in outcome.content + outcome.summary


async def test_an_edit_that_the_agent_has_not_seen_is_kept_however_it_names_the_file(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        bench.write("a.py", "x = 1\n")
        await bench.call("read_file", path=str(bench.workspace / "a.py"))
        bench.write("a.py", "x = 'mine'\n")
        outcome = await bench.call("write_file", path="./a.py", content="x = 2\n")
        assert outcome.error is not None and outcome.error.code == "changed_elsewhere"
        assert bench.read("a.py") == b"x = 'mine'\n"
