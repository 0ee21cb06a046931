"""Where it cannot run it says so, and what to do, before anything is touched."""

import sys
from argparse import Namespace
from pathlib import Path

import pytest

from sidecar.commands.errors import EXIT_NO_SIDECAR, CommandFailed
from sidecar.commands.serve import serve_until_stopped


async def test_windows_is_told_about_wsl(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(CommandFailed, match="WSL 2") as failed:
        await serve_until_stopped(Namespace(data_dir=tmp_path / "data"), tmp_path)
    assert failed.value.exit_code == EXIT_NO_SIDECAR
    assert not list(tmp_path.iterdir())
