"""`brain fork`: a new task from a checkpoint of another one."""

import argparse
import secrets

from sidecar.commands import options
from sidecar.commands.client import Json
from sidecar.commands.run import models
from sidecar.commands.station import station

ABOUT = """\
Start a new task where another one was at one of its events: with everything that had been said and done until then,
and with the files as they were, but with other words or another model. The old task keeps its history, and what was
taken back in the files for the new one can be rewound there."""
EXAMPLES = """\
examples:
  brain fork t_4642c5 --to 17 "keep the old name, add a new function instead"
  brain fork t_4642c5 --to 17 --model anthropic/claude-sonnet-4-5     the same again, with another model
  brain fork t_4642c5 --keep-files "now write the tests for it"
"""


def define(parser: argparse.ArgumentParser) -> None:
    options.add_task_id(parser)
    parser.add_argument("task", nargs="?", help="what to do instead; needed if the old task was done by then")
    parser.add_argument("--to", type=int, metavar="SEQ", help="the event to begin from (default: the last one)")
    parser.add_argument(
        "--model",
        action="append",
        metavar="[ROLE=]PROVIDER/NAME",
        default=[],
        help="another model for every role, or for one of fast, smart, instant",
    )
    parser.add_argument(
        "--approvals", choices=("ask", "auto", "readonly"), help="another rule for commands than the old task's"
    )
    parser.add_argument("--keep-files", action="store_true", help="leave the files as they are now")
    parser.add_argument("--json", action="store_true", help="print the events, one JSON object a line, nothing else")
    options.add_data_dir(parser)
    parser.set_defaults(act=act)
    # The words may be left out, and come last: options stand between the id and them.
    parser.parse_args = parser.parse_intermixed_args  # type: ignore[method-assign]


def act(args: argparse.Namespace) -> int:
    here = station(args)
    old = options.task_id(here.client, args.id)
    key = {"Idempotency-Key": secrets.token_hex(16)}
    task_id = here.client.post(f"/api/brain/tasks/{old}/fork", _request(args), headers=key)["taskId"]
    return here.watch(task_id)


def _request(args: argparse.Namespace) -> Json:
    chosen: Json = {"models": models(args.model)} if args.model else {}
    chosen |= {"approvals": args.approvals} if args.approvals else {}
    wanted: Json = {"options": chosen, "keepFiles": args.keep_files}
    wanted |= {"seq": args.to} if args.to is not None else {}
    return wanted | ({"task": args.task} if args.task else {})
