"""`brain`, `brain open` and `brain stop`: the panel in your browser, and the sidecar behind it."""

import argparse
import html
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from sidecar.client.client import Client
from sidecar.client.errors import ClientError, is_stopping
from sidecar.client.sidecars import PROGRAM, find_sidecar, stop_sidecar
from sidecar.commands.errors import EXIT_NO_SIDECAR, CommandFailed
from sidecar.commands.parser import data_dir, task_id, workspace
from sidecar.commands.table.arguments import USUAL_PORT
from sidecar.commands.text import is_terminal, style_for
from sidecar.config.paths import redirect_file, write_private

_REDIRECT = """\
<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={url}">
<title>Rainy Brain</title>
<p><a href="{url}">Open the panel</a>. This link works once, for one minute.</p>
"""


def start(args: argparse.Namespace) -> int:
    place, directory = workspace(args), data_dir(args)
    client = find_sidecar(directory)
    if client is not None:
        _welcome(client, directory, "is already running", no_open=args.no_open)
        return 0
    port = _usual_or_free_port() if args.port is None else args.port
    command = [*PROGRAM, "serve", "--port", str(port)]
    command += ["--workspace", str(place), "--data-dir", str(directory), "--die-with-parent"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    for number in (signal.SIGINT, signal.SIGTERM):
        # Ctrl-C in a terminal reaches the sidecar too; a signal to this process alone doesn't.
        signal.signal(number, lambda *_: process.terminate())
    assert process.stdout is not None
    if (ready := process.stdout.readline()) and (client := find_sidecar(directory)) is not None:
        if not sys.stdout.isatty():
            # A program reads the same line as from `brain serve`, and nothing else.
            print(ready, end="", flush=True)
            sys.stdout = sys.stderr
        try:
            _welcome(client, directory, "is running", no_open=args.no_open)
        except ClientError as error:
            if not is_stopping(error):
                raise
        print(style_for().dim("Ctrl-C stops it; unfinished tasks resume at the next start."), flush=True)
    code = process.wait()
    if code == 0:
        print("\nThe sidecar has stopped." if is_terminal() else "The sidecar has stopped.")
    return code


def _usual_or_free_port() -> int:
    """Another person's sidecar or another program may have the usual one."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", USUAL_PORT))
        except OSError:
            return 0
    return USUAL_PORT


def open_panel(args: argparse.Namespace) -> int:
    directory = data_dir(args)
    client = find_sidecar(directory)
    if client is None:
        raise CommandFailed("No sidecar is running. Start one and its panel: brain --panel", EXIT_NO_SIDECAR)
    task = task_id(client, args.id) if args.id else ""
    if not args.print and _open_browser(client, directory, task):
        print(f"Opened {client.url} in your browser. If it can't read the file, `brain open --print` prints a link.")
    else:
        print(panel_url(client, task))
    return 0


def stop(args: argparse.Namespace) -> int:
    client = find_sidecar(data_dir(args))
    if client is None:
        print("No sidecar is running.")
        return 0
    counts = client.get("/api/brain/status")["tasks"]
    unfinished = sum(counts.get(status, 0) for status in ("queued", "running", "waiting"))
    stop_sidecar(client)
    plural = "s resume" if unfinished > 1 else " resumes"
    kept = f" {unfinished} unfinished task{plural} at the next start." if unfinished else ""
    print(f"The sidecar (process {client.pid}) has stopped.{kept}")
    return 0


def panel_url(client: Client, task: str = "") -> str:
    """An address with a code that works once, for one minute. For this process and the terminal: others on this machine
    can read command lines."""
    return f"{client.url}/#{_fragment(_new_code(client), task)}"


def _fragment(code: str, task: str) -> str:
    return f"code={code}&task={task}" if task else f"code={code}"


def _new_code(client: Client) -> str:
    code: str = client.post("/api/brain/session/code")["code"]
    return code


def has_desktop(environ: Mapping[str, str] = os.environ, platform: str = sys.platform) -> bool:
    """Without a desktop, as over ssh, a text browser would take over this terminal."""
    if platform in ("win32", "darwin"):
        return True
    return any(environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER", "WSL_DISTRO_NAME"))


def _open_browser(client: Client, directory: Path, task: str = "") -> bool:
    """The browser gets the name of a private file that leads it to the panel. The sidecar removes the file when its
    code was used or has expired."""
    if not has_desktop():
        return False
    import webbrowser

    code = _new_code(client)
    file = redirect_file(directory, code)
    write_private(file, _REDIRECT.format(url=html.escape(f"{client.url}/#{_fragment(code, task)}")))
    try:
        opened = webbrowser.open(file.as_uri())
    except webbrowser.Error:
        opened = False
    if not opened:
        file.unlink(missing_ok=True)
    return opened


def _welcome(client: Client, directory: Path, state: str, *, no_open: bool) -> None:
    style, brain = style_for(), _command_name()
    print(f"{style.green('●')} Rainy Brain {state} at {style.bold(client.url)}  {style.dim(f'process {client.pid}')}")
    if not client.has("/"):
        print("  The panel isn't built (in a clone, `make panel` builds it).")
    else:
        if not no_open and _open_browser(client, directory):
            print("  The panel opens in your browser.")
        else:
            print(f"  Panel: {panel_url(client)}")
            print(style.dim("  This address works once, for one minute."))
    print("  In another terminal, in one of your projects:")
    print(style.dim(f'    {brain} run "what does this project do"'))
    print(style.dim(f'    {brain} run "what can you do"'))
    print(style.dim(f"    {brain} open    opens the panel again"), flush=True)


def _command_name() -> str:
    """`brain` if that runs this program, else its path."""
    here = Path(sys.argv[0]).absolute()
    found = shutil.which("brain")
    if here.name != "brain" or not here.is_file() or (found is not None and Path(found).samefile(here)):
        return "brain"
    return str(here)
