"""Finds the sandbox of this machine by trying it: a kernel may forbid one that is installed."""

import asyncio
import shutil
import sys
from typing import Literal

from tools.local.sandbox.access import CommandAccess, Sandbox

_TRY_SECONDS = 5


class Sandboxes:
    """The best sandbox of this machine, found at first use, so that a start doesn't wait for it."""

    def __init__(self, wanted: Literal["auto", "off"] = "auto") -> None:
        self._wanted = wanted
        self._found: Sandbox | None = None
        self._looked = False
        self._reader: Sandbox | None = None
        self._reader_looked = False

    def best(self) -> Sandbox | None:
        if not self._looked:
            self._found = _probe() if self._wanted == "auto" else None
            self._looked = True
        return self._found

    def reader(self) -> Sandbox | None:
        """For our own searches and Git, which only look: the quickest sandbox, whatever you set for commands."""
        if not self._reader_looked:
            from tools.local.sandbox.landlock import Landlock

            quick = Landlock() if sys.platform == "linux" else None
            self._reader = quick if quick is not None and works(quick) else self.best() or _probe()
            self._reader_looked = True
        return self._reader

    async def find_reader(self) -> Sandbox | None:
        """Like `reader`, without blocking the event loop the first time."""
        return self._reader if self._reader_looked else await asyncio.to_thread(self.reader)

    async def find(self) -> Sandbox | None:
        """Like `best`, without blocking the event loop the first time."""
        return self._found if self._looked else await asyncio.to_thread(self.best)

    def available(self) -> bool:
        return self.best() is not None

    def reaches_hosts(self) -> bool:
        """Whether commands can reach granted hosts, and no others."""
        best = self.best()
        return best is not None and best.own_network

    @property
    def tier(self) -> str:
        best = self.best()
        return "off" if self._wanted == "off" else best.tier if best else "none"

    @property
    def description(self) -> str:
        match self.tier:
            case "off":
                return "off in your settings; every command needs your approval"
            case "none":
                return "no sandbox works on this machine; every command needs your approval"
            case tier:
                hosts = (
                    "" if self.reaches_hosts() else ". It can't reach hosts that you granted: installs need approval"
                )
                return (
                    f"{tier}: commands can read the system and write the workspace; your keys and the network need "
                    f"your approval{hosts}"
                )


def _probe() -> Sandbox | None:
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

    from tools.local.sandbox.spawn import popen

    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    try:
        with tempfile.TemporaryDirectory() as place:
            launch = sandbox.wrap(["/bin/sh", "-c", "exit 42"], CommandAccess.grant(place), place, {})
            tried = popen(launch, None, **quiet)
            try:
                return tried.wait(_TRY_SECONDS) == 42
            finally:
                tried.kill()
                tried.wait()
    except (OSError, subprocess.SubprocessError):
        return False
