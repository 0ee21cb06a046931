"""`brain open`: the panel of the running sidecar, in the browser."""

import argparse

from sidecar.commands import options
from sidecar.commands.browser import open_browser, panel_url
from sidecar.commands.errors import CommandFailed
from sidecar.commands.exits import EXIT_NO_SIDECAR
from sidecar.commands.sidecars import running

ABOUT = "Open the panel of the running sidecar in your browser, with a code that works once and for one minute."
EXAMPLES = """\
examples:
  brain open
  brain open --print      only print the address, to open it elsewhere on this machine
"""


def define(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--print", action="store_true", help="print the address and open nothing")
    options.add_data_dir(parser)
    parser.set_defaults(act=act)


def act(args: argparse.Namespace) -> int:
    client = running(options.data_dir(args))
    if client is None:
        raise CommandFailed("No sidecar is running. Start one with its panel: brain", EXIT_NO_SIDECAR)
    url = panel_url(client)
    if not args.print and open_browser(url):
        print(f"Opened {client.url} in your browser.")
    else:
        print(url)
    return 0
