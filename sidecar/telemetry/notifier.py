"""Who tells a person that they are needed, when nobody may be looking: a port, and the desktop's own way.

A notice is sent and forgotten: it never keeps a task waiting, and that it could not be shown is only logged.
"""

import asyncio
import logging
import os
import platform
import shutil
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

log = logging.getLogger(__name__)

SECONDS = 5.0
_TITLE, _TEXT = 80, 300
#: What such a program needs to find the desktop; nobody's keys.
_PASSED = """
PATH HOME USER LANG DISPLAY WAYLAND_DISPLAY XAUTHORITY XDG_RUNTIME_DIR DBUS_SESSION_BUS_ADDRESS SYSTEMROOT TEMP TMP
"""
_APPLE = (
    "on run argv",
    "display notification (item 2 of argv) with title (item 1 of argv)",
    "end run",
)
#: The words come in by the environment: nothing of them is read as a command.
_WINDOWS = (
    "Add-Type -AssemblyName System.Windows.Forms, System.Drawing;"
    "$n = New-Object System.Windows.Forms.NotifyIcon; $n.Icon = [System.Drawing.SystemIcons]::Information;"
    "$n.Visible = $true; $n.ShowBalloonTip(4000, $env:BRAIN_NOTICE_TITLE, $env:BRAIN_NOTICE_TEXT, 'Info');"
    "Start-Sleep -Seconds 4; $n.Dispose()"
)


class Notifier(Protocol):
    #: What it is, in words for the person.
    description: str

    async def notify(self, title: str, text: str) -> None:
        """Returns when it is shown or given up; never raises, and takes a few seconds at most."""


class DesktopNotifier:
    """`said`: whether the words are given as arguments, after all others; they are in the environment in any case."""

    def __init__(self, argv: Sequence[str], description: str, *, said: bool = True) -> None:
        self.description = description
        self._argv = argv
        self._said = said

    async def notify(self, title: str, text: str) -> None:
        title, text = _plain(title)[:_TITLE], _plain(text)[:_TEXT]
        words = [title, text] if self._said else []
        passed = {name: value for name, value in os.environ.items() if name in _PASSED.split()}
        environment = {**passed, "BRAIN_NOTICE_TITLE": title, "BRAIN_NOTICE_TEXT": text}
        try:
            process = await asyncio.create_subprocess_exec(
                *self._argv,
                *words,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.DEVNULL,
                env=environment,
            )
        except OSError as error:
            log.warning("The notice could not be shown: %s", error)
            return
        try:
            async with asyncio.timeout(SECONDS):
                await process.wait()
        except TimeoutError:
            log.warning("The notice took too long and was given up.")
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()


def find_notifier(
    wanted: str = "desktop",
    environ: Mapping[str, str] = os.environ,
    which: Callable[[str], str | None] = shutil.which,
    system: str = "",
) -> DesktopNotifier | None:
    """The desktop's own way to show a notice; nothing if it is not wanted, or nobody sits at a desktop."""
    if wanted == "off":
        return None
    system = system or platform.system()
    if system == "Darwin" and (program := which("osascript")):
        lines = [word for line in _APPLE for word in ("-e", line)]
        return DesktopNotifier([program, *lines], "notices of macOS (osascript)")
    if system == "Windows" and (program := which("powershell")):
        argv = [program, "-NoProfile", "-NonInteractive", "-Command", _WINDOWS]
        return DesktopNotifier(argv, "notices of Windows (powershell)", said=False)
    seated = environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY")
    if system == "Linux" and seated and (program := which("notify-send")):
        return DesktopNotifier([program, "--app-name=Rainy Brain", "--"], "notices of the desktop (notify-send)")
    return None


def _plain(text: str) -> str:
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())
