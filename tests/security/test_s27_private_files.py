"""S27: with no umask at all and planted links, what the sidecar writes is private."""

import os
import stat
from pathlib import Path

from tests.e2e.support import running_sidecar


def test_s27_every_file_is_private_and_no_planted_link_is_followed(tmp_path: Path) -> None:
    data, victim = tmp_path / "data", tmp_path / "victim"
    data.mkdir(mode=0o777)
    victim.write_text("theirs")
    for name in ("token", "sidecar.json", "trust.json", "grants.json"):
        (data / name).symlink_to(victim)
    before = os.umask(0)
    try:
        with running_sidecar(tmp_path, data_dir=data) as sidecar:
            sidecar.post("/api/brain/trust", {"workspace": str(sidecar.workspace), "trusted": True})
            calls = [{"tool": "run_command", "args": {"command": "seq 1 100000"}}]
            assert sidecar.post("/api/brain/tools/batch", {"calls": calls, "approvals": "auto"}).status == 200
            sidecar.wait_for_end(sidecar.execute("list the files"))
            for place in [data, *data.rglob("*")]:
                mode = stat.S_IMODE(place.lstat().st_mode)
                assert place.is_symlink() or mode & 0o077 == 0, f"{place} {mode:o}"
            assert not (data / "token").is_symlink()
            assert not (data / "trust.json").is_symlink()
    finally:
        os.umask(before)
    assert victim.read_text() == "theirs"
