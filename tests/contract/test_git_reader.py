"""The index of a repository, read as bytes, says what Git itself says; given anything else, it says nothing."""

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.local.git import parse_index
from tools.local.repository.git import Git
from tools.local.repository.view import RepositoryViews
from tools.local.special_files import SpecialFiles


def git(workspace: Path, *words: str) -> bytes:
    command = ["git", "-c", "user.name=A", "-c", "user.email=a@example.com", *words]
    return subprocess.run(command, cwd=workspace, check=True, capture_output=True).stdout


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q", "-b", "main")
    for number in range(30):
        place = tmp_path / f"dir{number % 4}" / f"file-{number:0{number % 7 + 1}}.txt"
        place.parent.mkdir(exist_ok=True)
        place.write_text(f"{number}\n")
    (tmp_path / os.fsdecode(b"na\xefve")).write_text("x")
    (tmp_path / "link").symlink_to("dir0")
    git(tmp_path, "add", "-A")
    return tmp_path


def listed(workspace: Path) -> dict[str, tuple[str, str]]:
    """Path, mode and content, as Git lists them."""
    found = {}
    for row in git(workspace, "ls-files", "--stage", "-z").split(b"\0")[:-1]:
        words, _, path = row.partition(b"\t")
        mode, content, _ = words.decode().split(" ")
        found[os.fsdecode(path)] = (mode, content)
    return found


@pytest.mark.parametrize("version", [2, 3, 4])
def test_every_version_is_read_as_git_reads_it(repository: Path, version: int) -> None:
    if version == 3:
        (repository / "later").write_text("x")
        git(repository, "add", "--intent-to-add", "later")
    else:
        git(repository, "update-index", "--index-version", str(version))
    data = (repository / ".git/index").read_bytes()
    assert int.from_bytes(data[4:8], "big") == version
    found = parse_index(data)
    assert found is not None
    assert {path: (f"{entry.mode:06o}", entry.content.hex()) for path, entry in found.items()} == listed(repository)


def test_an_index_whose_entries_stand_elsewhere_is_not_read(repository: Path) -> None:
    git(repository, "update-index", "--split-index")
    assert parse_index((repository / ".git/index").read_bytes()) is None


def test_contents_are_had_loose_and_packed_and_what_is_missing_is_left_out(repository: Path) -> None:
    found = parse_index((repository / ".git/index").read_bytes())
    assert found is not None
    names = [entry.content for entry in found.values()]
    wanted = {name: git(repository, "cat-file", "blob", name.hex()) for name in names}
    reader = Git(str(repository), RepositoryViews(), SpecialFiles())
    assert reader.read_objects([bytes(20), *names], None) == wanted
    git(repository, "commit", "-q", "-m", "x")
    git(repository, "gc", "-q")
    assert reader.read_objects([*names, bytes(20)], None) == wanted
    (repository / "nowhere").mkdir()
    (repository / ".git").rename(repository / "moved")
    assert Git(str(repository / "nowhere"), RepositoryViews(), SpecialFiles()).read_objects(names, None) == {}


@given(st.binary(max_size=300), st.integers(0, 5), st.integers(0, 2**32 - 1))
def test_bytes_that_are_no_index_are_nothing(data: bytes, version: int, count: int) -> None:
    head = b"DIRC" + version.to_bytes(4, "big") + count.to_bytes(4, "big")
    for given_data in (data, head + data):
        found = parse_index(given_data)
        assert found is None or all(isinstance(path, str) for path in found)
