"""`brain desktop`: the panel in a window of its own, which is also a desktop shell on the bridge."""

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

from sidecar.commands import options
from sidecar.commands.browser import has_desktop, panel_url
from sidecar.commands.errors import CommandFailed
from sidecar.commands.sidecars import lasting
from sidecar.telemetry import logs

ABOUT = """\
Open the panel in a window of its own. The window is also a desktop shell: it carries out the tools in the workspace, as
`brain shell` does. If no sidecar of the data directory is running, one is started, and stopped when the window is
closed; unfinished tasks go on at the next start. Needs pywebview: pip install 'rainy-brain[desktop]'."""
EXAMPLES = """\
examples:
  brain desktop                           in this directory
  brain desktop --workspace ~/project
"""
TITLE = "Rainy Brain"
NAME = "brain desktop"
#: How long the shell may take to end what it runs, once the window is closed.
ENDING_SECONDS = 5.0
_INSTALL = "pip install 'rainy-brain[desktop]' (in a clone: .venv/bin/pip install '.[desktop]')"


def define(parser: argparse.ArgumentParser) -> None:
    options.add_workspace(parser)
    parser.add_argument(
        "--port", type=int, default=3847, help="port of a sidecar that is started; if it is taken, any other"
    )
    options.add_data_dir(parser)
    parser.set_defaults(act=act)


def act(args: argparse.Namespace) -> int:
    logs.configure()
    workspace, data_dir = options.workspace(args), options.data_dir(args)
    webview = _webview()
    with lasting(data_dir, workspace, args.port) as client:
        if not client.has("/"):
            raise CommandFailed("The panel is not built; in a clone, `make panel` builds it.")
        with _shell(workspace, data_dir):
            _show(webview, panel_url(client), data_dir)
    return 0


def _webview() -> Any:
    """The library that opens windows, or what to do without it."""
    if not (has_desktop() or os.environ.get("QT_QPA_PLATFORM")):
        raise CommandFailed("There is no desktop here to open a window on. The panel in a browser: brain --no-open")
    try:
        return import_module("webview")
    except ImportError as error:
        raise CommandFailed(
            f"A window needs pywebview, which is not there ({error}). Install it: {_INSTALL}. "
            "Or open the panel in your browser: brain"
        ) from error


def _show(webview: Any, url: str, data_dir: Path) -> None:
    """Until the window is closed, or we are told to stop. The page gets no powers that it has not in a browser."""
    window = webview.create_window(
        TITLE, url, width=1280, height=860, min_size=(360, 480), text_select=True, zoomable=True
    )
    _on_signals(window.destroy)
    try:
        # What the panel remembers of the person's taste outlasts the window.
        webview.start(private_mode=False, storage_path=str(data_dir / "desktop"))
    except webview.WebViewException as error:
        raise CommandFailed(
            f"The window cannot be opened: {error} Install what it is drawn with: {_INSTALL}. "
            "Or open the panel in your browser: brain"
        ) from error


@contextmanager
def _shell(workspace: Path, data_dir: Path) -> Iterator[None]:
    """The shell in a thread: the window wants the first one for itself."""
    loop, stop, ended = asyncio.new_event_loop(), asyncio.Event(), threading.Event()

    async def live() -> None:
        from sidecar.commands import shells
        from sidecar.config.data_dir import ShellDirectory

        own = ShellDirectory(data_dir)
        async with shells.shell(workspace, data_dir, own, NAME):
            await stop.wait()
        own.release()

    def run() -> None:
        try:
            loop.run_until_complete(live())
        finally:
            loop.close()
            ended.set()

    threading.Thread(target=run, name="shell", daemon=True).start()
    try:
        yield
    finally:
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(stop.set)
        ended.wait(ENDING_SECONDS)


def _on_signals(act: Callable[[], None]) -> None:
    """While a window is shown, Python hears no signal; the write to the socket happens all the same."""
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: None)
    signal.set_wakeup_fd(theirs.fileno(), warn_on_full_buffer=False)

    def wait() -> None:
        with ours, theirs:
            ours.recv(1)
            sys.stderr.write("Closing the window; unfinished tasks go on at the next start.\n")
            act()

    threading.Thread(target=wait, name="signals", daemon=True).start()
