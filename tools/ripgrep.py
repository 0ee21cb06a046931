"""Locate `rg`, which is installed next to the Python interpreter, and say what it leaves out."""

import shutil
import sys
from pathlib import Path

from tools.errors import CommandMissing
from tools.skipped import skip_globs


def ripgrep() -> str:
    own = Path(sys.executable).with_name("rg.exe" if sys.platform == "win32" else "rg")
    if own.exists():
        return str(own)
    found = shutil.which("rg")
    if found is None:
        raise CommandMissing("ripgrep (rg) is not installed. Run `make setup`, or install ripgrep.")
    return found


def ripgrep_command(folder: str = ".", named: str = "") -> list[str]:
    """The start of a command that skips ignored files, installed packages, build output and caches.

    `folder` is where it runs; paths that the pattern `named` names are not skipped.
    """
    return [ripgrep(), "--no-config", "--no-require-git", *skip_globs(folder, named)]


def has_failed(exit_code: int | None, text: str, errors: str) -> bool:
    """Whether rg could not search at all. Its exit code alone also tells of single files that it can't open."""
    if exit_code in (0, 1) or text:
        return False
    complaints = [line for line in errors.splitlines() if line.startswith("rg: ")]
    return exit_code != 2 or not all("(os error " in line for line in complaints)
