"""`brain doors`: receive webhooks until it is told to stop."""

import argparse
import asyncio
import json
import os

from sidecar.commands.errors import EXIT_NO_SIDECAR, EXIT_USAGE, CommandFailed
from sidecar.commands.parser import data_dir
from sidecar.commands.serve import stop_on_signals
from sidecar.config.paths import config_file


def doors(args: argparse.Namespace) -> int:
    from sidecar.doors.settings import DoorsError

    try:
        return asyncio.run(_serve(args))
    except DoorsError as error:
        raise CommandFailed(str(error), EXIT_USAGE) from error
    except OSError as error:
        raise CommandFailed(f"The doors can't open: {error}.", EXIT_NO_SIDECAR) from error


async def _serve(args: argparse.Namespace) -> int:
    from sidecar.config.settings import load
    from sidecar.doors.process import DoorsProcess
    from sidecar.telemetry import logs

    logs.configure(style=load().log_format)
    process = DoorsProcess(data_dir(args), config_file().parent, os.environ)
    stop_on_signals(process.stop)
    await process.run(args.host, args.port, _announce)
    return 0


def _announce(url: str, pid: int) -> None:
    print(json.dumps({"event": "ready", "url": url, "pid": pid}), flush=True)
