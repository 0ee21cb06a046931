"""`brain cancel`: stop a task, and everything that it started."""

import argparse
import json
import sys

from sidecar.commands import options
from sidecar.commands.screen import Plain
from sidecar.commands.sidecars import looking
from sidecar.commands.story import Story
from sidecar.commands.style import style_for

ABOUT = """\
Cancel a task. It returns once every process that the task started is dead, and says which were killed and what had
already happened. What is done stays done; `brain resume` goes on from there."""
EXAMPLES = """\
examples:
  brain cancel t_4642c5
"""


def define(parser: argparse.ArgumentParser) -> None:
    options.add_task_id(parser)
    options.add_data_dir(parser)
    parser.set_defaults(act=act)


def act(args: argparse.Namespace) -> int:
    with looking(options.data_dir(args)) as client:
        task_id = options.task_id(client, args.id)
        last = client.get(f"/api/brain/tasks/{task_id}")["lastSeq"]
        client.post(f"/api/brain/tasks/{task_id}/cancel")
        screen, story = Plain(sys.stdout), Story(style_for())
        for message in client.stream(task_id, last):
            event = json.loads(message.data)
            if event["type"] in ("status", "cancelled"):
                screen.say(story.take(event))
    return 0
