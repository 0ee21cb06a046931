"""`brain stop`: stop the running sidecar."""

import argparse

from sidecar.commands import options
from sidecar.commands.sidecars import running, stop

ABOUT = """\
Stop the running sidecar of the data directory. Tasks at work are checkpointed and go on at the next start; the
processes that they started are ended."""
EXAMPLES = """\
examples:
  brain stop
"""


def define(parser: argparse.ArgumentParser) -> None:
    options.add_data_dir(parser)
    parser.set_defaults(act=act)


def act(args: argparse.Namespace) -> int:
    client = running(options.data_dir(args))
    if client is None:
        print("No sidecar is running; there is nothing to stop.")
        return 0
    counts = client.get("/api/brain/status")["tasks"]
    open_tasks = sum(counts.get(status, 0) for status in ("queued", "running", "waiting"))
    stop(client)
    kept = (
        f" {open_tasks} unfinished task{'s' if open_tasks > 1 else ''} will go on at the next start."
        if open_tasks
        else ""
    )
    print(f"The sidecar (process {client.pid}) has stopped.{kept}")
    return 0
