"""Finds the sandbox of this machine by trying it: a kernel may forbid one that is installed."""

import asyncio
import shutil
import sys
from typing import Literal

from tools.local.sandbox.access import CommandAccess, SandboxTier

_TRY_SECONDS = 5


#: What `sandbox` in the settings may be. The last two run no command on this machine.
Wanted = Literal["auto", "off", "copy", "container", "e2b"]
_ELSEWHERE = ("container", "e2b")


class Sandboxes:
    """The best sandbox of this machine, found at first use, so that a start doesn't wait for it."""

    def __init__(self, wanted: Wanted = "auto") -> None:
        self._wanted = wanted
        self._found: SandboxTier | None = None
        self._looked = False
        self._reader: SandboxTier | None = None
        self._reader_looked = False

    def best(self) -> SandboxTier | None:
        if not self._looked:
            self._found = None if self._wanted == "off" else _probe()
            self._looked = True
        return self._found

    def reader(self) -> SandboxTier | None:
        """For our own searches and Git, which only look: the quickest sandbox, whatever you set for commands."""
        if not self._reader_looked:
            from tools.local.sandbox.landlock import Landlock

            quick = Landlock() if sys.platform == "linux" else None
            self._reader = quick if quick is not None and works(quick) else self.best() or _probe()
            self._reader_looked = True
        return self._reader

    async def find_reader(self) -> SandboxTier | None:
        """Like `reader`, without blocking the event loop the first time."""
        return self._reader if self._reader_looked else await asyncio.to_thread(self.reader)

    async def find(self) -> SandboxTier | None:
        """Like `best`, without blocking the event loop the first time."""
        return self._found if self._looked else await asyncio.to_thread(self.best)

    def available(self) -> bool:
        return self._wanted in _ELSEWHERE or self.best() is not None

    def reaches_hosts(self) -> bool:
        """Whether commands can reach granted hosts, and no others."""
        best = self.best()
        return self._wanted in _ELSEWHERE or (best is not None and best.own_network)

    @property
    def tier(self) -> str:
        if self._wanted in ("off", *_ELSEWHERE):
            return self._wanted
        best = self.best()
        return best.tier if best else "none"

    @property
    def description(self) -> str:
        match self.tier:
            case "off":
                return "off in your settings; every command needs your approval"
            case "none":
                return "no sandbox works on this machine; every command needs your approval"
            case "container" | "e2b":
                where = "containers" if self._wanted == "container" else "machines of E2B"
                return f"{self._wanted}: commands run in {where} with a copy of the workspace, and changes come back"
            case tier:
                hosts = (
                    "" if self.reaches_hosts() else ". It can't reach hosts that you granted: installs need approval"
                )
                return (
                    f"{tier}: commands can read the system and write the workspace; your keys and the network need "
                    f"your approval{hosts}"
                )


def _probe() -> SandboxTier | None:
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


def works(sandbox: SandboxTier) -> bool:
    import subprocess

    from tools.local.sandbox.spawn import popen
    from tools.local.temporary import scratch_directory

    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    try:
        with scratch_directory("probe") as place:
            launch = sandbox.wrap(["/bin/sh", "-c", "exit 42"], CommandAccess.grant(place), place, {})
            tried = popen(launch, None, **quiet)
            try:
                return tried.wait(_TRY_SECONDS) == 42
            finally:
                tried.kill()
                tried.wait()
    except (OSError, subprocess.SubprocessError):
        return False
