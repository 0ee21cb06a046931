"""A process that serves: it says when it is ready, and stops in order when it is told to, or when its parent dies."""

import argparse
import asyncio
import gc
import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from sidecar.commands.errors import CommandFailed
from sidecar.commands.exits import EXIT_NO_SIDECAR
from sidecar.config.paths import default_data_dir
from sidecar.config.settings import load
from sidecar.telemetry import logs
from sidecar.wire.system import Ready

#: Files are opened beneath a directory that is held, and processes end by group: Windows has neither as it stands.
NEEDS_WSL = (
    "Rainy Brain does not run on Windows itself yet: what keeps files and processes in bounds needs a POSIX system. "
    "Run it inside WSL 2 (`wsl --install`, then clone and `make run` there); an editor on Windows reaches it at the "
    "same address. Nothing was changed."
)


#: Its number in `malloc.h`: from this size on, memory is asked for and given back by itself.
_MMAP_THRESHOLD = -3


async def serve(args: argparse.Namespace, workspace: Path) -> int:
    if sys.platform == "win32":
        raise CommandFailed(NEEDS_WSL, EXIT_NO_SIDECAR)
    logs.configure()
    from sidecar.app import Launch, Sidecar

    raise_file_limit()
    return_large_memory()
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


def return_large_memory() -> None:
    """What is large and done with goes back to the system. Left alone, glibc takes to keeping it, tens of megabytes."""
    if sys.platform == "linux":
        import ctypes

        with suppress(AttributeError):  # another C library
            ctypes.CDLL(None).mallopt(_MMAP_THRESHOLD, 128 * 1024)


def raise_file_limit() -> None:
    """Each stream is an open file; the usual soft limit is lower than the streams that are allowed."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, 65_536) if most > 0 else 65_536, most))
