"""`brain` alone: start the sidecar and open the panel, or open the panel of the one that is running."""

import argparse
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from sidecar.commands import options
from sidecar.commands.browser import open_browser, panel_url
from sidecar.commands.client import Client
from sidecar.commands.sidecars import running
from sidecar.commands.style import is_terminal, style_for

ABOUT = """\
Start the sidecar in this terminal and open the panel in your browser. If a sidecar of the data directory is already
running, its panel is opened instead. Ctrl-C stops the sidecar; unfinished tasks go on at the next start.
`brain --help` lists the commands."""
EXAMPLES = """\
examples:
  brain
  brain --no-open --port 0
"""


def define(parser: argparse.ArgumentParser) -> None:
    options.add_workspace(parser)
    parser.add_argument("--port", type=int, default=3847, help="port to listen on, 0 for any (default: %(default)s)")
    parser.add_argument("--no-open", action="store_true", help="do not open a browser")
    options.add_data_dir(parser)
    parser.set_defaults(act=act)


def act(args: argparse.Namespace) -> int:
    workspace, data_dir = options.workspace(args), options.data_dir(args)
    client = running(data_dir)
    if client is not None:
        _welcome(client, "is already running", no_open=args.no_open)
        return 0
    command = [sys.executable, "-m", "sidecar", "serve", "--port", str(args.port)]
    command += ["--workspace", str(workspace), "--data-dir", str(data_dir), "--die-with-parent"]
    return _serve(command, data_dir, no_open=args.no_open)


def _serve(command: list[str], data_dir: Path, *, no_open: bool) -> int:
    # The sidecar hears Ctrl-C from the terminal by itself; we only wait for it to come to its end.
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: process.terminate())
    assert process.stdout is not None
    if process.stdout.readline():
        client = running(data_dir)
        if client is not None:
            _welcome(client, "is running", no_open=no_open)
            print(style_for().dim("Ctrl-C stops it; unfinished tasks go on at the next start."), flush=True)
    code = process.wait()
    if code == 0:
        print("\nThe sidecar has stopped." if is_terminal() else "The sidecar has stopped.")
    return code


def _welcome(client: Client, state: str, *, no_open: bool) -> None:
    style, brain = style_for(), called()
    print(f"{style.green('●')} Rainy Brain {state} at {style.bold(client.url)}  {style.dim(f'process {client.pid}')}")
    if not client.has("/"):
        print("  The panel is not built (in a clone, `make panel` builds it).")
    else:
        url = panel_url(client)
        if not no_open and open_browser(url):
            print("  The panel opens in your browser.")
        else:
            print(f"  The panel: {url}")
            print(style.dim("  This address works once, for a minute."))
    print("  From another terminal, in a project of yours:")
    print(style.dim(f'    {brain} run "what does this project do"'))
    print(style.dim(f'    {brain} run "what can you do"'))
    print(style.dim(f"    {brain} open    opens the panel again"), flush=True)


def called() -> str:
    """How this command is called from another terminal: by its name, if that leads here, else by its path."""
    here = Path(sys.argv[0]).absolute()
    found = shutil.which("brain")
    if here.name != "brain" or not here.is_file() or (found is not None and Path(found).samefile(here)):
        return "brain"
    return str(here)
