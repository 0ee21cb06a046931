import stat
from pathlib import Path

import pytest

from sidecar.verify import workspace_copy
from sidecar.verify.workspace_copy import CopyFailed, copy_workspace
from tests.support.check_runner import leftovers


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    place = tmp_path / "workspace"
    (place / "src").mkdir(parents=True)
    (place / "src" / "a.py").write_text("now")
    (place / "run.sh").write_text("#!/bin/sh\n")
    (place / "run.sh").chmod(0o755)
    return place


async def test_a_copy_holds_everything_with_the_files_that_are_put_back(workspace: Path) -> None:
    (workspace / "__pycache__").mkdir()
    (workspace / "node_modules" / "left-pad").mkdir(parents=True)
    (workspace / "node_modules" / ".vite-temp").mkdir()
    (workspace / "link").symlink_to("src/a.py")
    put = {"src/a.py": b"then", "new.py": None, "gone/old.py": b"old"}
    (workspace / "new.py").write_text("new")
    async with copy_workspace(str(workspace), "whole", put) as copy:
        place = Path(copy.directory)
        assert stat.S_IMODE(place.stat().st_mode) == 0o700
        assert (place / "src" / "a.py").read_text() == "then"
        assert (place / "gone" / "old.py").read_text() == "old"
        assert not (place / "new.py").exists()
        assert not (place / "__pycache__").exists()
        assert (place / "node_modules" / "left-pad").is_symlink()
        assert [each.name for each in (place / "node_modules").iterdir()] == ["left-pad"]
        (place / "node_modules" / ".vite-temp").mkdir()
        assert (place / "link").readlink() == Path("src/a.py")
        assert (place / "run.sh").stat().st_mode & 0o100
        (place / "src" / "a.py").write_text("written by a test")
    assert (workspace / "src" / "a.py").read_text() == "now"
    assert not place.exists()


async def test_the_same_content_has_the_same_name_and_another_has_another(workspace: Path) -> None:
    names = []
    for content in (b"then", b"then", b"other"):
        async with copy_workspace(str(workspace), "named", {"src/a.py": content}) as copy:
            names.append(copy.content)
    assert names[0] == names[1] != names[2]


async def test_nothing_is_written_through_a_link_that_leads_out(workspace: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (workspace / "out").symlink_to(outside)
    with pytest.raises(CopyFailed, match="behind a link"):
        async with copy_workspace(str(workspace), "linked", {"out/x.py": b"x"}):
            pass
    assert list(outside.iterdir()) == []
    assert not leftovers("linked")


async def test_what_is_too_large_is_not_copied_and_nothing_is_left(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workspace_copy, "MAX_BYTES", 2)
    with pytest.raises(CopyFailed, match="more than"):
        async with copy_workspace(str(workspace), "large", {}):
            pass
    assert not leftovers("large")


async def test_a_workspace_that_is_gone_cannot_be_copied(tmp_path: Path) -> None:
    with pytest.raises(CopyFailed, match="can't be copied"):
        async with copy_workspace(str(tmp_path / "nowhere"), "gone", {}):
            pass


async def test_what_a_killed_process_left_is_removed(workspace: Path) -> None:
    async with copy_workspace(str(workspace), "left", {}) as copy:
        left = Path(copy.directory).with_name("brain-copy-left-old")
        left.mkdir()
        (left / "file").touch()
    async with copy_workspace(str(workspace), "left", {}):
        assert not left.exists()


async def test_a_copy_finds_the_environment_of_the_project(
    workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "elsewhere"
    (home / "bin").mkdir(parents=True)
    (home / "bin" / "python").write_text("#!/bin/sh\n")
    (home / "bin" / "python").chmod(0o755)
    (workspace / "uv.lock").touch()
    (workspace / "env").mkdir()
    (workspace / "env" / "pyvenv.cfg").touch()
    monkeypatch.setenv("UV_PROJECT_ENVIRONMENT", str(home))
    async with copy_workspace(str(workspace), "environment", {}) as copy:
        assert (Path(copy.directory) / ".venv").readlink() == home
        assert (Path(copy.directory) / "env").readlink() == workspace / "env"
