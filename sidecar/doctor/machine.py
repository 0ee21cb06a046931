"""What this machine has: programs, a sandbox around commands, and the means to find all that they started."""

import platform
import shutil
import subprocess

from sidecar.config.settings import BadSettings, load
from sidecar.doctor.findings import MISSING, NOTE, OK, Finding, Mend
from sidecar.doctor.subject import Subject

_INSTALLERS = {
    "apt-get": "sudo apt-get install",
    "dnf": "sudo dnf install",
    "pacman": "sudo pacman -S",
    "zypper": "sudo zypper install",
    "apk": "sudo apk add",
    "brew": "brew install",
    "winget": "winget install",
}


def installing(package: str) -> list[Mend]:
    """The command that installs it here, if one of the usual ones is there."""
    found = next((command for name, command in _INSTALLERS.items() if shutil.which(name)), None)
    return [Mend("command", f"{found} {package}")] if found else []


def git() -> Finding:
    fix = "Install git; until then the git tools say that it is missing."
    if shutil.which("git") is None:
        return Finding("git", MISSING, "not found", fix, mends=installing("git"))
    try:
        version = subprocess.run(["git", "--version"], capture_output=True, text=True, timeout=5, check=True).stdout
    except (OSError, subprocess.SubprocessError) as error:
        return Finding("git", MISSING, f"it does not run: {error}", fix)
    return Finding("git", OK, version.strip().removeprefix("git version "))


def ripgrep() -> Finding:
    from tools.errors import ToolError
    from tools.ripgrep import ripgrep

    try:
        return Finding("ripgrep", OK, ripgrep())
    except ToolError as error:
        return Finding("ripgrep", MISSING, "not found, so nothing can be searched", str(error))


def sandbox(subject: Subject) -> Finding:
    """The best there is, tried out."""
    from tools.local.sandbox import Sandboxes

    try:
        wanted = load(subject.environ).sandbox
    except BadSettings:
        wanted = "auto"
    sandboxes = Sandboxes(wanted)
    if sandboxes.contained():
        return Finding("sandbox", OK, sandboxes.told)
    if wanted == "off":
        return Finding("sandbox", NOTE, sandboxes.told)
    fix = "Install bubblewrap, and let it make user namespaces."
    missing = platform.system() == "Linux" and shutil.which("bwrap") is None
    return Finding("sandbox", NOTE, sandboxes.told, fix, mends=installing("bubblewrap") if missing else ())


def notices(subject: Subject) -> Finding:
    """Who tells the person that a task needs them."""
    from sidecar.telemetry.notifier import desktop

    try:
        wanted = load(subject.environ).notify
    except BadSettings:
        wanted = "desktop"
    if wanted == "off":
        return Finding(
            "notices", OK, "switched off in your settings; a task that needs you says so where it is watched"
        )
    found = desktop(wanted, subject.environ)
    if found is not None:
        return Finding("notices", OK, found.told)
    return Finding("notices", OK, "no desktop to show them on; a task that needs you says so where it is watched")


def containment() -> Finding:
    system = platform.system()
    if system == "Linux":
        return Finding("processes", OK, "by session, descent and mark; orphans come back to the sidecar (subreaper)")
    if system == "Windows":
        return Finding("processes", NOTE, "by process tree; what detaches itself completely can be missed")
    return Finding("processes", OK, f"by session and descent ({system})")
