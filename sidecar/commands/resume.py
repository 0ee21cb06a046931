"""`brain resume`: go on with a task from its last checkpoint."""

import argparse

from sidecar.commands import options
from sidecar.commands.errors import Refused
from sidecar.commands.station import station

ABOUT = """\
Go on with a task that was cancelled, failed or interrupted, from its last checkpoint. Nothing that is done is done
again. If no sidecar is running, one is started, and ends when it has nothing left to do."""
EXAMPLES = """\
examples:
  brain resume t_4642c5
  brain resume --follow t_4642c5      and watch it, as with brain run
"""


def define(parser: argparse.ArgumentParser) -> None:
    options.add_task_id(parser)
    parser.add_argument("--follow", "-f", action="store_true", help="watch it; Ctrl-C cancels, a second one detaches")
    parser.add_argument("--json", action="store_true", help="with --follow: its events as JSON lines")
    options.add_data_dir(parser)
    parser.set_defaults(act=act)


def act(args: argparse.Namespace) -> int:
    here = station(args)
    task_id = options.task_id(here.client, args.id)
    try:
        here.client.post(f"/api/brain/tasks/{task_id}/resume")
    except Refused as refusal:
        # A sidecar that has just been started goes on with what was interrupted by itself, and may be done already.
        if refusal.code != "task_active" and not (refusal.code == "task_completed" and here.workplace.started):
            raise
    if not args.follow:
        here.told.notice(f"{task_id} goes on. Watch it: brain show --follow {options.short(task_id)}")
        return 0
    return here.watch(task_id)
