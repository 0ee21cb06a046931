"""Runs a Python module as a plain user, when the tests run as root and the interpreter is in root's home."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[2]
_NOBODY = 65_534
#: In mounts of its own, root's home holds nothing but the interpreter, and everybody may enter it.
_OPEN_HOME = """
set -e
home=$(getent passwd 0 | cut -d: -f6)
case "$1" in "$home"/*) ;; *) home= ;; esac
if [ -n "$home" ]; then
    mkdir -p "$3/python"; mount --bind "$1" "$3/python"
    mount -t tmpfs -o mode=755 tmpfs "$home"; mkdir -p "$1"; mount --bind "$3/python" "$1"
fi
chown "$2:$2" "$3"; prefix=$1; user=$2; place=$3; shift 3
export HOME="$place" TMPDIR="$place" PYTHONDONTWRITEBYTECODE=1
exec setpriv --reuid="$user" --regid="$user" --clear-groups --inh-caps=-all --bounding-set=-all "$@"
"""


def run_as_plain_user(*words: str, seconds: float = 300) -> "subprocess.CompletedProcess[str]":
    """Run our Python in an empty home. Skips where nobody can become another user."""
    if os.geteuid() != 0 or not all(map(shutil.which, ("unshare", "setpriv", "getent"))):
        pytest.skip("only root can become a plain user")
    prefix = str(Path(sys.base_prefix).resolve())
    # Not in pytest's own directory, which only root may enter.
    with tempfile.TemporaryDirectory(prefix="plain-user-") as home:
        line = ["unshare", "--mount", "/bin/sh", "-c", _OPEN_HOME, "sh", prefix, str(_NOBODY), home, sys.executable]
        return subprocess.run([*line, *words], capture_output=True, text=True, cwd=_ROOT, timeout=seconds, check=False)
