"""`brain show`: a task as it was or is told, from its first event."""

import argparse
import json
import sys

from sidecar.commands import options
from sidecar.commands.client import Client, Json
from sidecar.commands.screen import Plain
from sidecar.commands.sidecars import looking
from sidecar.commands.story import ENDED, Story
from sidecar.commands.style import Style, style_for
from sidecar.commands.telling import telling
from sidecar.commands.text import safe_line
from sidecar.commands.watch import Watch

ABOUT = """\
Show a task from its first event: what was asked, done, said and changed, and how it ended. With --follow it goes on
to show what happens, until the task ends or you press Ctrl-C; the task does not notice either way."""
EXAMPLES = """\
examples:
  brain show                     the newest task
  brain show t_4642c5            an id, or enough of its beginning
  brain show --follow t_4642c5
  brain show t_4642c5 --json | jq .usage
"""


def define(parser: argparse.ArgumentParser) -> None:
    options.add_task_id(parser, optional=True)
    parser.add_argument("--follow", "-f", action="store_true", help="go on until the task ends; Ctrl-C leaves it alone")
    parser.add_argument(
        "--json", action="store_true", help="the task as one JSON object; with --follow its events, one a line"
    )
    options.add_data_dir(parser)
    parser.set_defaults(act=act)


def act(args: argparse.Namespace) -> int:
    data_dir = options.data_dir(args)
    with looking(data_dir) as client:
        task_id = options.task_id(client, args.id)
        task = client.get(f"/api/brain/tasks/{task_id}")
        # One that nobody works on has nothing more to tell: what is there is shown, and that is all.
        if args.follow and (client.at_work or task["status"] in ENDED):
            return Watch(task_id, data_dir, telling(json=args.json), None, cancels=False).run(client)
        if args.json and not args.follow:
            print(json.dumps(task, ensure_ascii=False))
            return 0
        events = _events(client, task_id)
    if args.json:
        print("".join(json.dumps(event, ensure_ascii=False) + "\n" for event in events), end="")
        return 0
    style, screen = style_for(), Plain(sys.stdout)
    story = Story(style)
    screen.say(_head(task, style))
    for event in events:
        screen.say(story.take(event))
    if task["status"] not in ENDED:
        screen.say(["", *_unfinished(task, style, at_work=client.at_work)])
    return 0


def _events(client: Client, task_id: str) -> list[Json]:
    events: list[Json] = []
    more, after = True, 0
    while more:
        page = client.get(f"/api/brain/tasks/{task_id}/events", {"after": after, "limit": 2_000})
        events += page["events"]
        more = page["more"]
        after = events[-1]["seq"] if events else 0
    return events


def _head(task: Json, style: Style) -> list[str]:
    lines = [f"{style.bold(task['id'])}  {style.status(task['status'])}"]
    lines.append(style.dim(f"  in {safe_line(task['workspace'])}, conversation {safe_line(task['conversationId'])}"))
    return [*lines, ""]


def _unfinished(task: Json, style: Style, *, at_work: bool) -> list[str]:
    task_id = options.short(task["id"])
    if not at_work:
        return [f"No sidecar is running. To go on with it: {style.bold(f'brain resume --follow {task_id}')}"]
    return [f"It is {style.status(task['status'])}. To watch it: {style.bold(f'brain show --follow {task_id}')}"]
