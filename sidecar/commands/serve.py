"""`brain serve`: run a sidecar until a signal stops it.

Heavy imports come late, so that an unusable command line or port fails fast.
"""

import argparse
import errno
import gc
import logging
import os
import signal
import sys
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sidecar.commands.errors import EXIT_NO_SIDECAR, EXIT_USAGE, CommandFailed
from sidecar.commands.parser import data_dir, workspace
from sidecar.config.paths import disk_full_message, lacks_space

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

    from sidecar.wire.base import Wire

log = logging.getLogger(__name__)

_LOOPBACK = ("127.0.0.1", "localhost", "::1")
#: Files are opened beneath a held directory and processes end by group; Windows supports neither.
NEEDS_WSL = (
    "Rainy Brain doesn't run on Windows itself yet. Run it inside WSL 2 (`wsl --install`, then clone and `make run` "
    "there); an editor on Windows reaches it at the same address. Nothing was changed."
)
#: Python's own interval is ten times longer.
_SWITCH_SECONDS = 0.0005
#: Between two messages that no file handle is left.
_HANDLES_SECONDS = 60.0
#: M_MMAP_THRESHOLD and M_ARENA_MAX of malloc.h.
_MMAP_THRESHOLD, _ARENA_MAX = -3, -8


def serve(args: argparse.Namespace) -> int:
    for number in (signal.SIGINT, signal.SIGTERM):
        # Until the sidecar handles signals itself, they just end the process.
        signal.signal(number, lambda *_: sys.exit(0))
    _check_remote(args)
    place = workspace(args)
    # What a start allocates lives forever: looking for garbage in it only slows the start down. `Sidecar` enables it.
    gc.disable()
    # Threads that read and compare files give way to the loop more often, so that it answers at all times.
    sys.setswitchinterval(_SWITCH_SECONDS)
    import asyncio

    try:
        return asyncio.run(serve_until_stopped(args, place))
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            problem = f"Port {args.port} on {args.host} is in use. Choose another with --port; 0 takes any free port."
            raise CommandFailed(problem, EXIT_NO_SIDECAR) from error
        if lacks_space(error):
            problem = f"The sidecar can't start: {disk_full_message(data_dir(args))}"
            raise CommandFailed(problem, EXIT_NO_SIDECAR) from error
        raise CommandFailed(f"The sidecar can't start: {error}.", EXIT_NO_SIDECAR) from error


def _check_remote(args: argparse.Namespace) -> None:
    """Beyond loopback only with consent, encryption and a name."""
    given = (args.tls_cert, args.tls_key, args.public_name)
    if args.host not in _LOOPBACK and not (args.allow_remote and all(given)):
        problem = (
            f"Other machines can reach {args.host}. If you want that, add --allow-remote --tls-cert FILE "
            "--tls-key FILE --public-name HOST, and give each person a token with "
            "`brain tokens add NAME --role look|work|decide`."
        )
        raise CommandFailed(problem, EXIT_USAGE)
    if any(given[:2]) and not all(given):
        raise CommandFailed("--tls-cert, --tls-key and --public-name belong together.", EXIT_USAGE)
    if all(given):
        import ssl

        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(args.tls_cert, args.tls_key)
        except (OSError, ssl.SSLError) as error:
            problem = f"The certificate {args.tls_cert} with the key {args.tls_key} can't be used: {error}."
            raise CommandFailed(problem, EXIT_USAGE) from error


