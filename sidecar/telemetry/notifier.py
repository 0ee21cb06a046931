"""Desktop notifications for a task that needs you.

A task never waits for a notification, and a failure is only logged.
"""

import asyncio
import logging
import os
import platform
import shutil
from collections.abc import Callable, Mapping, Sequence

log = logging.getLogger(__name__)

SECONDS = 5.0
#: How long a notification can be clicked.
CLICK_SECONDS = 600.0
_PRINTED = 1_000
_TITLE, _TEXT = 80, 300
#: Variables that such a program needs to find the desktop.
_PASSED = """
PATH HOME USER LANG DISPLAY WAYLAND_DISPLAY XAUTHORITY XDG_RUNTIME_DIR DBUS_SESSION_BUS_ADDRESS SYSTEMROOT TEMP TMP
"""
_APPLE = (
    "on run argv",
    "display notification (item 2 of argv) with title (item 1 of argv)",
    "end run",
)
#: Title and text come from the environment, so PowerShell never parses them.
_WINDOWS = (
    "Add-Type -AssemblyName System.Windows.Forms, System.Drawing;"
    "$n = New-Object System.Windows.Forms.NotifyIcon; $n.Icon = [System.Drawing.SystemIcons]::Information;"
    "$n.Visible = $true; $n.ShowBalloonTip(4000, $env:BRAIN_NOTICE_TITLE, $env:BRAIN_NOTICE_TEXT, 'Info');"
    "Start-Sleep -Seconds 4; $n.Dispose()"
)


class DesktopNotifier:
    """Runs a program with title and text in its environment, and, with `as_arguments`, as its last arguments.

    `with_click` is the program that waits for a click and then prints `default`; an older one refuses it.
    """

    def __init__(
        self,
        argv: Sequence[str],
        description: str,
        *,
        as_arguments: bool = True,
        with_click: Sequence[str] = (),
    ) -> None:
        self.description = description
        self._argv = argv
        self._as_arguments = as_arguments
        self._with_click = with_click

    async def notify(self, title: str, text: str) -> bool:
        """Whether you clicked it."""
        if self._with_click:
            code, printed = await self._run(self._with_click, title, text, CLICK_SECONDS)
            if code in (0, None):
                return printed.strip() == b"default"
        await self._run(self._argv, title, text, SECONDS)
        return False

    async def _run(self, argv: Sequence[str], title: str, text: str, seconds: float) -> tuple[int | None, bytes]:
        """The program's exit code and output; no code if it took too long or isn't there."""
        title, text = _plain(title)[:_TITLE], _plain(text)[:_TEXT]
        arguments = [title, text] if self._as_arguments else []
        passed = {name: value for name, value in os.environ.items() if name in _PASSED.split()}
        environment = {**passed, "BRAIN_NOTICE_TITLE": title, "BRAIN_NOTICE_TEXT": text}
        try:
            process = await asyncio.create_subprocess_exec(
                *argv,
                *arguments,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                env=environment,
            )
        except OSError as error:
            log.warning("Can't show a notification: %s", error)
            return None, b""
        assert process.stdout is not None
        try:
            async with asyncio.timeout(seconds):
                printed = await process.stdout.read(_PRINTED)
                return await process.wait(), printed
        except TimeoutError:
            if seconds == SECONDS:
                log.warning("Gave up on a notification that took too long.")
            return None, b""
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
    """`None` if notifications are off, or this machine has no desktop."""
    if wanted == "off":
        return None
    system = system or platform.system()
    if system == "Darwin" and (program := which("osascript")):
        lines = [word for line in _APPLE for word in ("-e", line)]
        return DesktopNotifier(
            [program, *lines], "macOS notifications (osascript); a click opens nothing, see `brain open`"
        )
    if system == "Windows" and (program := which("powershell")):
        argv = [program, "-NoProfile", "-NonInteractive", "-Command", _WINDOWS]
        return DesktopNotifier(argv, "Windows notifications (powershell); a click opens nothing", as_arguments=False)
    seated = environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY")
    if system == "Linux" and seated and (program := which("notify-send")):
        named = [program, "--app-name=Rainy Brain"]
        about = "desktop notifications (notify-send); a click opens the task, from version 0.8 on"
        return DesktopNotifier([*named, "--"], about, with_click=[*named, "--action=default=Open", "--"])
    return None


def _plain(text: str) -> str:
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())
