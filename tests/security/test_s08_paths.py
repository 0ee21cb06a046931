"""S8 to S11: no path, link, race or failed look-up leads out of the workspace."""

import ctypes
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.faults.scale import scaled
from tests.support.workbench import workbench
from tools.errors import ToolError
from tools.host import FileChange
from tools.local.files import apply_change, list_directory, read_file, remove_empty_folders
from tools.local.root import WorkspaceRoot


@pytest.fixture(params=["openat2", "walk"])
def root(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[WorkspaceRoot]:
    (tmp_path / "app").mkdir()
    opened = WorkspaceRoot(str(tmp_path / "app"), kernel=request.param == "openat2")
    yield opened
    opened.close()


def _names(directory: Path) -> list[str]:
    return [place.name for place in directory.iterdir()]


def _denied(root: WorkspaceRoot, path: str) -> None:
    for act in (
        lambda: read_file(root, path, 100),
        lambda: apply_change(root, FileChange(path, None, b"planted")),
        lambda: list_directory(root, path),
    ):
        with pytest.raises(ToolError):
            act()


def test_s08_a_neighbour_whose_name_begins_the_same_is_outside(root: WorkspaceRoot, tmp_path: Path) -> None:
    (tmp_path / "app-evil").mkdir()
    (tmp_path / "app-evil/s").write_text("secret")

    for path in (f"{tmp_path}/app-evil/s", "../app-evil/s", "x/../../app-evil/s", f"{tmp_path}/app/../app-evil/s"):
        _denied(root, path)
    assert _names(tmp_path / "app-evil") == ["s"]


def test_s09_a_planted_link_is_not_followed(root: WorkspaceRoot, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "k").write_text("secret")
    (tmp_path / "app/absolute").symlink_to(outside)
    (tmp_path / "app/relative").symlink_to("../outside")
    (tmp_path / "app/file").symlink_to(outside / "k")
    (tmp_path / "app/magic").symlink_to("/proc/self/root")

    for path in ("absolute/k", "relative/k", "file", f"magic{outside}/k", "absolute", "absolute/new"):
        _denied(root, path)
    assert (outside / "k").read_text() == "secret"
    assert _names(outside) == ["k"]


async def test_s09_a_link_that_a_command_planted_is_not_written_through(tmp_path: Path) -> None:
    home = tmp_path / "home/.ssh"
    home.mkdir(parents=True)
    async with workbench(tmp_path) as bench:
        bench.ledger.answer = "allow"  # the command names ~/.ssh, and is asked about
        await bench.call("run_command", command=f"ln -s {home} x")
        for tool, args in (
            ("write_file", {"path": "x/k", "content": "key"}),
            ("create_file", {"path": "x/k", "content": "key"}),
            ("read_file", {"path": "x"}),
            ("list_dir", {"path": "x"}),
            ("search_code", {"query": "key", "path": "x"}),
            ("find_files", {"pattern": "*", "path": "x"}),
            ("run_command", {"command": "touch k", "cwd": "x"}),
        ):
            outcome = await bench.call(tool, **args)
            assert outcome.error is not None and outcome.error.code == "path_denied", tool
    assert _names(home) == []


def exchange_forever(one: Path, other: Path, stop: threading.Event) -> threading.Thread:
    """A thread that exchanges two names as fast as the machine can, until `stop`."""

    def flip() -> None:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
        while not stop.is_set():
            rename(-100, os.fsencode(one), -100, os.fsencode(other), 2)  # RENAME_EXCHANGE

    flipper = threading.Thread(target=flip)
    flipper.start()
    return flipper


def test_s10_a_path_that_is_swapped_all_the_time_never_leads_outside(root: WorkspaceRoot, tmp_path: Path) -> None:
    """`x` is a directory and a link to outside in turn, exchanged as fast as the machine can."""
    app, outside = tmp_path / "app", tmp_path / "outside"
    outside.mkdir()
    (outside / "f").write_bytes(b"outside")
    (app / "x").mkdir()
    (app / "x/f").write_bytes(b"inside")
    (app / "y").symlink_to(outside)
    stop = threading.Event()
    flipper = exchange_forever(app / "x", app / "y", stop)
    reads = refused = 0
    deadline = time.monotonic() + scaled(1, 4)
    try:
        while time.monotonic() < deadline:
            try:
                assert read_file(root, "x/f", 100) == b"inside"
                reads += 1
            except ToolError:
                refused += 1
            try:
                apply_change(root, FileChange("x/new", None, b"planted"))
                apply_change(root, FileChange("x/new", b"planted", None))
            except ToolError:
                refused += 1
    finally:
        stop.set()
        flipper.join()

    assert _names(outside) == ["f"]
    assert (outside / "f").read_bytes() == b"outside"
    assert reads and refused


def test_s10_an_undo_removes_no_folders_behind_a_link(root: WorkspaceRoot, tmp_path: Path) -> None:
    app = tmp_path / "app"
    (app / "real/empty").mkdir(parents=True)
    (app / "folder").symlink_to("real")
    remove_empty_folders(root, ["folder/empty", "folder"])
    assert (app / "real/empty").is_dir() and (app / "folder").is_symlink()
    remove_empty_folders(root, ["real/empty", "real"])
    assert _names(app) == ["folder"]


def test_s10_a_link_that_appears_on_a_checked_path_is_not_followed(root: WorkspaceRoot, tmp_path: Path) -> None:
    app = tmp_path / "app"
    (app / "real").mkdir()
    (app / "real/f").write_bytes(b"f")
    (app / "folder").symlink_to("real")
    (app / "file").symlink_to("real/f")
    for path in ("folder/f", "file"):
        with pytest.raises(ToolError):
            apply_change(root, FileChange(path, b"f", b"planted", located=True))
    for path in ("folder/new", "folder/deep/new"):
        with pytest.raises(ToolError):
            apply_change(root, FileChange(path, None, b"planted", located=True))
    assert _names(app / "real") == ["f"] and (app / "real/f").read_bytes() == b"f"
    apply_change(root, FileChange("folder/f", b"f", b"as before"))
    assert (app / "real/f").read_bytes() == b"as before"


@pytest.mark.parametrize(("link", "path"), [("a.txt", "x"), ("plain", "x/ci.yml")])
async def test_s10_a_link_that_is_swapped_all_the_time_never_leads_to_a_protected_file(
    tmp_path: Path, link: str, path: str
) -> None:
    """A command in the background can exchange what a name means between the check and the write."""
    async with workbench(tmp_path, approvals="auto") as bench:
        bench.ledger.answer = "deny"
        bench.write(".github/workflows/ci.yml", "a")
        bench.write("plain/ci.yml", "a")
        (bench.workspace / "x").symlink_to(link)
        (bench.workspace / "y").symlink_to(".github/workflows/ci.yml" if path == "x" else ".github/workflows")
        stop, ends = threading.Event(), set()
        flipper = exchange_forever(bench.workspace / "x", bench.workspace / "y", stop)
        try:
            for number in range(scaled(150, 3_000)):
                # The same content behind both names.
                bench.write(link if path == "x" else "plain/ci.yml", "a")
                outcome = await bench.call("write_file", path=path, content=f"planted {number}")
                assert bench.read(".github/workflows/ci.yml") == b"a"
                ends.add(outcome.status)
        finally:
            stop.set()
            flipper.join()
        assert ends == {"success", "error"}


def test_s11_what_cannot_be_looked_up_is_denied(root: WorkspaceRoot, tmp_path: Path) -> None:
    app = tmp_path / "app"
    (app / "loop").symlink_to("loop")
    (app / "ping").symlink_to("pong")
    (app / "pong").symlink_to("ping")
    (app / "dangling").symlink_to("../nowhere/at/all")

    paths = [
        "loop",
        "loop/x",
        "ping",
        "dangling",
        "dangling/x",
        "a" * 300,
        "/".join(["d"] * 3000),
        "nul\0byte",
        "",
        "\ud800",
    ]
    for path in paths[:-2]:
        with pytest.raises(ToolError):
            read_file(root, path, 100)
    for path in ("loop", "ping", "dangling", "a" * 300, "nul\0byte", "\ud800"):
        with pytest.raises(ToolError):
            apply_change(root, FileChange(path, None, b"x"))
    assert not (tmp_path / "nowhere").exists()


def test_s11_an_unreadable_parent_is_denied(tmp_path: Path) -> None:
    """As another user, because root reads everything."""
    app = tmp_path / "app"
    (app / "closed").mkdir(parents=True)
    (app / "closed/f").write_text("x")
    (app / "closed").chmod(0)
    for place in [tmp_path, *tmp_path.parents]:
        if place.owner() == "root" and place.name.startswith(("pytest", "test_")):
            place.chmod(0o755)
    if os.geteuid() != 0:
        with pytest.raises(ToolError):
            read_file(WorkspaceRoot(str(app)), "closed/f", 10)
        return
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.setgid(65534)
            os.setuid(65534)
            read_file(WorkspaceRoot(str(app)), "closed/f", 10)
        except ToolError as error:
            code = 0 if error.code in ("path_denied", "workspace_gone") else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    (app / "closed").chmod(0o700)


async def test_s11_every_tool_with_a_path_takes_it_through_the_root(tmp_path: Path) -> None:
    calls: list[tuple[str, dict[str, Any]]] = [
        ("read_file", {"path": "{}"}),
        ("list_dir", {"path": "{}"}),
        ("read_directory_tree", {"path": "{}"}),
        ("find_files", {"pattern": "*", "path": "{}"}),
        ("search_code", {"query": "root", "path": "{}"}),
        ("write_file", {"path": "{}", "content": ""}),
        ("create_file", {"path": "{}", "content": ""}),
        ("edit_file", {"path": "{}", "oldText": "root", "newText": ""}),
        ("multi_edit", {"path": "{}", "edits": [{"oldText": "root", "newText": ""}]}),
        ("apply_patch", {"patch": "--- a/{0}\n+++ b/{0}\n@@ -1 +1 @@\n-a\n+b\n"}),
        ("move_file", {"from": "{}", "to": "here"}),
        ("delete_file", {"path": "{}"}),
        ("run_command", {"command": "true", "cwd": "{}"}),
        ("git_blame", {"path": "{}"}),
        ("get_diagnostics", {"paths": ["{}"]}),
        ("analyze_code", {"path": "{}"}),
        ("find_symbols", {"query": "x", "path": "{}"}),
        ("describe_symbol", {"symbol": "x", "path": "{}"}),
        ("find_usages", {"symbol": "x", "path": "{}"}),
        ("describe_file", {"path": "{}"}),
        ("review_changes", {"paths": ["{}"]}),
    ]
    async with workbench(tmp_path) as bench:
        bench.ledger.answer = "allow"
        for tool, args in calls:
            for path in ("/etc/passwd", "../data", "/"):
                filled = {
                    name: value.replace("{}", path).replace("{0}", path)
                    if isinstance(value, str)
                    else [path]
                    if value == ["{}"]
                    else value
                    for name, value in args.items()
                }
                outcome = await bench.call(tool, **filled)
                assert outcome.error is not None, (tool, path)
                assert outcome.error.code == "path_denied", (tool, path, outcome.content)
