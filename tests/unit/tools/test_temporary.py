"""The place of this process's temporary directories."""

import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tools.local import temporary
from tools.local.temporary import make_directory


class Owner:
    """A plain object can't be referred to weakly."""


def test_threads_that_begin_at_once_share_one_place_that_is_removed_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_exit: list[tuple[Callable[..., None], int]] = []
    both, make = threading.Barrier(2), tempfile.mkdtemp

    def made_at_once(suffix: str | None = None, prefix: str | None = None, dir: str | None = None) -> str:
        if dir is None:
            both.wait(60)
        return make(suffix, prefix, dir or str(tmp_path))

    monkeypatch.setattr(temporary, "_places", {})
    monkeypatch.setattr(tempfile, "mkdtemp", made_at_once)
    monkeypatch.setattr("atexit.register", lambda *call: at_exit.append(call))
    owners = Owner(), Owner()
    with ThreadPoolExecutor(2) as threads:
        made = [Path(each) for each in threads.map(lambda owner: make_directory("x", owner), owners)]
    assert [each.parent for each in made] == list(tmp_path.iterdir()) * 2
    ((remove, pid),) = [call for call in at_exit if call[0] is temporary._remove]
    remove(pid)
    assert list(tmp_path.iterdir()) == []
