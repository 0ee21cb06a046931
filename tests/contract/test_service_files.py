"""The unit of `brain service`, read by systemd itself."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sidecar.commands.service import UNIT, systemd_unit

SECONDS = 60


def complaints(unit: str, place: Path) -> str:
    """What systemd says about a user unit; it ends with 0 even if it ignores a line."""
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze isn't installed (Debian: systemd)")
    (place / UNIT).write_text(unit)
    done = subprocess.run(
        ["systemd-analyze", "verify", "--user", str(place / UNIT)],
        env={**os.environ, "XDG_RUNTIME_DIR": str(place)},
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    if "Failed to initialize manager" in done.stderr:
        pytest.skip(f"systemd-analyze doesn't work here: {done.stderr.strip()[-200:]}")
    return done.stdout + done.stderr


def test_systemd_takes_the_whole_unit_without_a_complaint(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "sidecar", "serve", "--data-dir", f'{tmp_path}/a b/100%/$HOME/"x"\\y']
    assert complaints(systemd_unit(command), tmp_path) == ""


def test_systemd_would_complain_about_a_line_that_it_ignores(tmp_path: Path) -> None:
    unit = systemd_unit([sys.executable]).replace("Restart=on-failure", "Restart=sometimes")
    assert "sometimes" in complaints(unit, tmp_path)
