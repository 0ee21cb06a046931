"""`brain shell`: the reference desktop shell, without a window: carries out tools for the sidecar until stopped."""

import argparse
import asyncio
import json
import os
import sys
from pathlib import Path

from sidecar.commands.errors import CommandFailed
from sidecar.commands.exits import EXIT_USAGE
from sidecar.commands.options import add_data_dir, add_workspace, data_dir, workspace
from sidecar.telemetry import logs
from sidecar.wire.bridge import Welcome

ABOUT = """\
Connect to the sidecar of a data directory as a desktop shell, and carry out its tools in a workspace until told to
stop. It waits for a sidecar that is not there yet, and comes back to one that was restarted. With each connection it
prints one JSON line on standard output, {"event":"connected","session":…,"workspace":…,"tools":[…],"sandbox":…}."""
EXAMPLES = """\
examples:
  brain shell                                   in this directory, with every tool
  brain shell --tools read_file,edit_file       only these; the sidecar does the rest itself
"""


def define(parser: argparse.ArgumentParser) -> None:
    add_workspace(parser)
    add_data_dir(parser)
    parser.add_argument("--tools", metavar="NAMES", help="the tools to offer, with commas between them (default: all)")
    parser.add_argument("--name", default="brain shell", help="how it introduces itself (default: %(default)s)")
    parser.add_argument("--die-with-parent", action="store_true", help="stop when standard input is closed")
    parser.set_defaults(act=act)


def act(args: argparse.Namespace) -> int:
    logs.configure()
    # With stop_on_signals the end is an ordinary return; nothing is left running.
    return asyncio.run(_shell(args, workspace(args), data_dir(args)))


async def _shell(args: argparse.Namespace, place: Path, data: Path) -> int:
    from sidecar.commands import shells
    from sidecar.commands.serving import stop_on_signals, stop_with_parent
    from sidecar.config.data_dir import ShellDirectory
    from tools.executor.registry import default_registry

    offered = shells.offered(default_registry())
    if args.tools:
        wanted = [name.strip() for name in args.tools.split(",") if name.strip()]
        unknown = [name for name in wanted if name not in offered]
        if unknown:
            raise CommandFailed(f"No tool is called {', '.join(unknown)}. There are: {', '.join(offered)}.", EXIT_USAGE)
        offered = wanted

    def welcomed(frame: Welcome) -> None:
        said = {"event": "connected", "session": frame.session, "workspace": shell.workspace, "tools": offered}
        sys.stdout.write(json.dumps({**said, "pid": os.getpid(), "sandbox": shell.sandboxes.tier}) + "\n")
        sys.stdout.flush()

    if shells.endpoint(data) is None:
        sys.stderr.write(f"No sidecar is running on {data} yet; waiting for one (`brain serve`).\n")
    stop = asyncio.Event()
    stop_on_signals(stop.set)
    if args.die_with_parent:
        stop_with_parent(asyncio.get_running_loop(), stop.set)
    own = ShellDirectory(data)
    shell = shells.shell(place, data, own, args.name, offered)
    shell.on_welcome = welcomed
    sys.stderr.write(f"Sandbox for commands: {shell.sandboxes.description}.\n")
    async with shell:
        await stop.wait()
    own.release()
    return 0
