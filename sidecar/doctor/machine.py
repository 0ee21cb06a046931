"""What this machine has: programs, a sandbox around commands, and the means to find all that they started."""

import platform
import shutil
import subprocess

from sidecar.config.settings import SettingsError, load
from sidecar.doctor.report import MISSING, NOTE, OK, CheckResult, DoctorContext, Mend

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


def git() -> CheckResult:
    fix = "Install git; until then the git tools say that it is missing."
    if shutil.which("git") is None:
        return CheckResult("git", MISSING, "not found", fix, mends=installing("git"))
    try:
        version = subprocess.run(["git", "--version"], capture_output=True, text=True, timeout=5, check=True).stdout
    except (OSError, subprocess.SubprocessError) as error:
        return CheckResult("git", MISSING, f"it does not run: {error}", fix)
    return CheckResult("git", OK, version.strip().removeprefix("git version "))


def ripgrep() -> CheckResult:
    from tools.errors import ToolError
    from tools.ripgrep import ripgrep

    try:
        return CheckResult("ripgrep", OK, ripgrep())
    except ToolError as error:
        return CheckResult("ripgrep", MISSING, "not found, so nothing can be searched", str(error))


def sandbox(subject: DoctorContext) -> CheckResult:
    """The best there is, tried out."""
    from tools.local.sandbox import Sandboxes

    try:
        wanted = load(subject.environ).sandbox
    except SettingsError:
        wanted = "auto"
    sandboxes = Sandboxes(wanted)
    if sandboxes.available():
        return CheckResult("sandbox", OK, sandboxes.description)
    if wanted == "off":
        return CheckResult("sandbox", NOTE, sandboxes.description)
    fix = "Install bubblewrap, and let it make user namespaces."
    missing = platform.system() == "Linux" and shutil.which("bwrap") is None
    return CheckResult("sandbox", NOTE, sandboxes.description, fix, mends=installing("bubblewrap") if missing else ())


def notices(subject: DoctorContext) -> CheckResult:
    """Who tells the person that a task needs them."""
    from sidecar.telemetry.notifier import find_notifier

    try:
        wanted = load(subject.environ).notify
    except SettingsError:
        wanted = "desktop"
    if wanted == "off":
        return CheckResult(
            "notices", OK, "switched off in your settings; a task that needs you says so where it is watched"
        )
    found = find_notifier(wanted, subject.environ)
    if found is not None:
        return CheckResult("notices", OK, found.description)
    return CheckResult("notices", OK, "no desktop to show them on; a task that needs you says so where it is watched")


def containment() -> CheckResult:
    system = platform.system()
    if system == "Linux":
        return CheckResult(
            "processes", OK, "by session, descent and mark; orphans come back to the sidecar (subreaper)"
        )
    if system == "Windows":
        return CheckResult("processes", NOTE, "by process tree; what detaches itself completely can be missed")
    return CheckResult("processes", OK, f"by session and descent ({system})")
