"""`brain serve`: start the sidecar, say on standard output that it is ready, and run until told to stop."""

import argparse
import asyncio
import errno
import gc
import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from sidecar.commands.exits import EXIT_ALREADY_RUNNING, EXIT_NO_SIDECAR, EXIT_USAGE
from sidecar.config.data_dir import AlreadyRunning
from sidecar.config.places import default_data_dir
from sidecar.config.settings import BadSettings, load
from sidecar.journal.errors import JournalError
from sidecar.telemetry import logs
from sidecar.wire.system import Ready

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
    logs.configure()
    if args.host not in _LOOPBACK and not args.allow_remote:
        return _refuse(
            EXIT_USAGE,
            f"{args.host} can be reached from other machines. If that is what you want, add --allow-remote.",
        )
    workspace = args.workspace.absolute()
    if not workspace.is_dir():
        return _refuse(EXIT_USAGE, f"There is no directory {workspace} to work in.")
    try:
        return asyncio.run(_serve(args, workspace))
    except BadSettings as error:
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


async def _serve(args: argparse.Namespace, workspace: Path) -> int:
    # What a start allocates stays for good: looking through it for garbage would only make the start slower.
    gc.disable()
    from sidecar.app import Launch, Sidecar

    raise_file_limit()
    launch = Launch(
        workspace=workspace,
        data_dir=(args.data_dir or default_data_dir(os.environ)).absolute(),
        host=args.host,
        port=args.port,
        exit_when_idle=args.exit_when_idle,
        at_rest=args.at_rest,
    )
    sidecar = Sidecar(launch, load())
    stop_on_signals(sidecar.stop)
    if args.die_with_parent:
        stop_with_parent(asyncio.get_running_loop(), sidecar.stop)
    await sidecar.start(ready_line())
    gc.freeze()
    gc.enable()
    await sidecar.run_until_stopped()
    return 0


def ready_line() -> Callable[[Ready], None]:
    """Keeps standard output for the one line; whatever else is printed there from now on joins the logs."""
    kept = os.fdopen(os.dup(1), "w", encoding="utf-8", closefd=False)
    os.dup2(2, 1)

    def say(ready: Ready) -> None:
        kept.write(ready.to_json() + "\n")
        kept.flush()

    return say


def stop_on_signals(stop: Callable[[], None]) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        try:
            loop.add_signal_handler(number, stop)
        except NotImplementedError:  # Windows
            signal.signal(number, lambda *_: loop.call_soon_threadsafe(stop))


def stop_with_parent(loop: asyncio.AbstractEventLoop, stop: Callable[[], None]) -> None:
    def wait_for_the_end() -> None:
        with suppress(OSError):
            # Not sys.stdin: a thread that waits inside its lock would not let the interpreter end.
            while os.read(0, 4096):
                pass
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(stop)

    threading.Thread(target=wait_for_the_end, name="parent", daemon=True).start()


def raise_file_limit() -> None:
    """Each stream is an open file; the usual soft limit is lower than the streams that are allowed."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, 65_536) if most > 0 else 65_536, most))


def _refuse(code: int, message: str) -> int:
    print(f"brain: {message}", file=sys.stderr)
    return code
