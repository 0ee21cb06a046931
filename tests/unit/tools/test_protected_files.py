"""The protected files of a workspace as they are found, and where what was taken back is kept."""

import errno
import os
from pathlib import Path

import pytest

from tools.local.inventory import Inventory
from tools.local.quarantine import Quarantine


def _made(place: Path, content: str = "x") -> Path:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(content)
    return place


def test_a_git_file_that_led_into_a_folder_leaves_no_blind_spot_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _made(tmp_path / "src/deep/code.py")
    inventory = Inventory(str(tmp_path))
    # As if it had been there for long: what is young is listed again in any case.
    monkeypatch.setattr("tools.local.inventory._YOUNG", 0)
    link = _made(tmp_path / ".git", "gitdir: src\n")
    inventory.look()
    link.unlink()
    inventory.look()
    _made(tmp_path / "src/deep/.vscode/tasks.json")
    assert "src/deep/.vscode/tasks.json" in inventory.look()


def test_a_pipe_in_the_place_of_a_git_file_ends_no_look(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / ".git")
    os.mkfifo(tmp_path / ".env")
    held = [os.open(tmp_path / name, os.O_RDWR | os.O_NONBLOCK) for name in (".git", ".env")]
    try:
        assert {".git", ".env"} <= Inventory(str(tmp_path)).look().keys()
    finally:
        for handle in held:
            os.close(handle)


def test_many_git_files_that_lead_to_the_same_folder_cost_one_walk_through_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(20):
        _made(tmp_path / f"big/{number}/file")
        _made(tmp_path / f"many/{number}/.git", f"gitdir: {tmp_path}/big\n")
    listed: list[str] = []
    scandir = os.scandir

    def counted(place: str) -> object:
        listed.append(place)
        return scandir(place)

    monkeypatch.setattr("tools.local.inventory.os.scandir", counted)
    Inventory(str(tmp_path)).look()
    assert len(listed) < 100


def _taken(quarantine: Quarantine, place: Path, path: str) -> Path:
    handle = os.open(place.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        return quarantine.take(handle, place.name, "c1", path)
    finally:
        os.close(handle)


def test_a_path_too_long_for_one_name_is_set_aside_all_the_same(tmp_path: Path) -> None:
    path = "/".join(["a" * 90, "b" * 90, "c" * 90, ".vscode", "tasks.json"])
    kept = _taken(Quarantine(tmp_path / "aside"), _made(tmp_path / "workspace" / path, "planted"), path)
    assert kept.read_text() == "planted"
    assert kept.name.endswith(".vscode∕tasks.json")


def test_who_writes_a_file_again_and_again_does_not_fill_the_disk(tmp_path: Path) -> None:
    quarantine = Quarantine(tmp_path / "aside")
    for number in range(300):
        kept = _taken(quarantine, _made(tmp_path / ".env", str(number)), ".env")
    assert kept.read_text() == "299"
    assert len(list(kept.parent.iterdir())) == 20


@pytest.mark.parametrize("kind", ["file", "link", "pipe"])
def test_on_another_file_system_it_is_copied_and_a_pipe_is_not_read(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def other(*args: object, **options: object) -> None:
        raise OSError(errno.EXDEV, "Invalid cross-device link")

    monkeypatch.setattr("tools.local.quarantine.os.rename", other)
    place = tmp_path / ".env"
    if kind == "file":
        place.write_text("planted")
    elif kind == "link":
        place.symlink_to("elsewhere")
    else:
        os.mkfifo(place)
    kept = _taken(Quarantine(tmp_path / "aside"), place, ".env")
    assert not os.path.lexists(place)
    assert os.path.lexists(kept) == (kind != "pipe")
    if kind == "link":
        assert kept.readlink() == Path("elsewhere")
