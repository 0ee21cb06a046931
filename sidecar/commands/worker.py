"""`brain worker`: run tasks of a shared database until a signal stops it."""

import argparse
import asyncio
import signal
from pathlib import Path
from typing import TYPE_CHECKING

from sidecar.commands.errors import EXIT_NO_SIDECAR, EXIT_USAGE, CommandFailed
from sidecar.commands.parser import data_dir, workspace
from sidecar.commands.serve import ready_line, stop_on_signals, stop_with_parent

if TYPE_CHECKING:
    from sidecar.config.settings import Settings

_NO_DATABASE = (
    "A worker runs tasks that several sidecars share on PostgreSQL. Set BRAIN_DATABASE_URL=postgresql://… for it and "
    "for `brain serve`. Without a database, `brain serve` runs its tasks itself."
)


def worker(args: argparse.Namespace) -> int:
    from sidecar.config.settings import SettingsError, load
    from sidecar.journal.errors import JournalError

    try:
        settings = load()
        if not settings.database_url:
            raise CommandFailed(_NO_DATABASE, EXIT_USAGE)
        return asyncio.run(_run(args, workspace(args), settings))
    except SettingsError as error:
        raise CommandFailed(str(error), EXIT_USAGE) from error
    except JournalError as error:
        raise CommandFailed(str(error), EXIT_NO_SIDECAR) from error


async def _run(args: argparse.Namespace, place: Path, settings: "Settings") -> int:
    from sidecar.app.launch import Launch
    from sidecar.app.sidecar import Sidecar
    from sidecar.telemetry import logs

    logs.configure()
    launch = Launch(place, data_dir(args), serves=False, pool=args.pool, slots=args.slots)
    sidecar = Sidecar(launch, settings)
    stop_on_signals(sidecar.stop)
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGUSR1, sidecar.drain)
    if args.die_with_parent:
        stop_with_parent(loop, sidecar.stop)
    await sidecar.start_worker(ready_line())
    await sidecar.run_until_stopped()
    return 0
