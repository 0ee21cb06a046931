"""Locate `rg`, which is installed next to the Python interpreter."""

import shutil
import sys
from pathlib import Path

from tools.errors import CommandMissing


def ripgrep() -> str:
    own = Path(sys.executable).with_name("rg.exe" if sys.platform == "win32" else "rg")
    if own.exists():
        return str(own)
    found = shutil.which("rg")
    if found is None:
        raise CommandMissing("ripgrep (rg) is not installed. Run `make setup`, or install ripgrep.")
    return found
