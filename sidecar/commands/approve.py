"""`brain approve`: the person's word on what a task wants to do."""

import argparse
from urllib.parse import quote

from sidecar.commands import options
from sidecar.commands.client import Client, Json
from sidecar.commands.endings import approval_lines
from sidecar.commands.errors import CommandFailed
from sidecar.commands.exits import EXIT_USAGE
from sidecar.commands.sidecars import Workplace
from sidecar.commands.style import style_for

ABOUT = """\
Answer what a task asks for. Without --allow or --deny it only shows what waits for an answer: the whole command, where
it would run, and why you are asked."""
EXAMPLES = """\
examples:
  brain approve t_4642c5                          what does it ask for?
  brain approve t_4642c5 --allow
  brain approve t_4642c5 --allow --scope task     and do not ask again for the same in this task
  brain approve t_4642c5 a_17 --deny              when it asks for several things
"""


def define(parser: argparse.ArgumentParser) -> None:
    options.add_task_id(parser)
    parser.add_argument("approval", metavar="APPROVAL", nargs="?", help="which one, if it asks for several")
    answer = parser.add_mutually_exclusive_group()
    answer.add_argument("--allow", action="store_const", dest="decision", const="allow", help="yes")
    answer.add_argument("--deny", action="store_const", dest="decision", const="deny", help="no")
    parser.add_argument("--all", action="store_true", help="everything that it asks for now")
    parser.add_argument(
        "--scope", choices=("once", "task", "workspace"), default="once", help="how far a yes goes (default: once)"
    )
    options.add_data_dir(parser)
    parser.set_defaults(act=act)


def act(args: argparse.Namespace) -> int:
    client = Workplace(options.data_dir(args)).client()
    task_id = options.task_id(client, args.id)
    waiting = open_approvals(client, task_id)
    if args.approval is None and not waiting:
        print("The task asks for nothing.")
        return 0
    if args.decision is None:
        for approval_id, event in waiting.items():
            print("\n".join(approval_lines(style_for(), event)))
            print(style_for().dim(f"    brain approve {options.short(task_id)} {approval_id} --allow (or --deny)"))
        return 0
    if args.all:
        answers = [{"approvalId": each, "decision": args.decision, "scope": args.scope} for each in waiting]
        client.post(f"/api/brain/tasks/{task_id}/approvals", {"answers": answers})
        print(f"{len(answers)} answered. Watch it: brain show --follow {options.short(task_id)}")
        return 0
    if args.approval is None and len(waiting) > 1:
        named = ", ".join(waiting)
        raise CommandFailed(f"The task asks for {len(waiting)} things; say which one: {named}.", EXIT_USAGE)
    approval_id = args.approval or next(iter(waiting))
    body = {"decision": args.decision, "scope": args.scope}
    client.post(f"/api/brain/tasks/{task_id}/approvals/{quote(approval_id, safe='')}", body)
    said = "Allowed" if args.decision == "allow" else "Denied"
    print(f"{said}. Watch it: brain show --follow {options.short(task_id)}")
    return 0


def open_approvals(client: Client, task_id: str) -> dict[str, Json]:
    waiting: dict[str, Json] = {}
    after, more = 0, True
    while more:
        page = client.get(f"/api/brain/tasks/{task_id}/events", {"after": after, "limit": 2_000})
        for event in page["events"]:
            after = event["seq"]
            if event["type"] == "approval" and event["state"] == "requested":
                waiting[event["approvalId"]] = event
            elif event["type"] == "approval":
                waiting.pop(event["approvalId"], None)
        more = page["more"]
    return waiting
