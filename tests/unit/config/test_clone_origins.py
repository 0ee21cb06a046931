"""Clones that `brain doors` makes while a sidecar runs count as what they were made of."""

from pathlib import Path

from sidecar.config.repositories import CloneOrigins, Repositories


def test_a_running_sidecar_sees_clones_that_another_process_records_and_removes(tmp_path: Path) -> None:
    workspace, clone, other = tmp_path / "shop", tmp_path / "clones/shop", tmp_path / "elsewhere"
    seen, doors = Repositories(tmp_path), CloneOrigins(tmp_path)
    assert seen.covering(str(clone)) == [str(clone)]
    doors.write({str(clone): str(workspace)})
    assert seen.covering(str(clone)) == [str(clone), str(workspace)]
    # What the sidecar records meanwhile is in a file of its own.
    seen.register(str(other), str(clone))
    assert seen.covering(str(other)) == [str(other), str(clone), str(workspace)]
    doors.write({})
    assert seen.origin(str(clone)) is None and seen.origin(str(other)) == str(clone)
    (tmp_path / "clones.json").write_text("not json")
    assert seen.origin(str(clone)) is None
