"""What this machine has to keep commands in: a sandbox around them, and the means to find all that they started."""

import ctypes
import platform
import shutil
import subprocess

from sidecar.commands.findings import NOTE, OK, Finding

_LANDLOCK_CREATE_RULESET = 444
_LANDLOCK_VERSION_ONLY = 1


def sandbox() -> Finding:
    """The best there is. Commands are not run inside it in this version, and this says so."""
    not_used = "found, but commands are not yet run inside it; they run as you, after your approval"
    if _bubblewrap_works():
        return Finding("sandbox", NOTE, f"bubblewrap {not_used}")
    if version := _landlock():
        return Finding("sandbox", NOTE, f"Landlock (version {version}) {not_used}")
    return Finding("sandbox", NOTE, "neither bubblewrap nor Landlock; commands run as you, after your approval")


def containment() -> Finding:
    system = platform.system()
    if system == "Linux":
        return Finding("processes", OK, "by session, descent and mark; orphans come back to the sidecar (subreaper)")
    if system == "Windows":
        return Finding("processes", NOTE, "by process tree; what detaches itself completely can be missed")
    return Finding("processes", OK, f"by session and descent ({system})")


def _bubblewrap_works() -> bool:
    """A kernel may forbid what it needs, so it is tried, not only looked for."""
    if shutil.which("bwrap") is None:
        return False
    try:
        tried = subprocess.run(["bwrap", "--ro-bind", "/", "/", "true"], capture_output=True, timeout=5, check=False)
    except (OSError, subprocess.SubprocessError):
        return False
    return tried.returncode == 0


def _landlock() -> int:
    if platform.system() != "Linux":
        return 0
    version: int = ctypes.CDLL(None).syscall(_LANDLOCK_CREATE_RULESET, None, 0, _LANDLOCK_VERSION_ONLY)
    return max(version, 0)
