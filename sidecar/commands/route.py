"""`brain route`: what would be done with a task. Nothing is run."""

import argparse
import json

from sidecar.commands import options
from sidecar.commands.errors import CommandFailed
from sidecar.commands.exits import EXIT_USAGE
from sidecar.commands.sidecars import looking
from sidecar.commands.style import style_for

ABOUT = "Say which kind of task this is, which agents would work on it, and why. Nothing is run."
EXAMPLES = """\
examples:
  brain route "rename the class and update its callers"
"""


def define(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("task", help="the task, in plain words")
    parser.add_argument("--json", action="store_true", help="as JSON")
    options.add_workspace(parser)
    options.add_data_dir(parser)
    parser.set_defaults(act=act)


def act(args: argparse.Namespace) -> int:
    if not args.task.strip():
        raise CommandFailed('The task is empty. Say what is to be done: brain route "run the tests"', EXIT_USAGE)
    with looking(options.data_dir(args)) as client:
        # A workspace that is trusted may have slash commands of its own.
        asked = {"task": args.task, "context": {"workspace": str(options.workspace(args))}}
        route = client.post("/api/brain/route", asked)
    if args.json:
        print(json.dumps(route))
        return 0
    style = style_for()
    print(f"{style.bold(route['intent'])}  {' → '.join(route['pipeline'])}")
    print(style.dim(f"because {route['why']} (confidence {route['confidence']:.0%})"))
    return 0
