"""What this machine has to keep commands in: a sandbox around them, and the means to find all that they started."""

import platform
from collections.abc import Mapping

from sidecar.commands.findings import NOTE, OK, Finding
from sidecar.config.settings import BadSettings, load


def sandbox(environ: Mapping[str, str]) -> Finding:
    """The best there is, tried out."""
    from tools.local.sandbox import Sandboxes

    try:
        wanted = load(environ).sandbox
    except BadSettings:
        wanted = "auto"
    sandboxes = Sandboxes(wanted)
    if sandboxes.contained():
        return Finding("sandbox", OK, sandboxes.told)
    fix = "" if wanted == "off" else "Install bubblewrap, and let it make user namespaces."
    return Finding("sandbox", NOTE, sandboxes.told, fix)


def containment() -> Finding:
    system = platform.system()
    if system == "Linux":
        return Finding("processes", OK, "by session, descent and mark; orphans come back to the sidecar (subreaper)")
    if system == "Windows":
        return Finding("processes", NOTE, "by process tree; what detaches itself completely can be missed")
    return Finding("processes", OK, f"by session and descent ({system})")
