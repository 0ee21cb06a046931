"""`brain serve`: start the sidecar, say on standard output that it is ready, and run until told to stop."""

import argparse
import errno
import gc
import signal
import sys
from pathlib import Path

from sidecar.commands.exits import EXIT_ALREADY_RUNNING, EXIT_NO_SIDECAR, EXIT_USAGE

ABOUT = """\
Start the sidecar and run until told to stop (SIGTERM, SIGINT). When it is ready it prints one JSON line on standard
output, {"event":"ready","url":…,"pid":…,"tokenFile":…,"version":…}, and nothing else ever goes there; logs go to
standard error. Tasks that an earlier sidecar left unfinished go on."""
EXAMPLES = """\
examples:
  brain serve                                    in this directory, on port 3847
  brain serve --port 0 --workspace ~/project     on any free port; read it from the ready line
  brain serve --die-with-parent                  for a desktop shell: ends when its standard input is closed
"""
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


def define(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--workspace", type=Path, default=Path(), help="the directory to work in (default: this one)")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    parser.add_argument("--port", type=int, default=3847, help="port to listen on, 0 for any (default: %(default)s)")
    parser.add_argument("--data-dir", type=Path, help="where tasks, logs and the token are kept")
    parser.add_argument(
        "--allow-remote", action="store_true", help="let --host be an address that other machines can reach"
    )
    parser.add_argument(
        "--die-with-parent", action="store_true", help="stop when standard input is closed, as when the shell dies"
    )
    parser.add_argument("--exit-when-idle", action="store_true", help="stop once there is nothing left to do or watch")
    parser.add_argument(
        "--at-rest", action="store_true", help="answer questions, but work on no task and let nobody else find it"
    )
    parser.set_defaults(act=act)


def act(args: argparse.Namespace) -> int:
    for number in (signal.SIGINT, signal.SIGTERM):
        # Until there is something to stop in order, being told to stop is a quiet end.
        signal.signal(number, lambda *_: sys.exit(0))
    if args.host not in _LOOPBACK and not args.allow_remote:
        return _refuse(
            EXIT_USAGE,
            f"{args.host} can be reached from other machines. If that is what you want, add --allow-remote.",
        )
    workspace = args.workspace.absolute()
    if not workspace.is_dir():
        return _refuse(EXIT_USAGE, f"There is no directory {workspace} to work in.")
    return _serve(args, workspace)


def _serve(args: argparse.Namespace, workspace: Path) -> int:
    # What a start allocates stays for good: looking through it for garbage would only make the start slower.
    gc.disable()
    import asyncio

    from sidecar.commands.serving import serve
    from sidecar.config.data_dir import AlreadyRunning
    from sidecar.config.settings import SettingsError
    from sidecar.journal.errors import JournalError

    try:
        return asyncio.run(serve(args, workspace))
    except SettingsError as error:
        return _refuse(EXIT_USAGE, str(error))
    except AlreadyRunning as error:
        return _refuse(EXIT_ALREADY_RUNNING, str(error))
    except JournalError as error:
        return _refuse(EXIT_NO_SIDECAR, str(error))
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            taken = f"Port {args.port} of {args.host} is taken by another program"
            return _refuse(EXIT_NO_SIDECAR, f"{taken}. Choose another one with --port, or any free one with --port 0.")
        return _refuse(EXIT_NO_SIDECAR, f"The sidecar cannot start: {error}.")


def _refuse(code: int, message: str) -> int:
    print(f"brain: {message}", file=sys.stderr)
    return code
