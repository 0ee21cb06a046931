"""`brain message`: steer a task at work, or continue one that has ended."""

import argparse

from sidecar.commands import options
from sidecar.commands.errors import CommandFailed
from sidecar.commands.exits import EXIT_USAGE
from sidecar.commands.sidecars import Workplace

ABOUT = """\
Say something to a task. One at work hears it at its next step; one that has ended goes on in the same conversation,
and knows what was said and done before."""
EXAMPLES = """\
examples:
  brain message t_4642c5 "leave the tests as they are"
  brain message t_4642c5 "now search for TODO" && brain show --follow t_4642c5
"""


def define(parser: argparse.ArgumentParser) -> None:
    options.add_task_id(parser)
    parser.add_argument("text", help="what to say")
    options.add_data_dir(parser)
    parser.set_defaults(act=act)


def act(args: argparse.Namespace) -> int:
    if not args.text.strip():
        raise CommandFailed("The message is empty. Say what the task should know, or do next.", EXIT_USAGE)
    client = Workplace(options.data_dir(args)).client()
    task_id = options.task_id(client, args.id)
    answer = client.post(f"/api/brain/tasks/{task_id}/messages", {"text": args.text})
    print(f"Said; the task is {answer['status']}. Watch it: brain show --follow {options.short(task_id)}")
    return 0
