"""Which sandbox this machine has. A kernel may forbid what one needs, so it is tried, not only looked for."""

import asyncio
import shutil
import sys
from typing import Literal

from tools.local.sandbox.port import Room, Sandbox

_SECONDS = 5


class Sandboxes:
    """The best sandbox there is, found when it is first asked for: a start does not wait for it."""

    def __init__(self, wanted: Literal["auto", "off"] = "auto") -> None:
        self._wanted = wanted
        self._found: Sandbox | None = None
        self._looked = False

    def best(self) -> Sandbox | None:
        if not self._looked:
            self._found = _probed() if self._wanted == "auto" else None
            self._looked = True
        return self._found

    async def found(self) -> Sandbox | None:
        """The same, without holding up anybody else the first time."""
        return self._found if self._looked else await asyncio.to_thread(self.best)

    def available(self) -> bool:
        return self.best() is not None

    @property
    def tier(self) -> str:
        best = self.best()
        return "off" if self._wanted == "off" else best.tier if best else "none"

    @property
    def description(self) -> str:
        """For people: what it does, or what its absence means."""
        match self.tier:
            case "off":
                return "off in your settings; every command needs your approval"
            case "none":
                return "no sandbox works on this machine; every command needs your approval"
            case tier:
                return (
                    f"{tier}: commands can read the system, write the workspace, and reach neither your keys nor the "
                    "network, unless you approve one"
                )


def _probed() -> Sandbox | None:
    # Imported when first needed: a start does not wait for any of this.
    from tools.local.sandbox.bubblewrap import Bubblewrap
    from tools.local.sandbox.landlock import Landlock
    from tools.local.sandbox.seatbelt import Seatbelt

    if sys.platform == "darwin":
        seatbelt = Seatbelt()
        return seatbelt if works(seatbelt) else None
    program = shutil.which("bwrap")
    if program is not None and works(bubblewrap := Bubblewrap(program)):
        return bubblewrap
    if sys.platform == "linux" and works(landlock := Landlock()):
        return landlock
    return None


def works(sandbox: Sandbox) -> bool:
    import subprocess
    import tempfile

    from tools.local.sandbox.spawn import spawned

    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    try:
        with tempfile.TemporaryDirectory() as place:
            tried = spawned(sandbox.around(["/bin/sh", "-c", "exit 42"], Room(place), place, {}, ()), **quiet)
            try:
                return tried.wait(_SECONDS) == 42
            finally:
                tried.kill()
                tried.wait()
    except (OSError, subprocess.SubprocessError):
        return False
