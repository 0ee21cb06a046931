"""A file that another program has open keeps what that program writes."""

import sys
from pathlib import Path

import pytest

from tools.errors import ChangedElsewhere
from tools.host import FileChange
from tools.local.files import apply_change
from tools.local.root import WorkspaceRoot

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells who has a file open")


@pytest.mark.parametrize("after", [b"new\n", None])
def test_a_file_that_is_open_for_writing_is_left_alone(tmp_path: Path, after: bytes | None) -> None:
    file = tmp_path / "log.txt"
    file.write_bytes(b"old\n")
    with file.open("ab", buffering=0) as writer:
        with pytest.raises(ChangedElsewhere, match="is being written"):
            apply_change(WorkspaceRoot(str(tmp_path)), FileChange("log.txt", b"old\n", after))
        writer.write(b"yours\n")
    assert file.read_bytes() == b"old\nyours\n"
    assert [each.name for each in tmp_path.iterdir()] == ["log.txt"]


@pytest.mark.parametrize("after", [b"new\n", None])
def test_a_reader_disturbs_no_one(tmp_path: Path, after: bytes | None) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes(b"old\n")
    with file.open("rb"):
        apply_change(WorkspaceRoot(str(tmp_path)), FileChange("a.txt", b"old\n", after))
    assert {each.name: each.read_bytes() for each in tmp_path.iterdir()} == ({"a.txt": b"new\n"} if after else {})
