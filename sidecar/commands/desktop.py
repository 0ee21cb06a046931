"""`brain desktop`: the panel in its own window, a desktop shell on the bridge, and an icon in the tray."""

import argparse
import asyncio
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from sidecar.client.sidecars import find_sidecar, working
from sidecar.commands.errors import CommandFailed
from sidecar.commands.panel import has_desktop, panel_url
from sidecar.commands.parser import data_dir, workspace
from sidecar.commands.tray import TrayMenu, follow_states, open_tray
from sidecar.telemetry import logs

TITLE = "Rainy Brain"
NAME = "brain desktop"
#: After the window closes, how long the shell may take to stop its commands.
STOP_SECONDS = 5.0
#: The panel's own button, which also moves the focus to the composer.
_NEW_TASK = "document.querySelector('button[aria-label=\"New task\"]')?.click()"
_INSTALL = "pip install 'rainy-brain[desktop]' (in a clone: .venv/bin/pip install '.[desktop]')"
_IN_BROWSER = "Or open the panel in your browser: brain --panel"


def desktop(args: argparse.Namespace) -> int:
    logs.configure()
    place, directory = workspace(args), data_dir(args)
    webview = _webview()
    with working(directory, place, args.port) as client:
        if not client.has("/"):
            raise CommandFailed("The panel isn't built; in a clone, `make panel` builds it.")
        with _shell(place, directory):
            _show(webview, panel_url(client), directory)
    return 0


def _run_tray(window: Any, directory: Path, stop: threading.Event) -> None:
    """In a thread, once the window is open."""

    def show() -> None:
        window.show()
        window.restore()

    def new_task() -> None:
        show()
        window.evaluate_js(_NEW_TASK)

    tray, why = open_tray(TrayMenu(show, new_task, window.destroy), TITLE)
    if tray is None:
        sys.stderr.write(f"No tray icon: {why}.\n")
        return
    for state in follow_states(lambda: find_sidecar(directory), stop):
        tray.show(state)


def _webview() -> Any:
    """pywebview, or a failure that says how to install it."""
    if not (has_desktop() or os.environ.get("QT_QPA_PLATFORM")):
        raise CommandFailed("No desktop to open a window on. Use the panel in a browser: brain --panel --no-open")
    try:
        return import_module("webview")
    except ImportError as error:
        raise CommandFailed(f"A window needs pywebview ({error}). Install it: {_INSTALL}. {_IN_BROWSER}") from error


def _show(webview: Any, url: str, directory: Path) -> None:
    """Returns when the window closes. The page gets no powers that it lacks in a browser."""
    window = webview.create_window(
        TITLE, url, width=1280, height=860, min_size=(360, 480), text_select=True, zoomable=True
    )
    _on_signals(window.destroy)
    closed = threading.Event()
    try:
        # The panel's preferences outlast the window.
        storage = str(directory / "desktop")
        webview.start(_run_tray, (window, directory, closed), private_mode=False, storage_path=storage)
    except webview.WebViewException as error:
        raise CommandFailed(f"Can't open the window: {error} Install its toolkit: {_INSTALL}. {_IN_BROWSER}") from error
    finally:
        closed.set()


@contextmanager
def _shell(place: Path, directory: Path) -> Iterator[None]:
    """Run the shell in a thread; the window needs the main thread."""
    loop, stop, ended = asyncio.new_event_loop(), asyncio.Event(), threading.Event()

    async def serve() -> None:
        from sidecar.commands.shell import build_shell
        from sidecar.config.data_dir import ShellDirectory

        own = ShellDirectory(directory)
        async with build_shell(place, directory, own, NAME):
            await stop.wait()
        own.release()

    def run() -> None:
        try:
            loop.run_until_complete(serve())
        finally:
            loop.close()
            ended.set()

    threading.Thread(target=run, name="shell", daemon=True).start()
    try:
        yield
    finally:
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(stop.set)
        ended.wait(STOP_SECONDS)


def _on_signals(act: Callable[[], None]) -> None:
    """While a window is open Python runs no signal handlers, but it still writes to the wakeup socket."""
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: None)
    signal.set_wakeup_fd(theirs.fileno(), warn_on_full_buffer=False)

    def wait() -> None:
        with ours, theirs:
            ours.recv(1)
            sys.stderr.write("Closing the window; unfinished tasks resume at the next start.\n")
            act()

    threading.Thread(target=wait, name="signals", daemon=True).start()