async def serve_until_stopped(args: argparse.Namespace, place: Path) -> int:
    import asyncio

    if sys.platform == "win32":
        raise CommandFailed(NEEDS_WSL, EXIT_NO_SIDECAR)
    from sidecar.telemetry import logs

    logs.configure()
    asyncio.get_running_loop().set_exception_handler(_ExceptionLog())
    from sidecar.api.server import Certificate
    from sidecar.app.launch import Launch
    from sidecar.app.sidecar import Sidecar
    from sidecar.config.settings import load

    raise_file_limit()
    _return_large_memory()
    launch = Launch(
        workspace=place,
        data_dir=data_dir(args),
        host=args.host,
        port=args.port,
        exit_when_idle=args.exit_when_idle,
        runs_tasks=not args.no_work,
        stays=not (args.no_work and args.die_with_parent),
        certificate=Certificate(Path(args.tls_cert), Path(args.tls_key)) if args.tls_cert else None,
        public_name=args.public_name or "",
    )
    settings = load()
    logs.configure(style=settings.log_format)
    sidecar = Sidecar(launch, settings)
    stop_on_signals(sidecar.stop)
    if args.die_with_parent:
        stop_with_parent(asyncio.get_running_loop(), sidecar.stop)
    await sidecar.start(ready_line())
    if settings.doors_port and launch.runs_tasks and not launch.exit_when_idle:
        async with _doors_beside(launch.data_dir, settings.doors_port):
            await sidecar.run_until_stopped()
    else:
        await sidecar.run_until_stopped()
    return 0


@asynccontextmanager
async def _doors_beside(place: Path, port: int) -> AsyncIterator[None]:
    """Doors that can't open, or fail, never end the sidecar. They end when it stops."""
    import asyncio

    from sidecar.config.keys import Keys
    from sidecar.config.paths import config_file
    from sidecar.doors.process import DoorsProcess
    from sidecar.doors.settings import DoorsError

    async def serve_doors() -> None:
        try:
            doors = DoorsProcess(place, config_file().parent, Keys(os.environ, place).environment())
            await doors.run(_LOOPBACK[0], port, lambda url, pid: log.info("doors are open at %s/hooks", url))
        except (DoorsError, OSError) as error:
            log.error("The doors can't open; the sidecar works without them: %s", error)

    running = asyncio.create_task(serve_doors(), name="doors")
    try:
        yield
    finally:
        running.cancel()
        await asyncio.wait([running])


class _ExceptionLog:
    """Logs what no task handled. Without a free file handle, asyncio reports it many times a second."""

    def __init__(self) -> None:
        self._silent_until = 0.0

    def __call__(self, loop: "AbstractEventLoop", context: dict[str, Any]) -> None:
        from sidecar.engine.errors import NO_HANDLES, lacks_handles

        if not lacks_handles(context.get("exception")):
            loop.default_exception_handler(context)
        elif loop.time() >= self._silent_until:
            self._silent_until = loop.time() + _HANDLES_SECONDS
            log.error("%s: new connections wait until others are closed.", NO_HANDLES)


def ready_line() -> Callable[["Wire"], None]:
    """Reserve standard output for the ready line; anything else printed there joins the logs."""
    kept = os.fdopen(os.dup(1), "w", encoding="utf-8", closefd=False)
    os.dup2(2, 1)

    def announce(ready: "Wire") -> None:
        kept.write(ready.to_json() + "\n")
        kept.flush()

    return announce


def stop_on_signals(stop: Callable[[], None]) -> None:
    import asyncio

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        try:
            loop.add_signal_handler(number, stop)
        except NotImplementedError:  # Windows
            signal.signal(number, lambda *_: loop.call_soon_threadsafe(stop))


def stop_with_parent(loop: "AbstractEventLoop", stop: Callable[[], None]) -> None:
    """Stop when standard input closes, which it does when the parent process dies."""

    def wait() -> None:
        with suppress(OSError):
            # Not sys.stdin: a thread that waits inside its lock would keep the interpreter from exiting.
            while os.read(0, 4096):
                pass
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(stop)

    threading.Thread(target=wait, name="parent", daemon=True).start()


def _return_large_memory() -> None:
    """Make glibc return large blocks to the system, and keep one arena: the interpreter's lock serializes us anyway."""
    if sys.platform == "linux":
        import ctypes

        with suppress(AttributeError):  # another C library
            library = ctypes.CDLL(None)
            library.mallopt(_MMAP_THRESHOLD, 128 * 1024)
            library.mallopt(_ARENA_MAX, 1)


def raise_file_limit() -> None:
    """Each connection is an open file, and the usual soft limit is lower than `max_streams`."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, 65_536) if most > 0 else 65_536, most))
