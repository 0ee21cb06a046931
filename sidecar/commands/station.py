"""Where a command stands that sends a task on its way: a sidecar, started if need be, and somebody who tells of it."""

import argparse
from pathlib import Path
from typing import NamedTuple

from sidecar.commands import options
from sidecar.commands.client import Client
from sidecar.commands.exits import EXIT_DETACHED
from sidecar.commands.sidecars import Workplace
from sidecar.commands.telling import Telling, telling
from sidecar.commands.watch import Watch


class Station(NamedTuple):
    data_dir: Path
    told: Telling
    workplace: Workplace
    client: Client

    def watch(self, task_id: str) -> int:
        """Until it has ended; a sidecar that was started for it ends too, unless the person went away."""
        code = Watch(task_id, self.data_dir, self.told, self.workplace, cancels=True).run(self.client)
        if code != EXIT_DETACHED:
            self.workplace.leave()
        return code


def station(args: argparse.Namespace) -> Station:
    data_dir = options.data_dir(args)
    told = telling(json=args.json)
    workplace = Workplace(data_dir, on_start=told.starting)
    try:
        return Station(data_dir, told, workplace, workplace.client())
    finally:
        told.rest()
