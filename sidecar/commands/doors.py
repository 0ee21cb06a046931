"""`brain doors`: receive webhooks until a signal stops it; list dead letters, and try them again."""

import argparse
import asyncio
import json
import os

from sidecar.commands.errors import EXIT_NO_SIDECAR, EXIT_USAGE, CommandFailed
from sidecar.commands.parser import data_dir
from sidecar.commands.serve import raise_file_limit, stop_on_signals
from sidecar.commands.text import print_json, safe_line, style_for
from sidecar.config.keys import Keys
from sidecar.config.paths import config_file


def doors(args: argparse.Namespace) -> int:
    if args.action != "serve":
        return _list(args) if args.action == "list" else _retry(args)
    if args.items:
        raise CommandFailed("Items belong to `brain doors retry`.", EXIT_USAGE)
    try:
        return asyncio.run(_serve(args))
    except OSError as error:
        raise CommandFailed(f"The doors can't open: {error}.", EXIT_NO_SIDECAR) from error


def _list(args: argparse.Namespace) -> int:
    from sidecar.doors.store import list_dead

    found = list_dead(data_dir(args))
    if args.json:
        return print_json([{"id": item.label, **item._asdict()} for item in found])
    style = style_for()
    for item in found:
        print(f"{style.bold(item.label)}  {safe_line(item.subject)}  {style.dim(safe_line(item.name))}")
        print(f"    {safe_line(item.why)}")
    print(f"{len(found)} given up. Try them again: brain doors retry" if found else "Nothing was given up.")
    return 0


def _retry(args: argparse.Namespace) -> int:
    from sidecar.doors.store import retry_dead

    done = retry_dead(data_dir(args), args.items)
    unknown = sorted(set(args.items) - set(done))
    if args.json:
        print_json({"retried": done, "unknown": unknown})
    elif done:
        print(f"{len(done)} will be tried again while `brain doors` runs.")
    else:
        print("There is nothing to try again.")
    if unknown:
        raise CommandFailed(f"Not given up, or not known: {safe_line(', '.join(unknown))}.", EXIT_USAGE)
    return 0


async def _serve(args: argparse.Namespace) -> int:
    from sidecar.config.settings import load
    from sidecar.doors.process import DoorsProcess
    from sidecar.telemetry import logs

    logs.configure(style=load().log_format)
    raise_file_limit()
    place = data_dir(args)
    process = DoorsProcess(place, config_file().parent, Keys(os.environ, place).environment())
    stop_on_signals(process.stop)
    await process.run(args.host, args.port, _announce)
    return 0


def _announce(url: str, pid: int) -> None:
    print(json.dumps({"event": "ready", "url": url, "pid": pid}), flush=True)
