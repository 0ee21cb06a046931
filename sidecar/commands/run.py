"""`brain run`: one task, watched in the terminal to its end."""

import argparse
import secrets
from pathlib import Path

from sidecar.commands import options
from sidecar.commands.client import Client, Json
from sidecar.commands.errors import CommandFailed, Refused, Unreachable
from sidecar.commands.exits import EXIT_DETACHED, EXIT_USAGE
from sidecar.commands.sidecars import Workplace
from sidecar.commands.telling import telling
from sidecar.commands.watch import Watch
from sidecar.wire.intents import INTENTS

ABOUT = """\
Carry out a task and watch it here. It is done by the sidecar of the data directory; if none is running, one is
started, and ends when it has nothing left to do.

Ctrl-C cancels the task: everything that it started is stopped, and you are told what had already happened.
A second Ctrl-C leaves the task alone and gives you your terminal back."""
EXAMPLES = """\
examples:
  brain run "run the tests"
  brain run "list the files in src" --workspace ~/project
  brain run 'run `git status`' --json | jq .type
  brain run "search for TODO" --approvals readonly

exit codes:
  0 completed (verified, or nothing to verify)      1 failed, not verified, or a person is needed
  2 not usable as it was written
  4 no sidecar   5 you detached; the task goes on   130 cancelled
"""
_ATTEMPTS = 3


def define(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("task", help='what to do, in plain words; "-" reads it from standard input')
    options.add_workspace(parser)
    options.add_data_dir(parser)
    parser.add_argument("--json", action="store_true", help="print the events, one JSON object a line, nothing else")
    parser.add_argument(
        "--approvals",
        choices=("ask", "auto", "readonly"),
        default="ask",
        help="what happens before a command runs: you are asked, it runs, or it is refused (default: ask)",
    )
    parser.add_argument(
        "--model",
        action="append",
        metavar="[ROLE=]PROVIDER/NAME",
        default=[],
        help="the model for every role, or for one of fast, smart, instant",
    )
    parser.add_argument(
        "--intent",
        choices=INTENTS,
        metavar="INTENT",
        help="what kind of task it is, if you know better than the router",
    )
    parser.add_argument("--conversation", metavar="ID", help="go on with this conversation")
    parser.add_argument(
        "--priority", choices=("high", "normal", "low"), default="normal", help="who goes first (default: normal)"
    )
    parser.add_argument(
        "--verify",
        action="append",
        metavar="COMMAND",
        default=[],
        help="check the change with this command (may be given several times); off checks nothing. Without a terminal "
        "nobody is asked: a check that needs your word, as in a workspace that you do not trust, is left out",
    )
    parser.add_argument("--max-duration", type=float, metavar="SECONDS", help="give up after this long (default: 3600)")
    parser.set_defaults(act=act)


def act(args: argparse.Namespace) -> int:
    workspace, data_dir = options.workspace(args), options.data_dir(args)
    told = telling(json=args.json)
    workplace = Workplace(data_dir, workspace, told.starting)
    try:
        client, task_id = _execute(workplace, _request(args, workspace, attended=told.asks))
    finally:
        told.rest()
    code = Watch(task_id, data_dir, told, workplace, cancels=True).run(client)
    if code != EXIT_DETACHED:
        workplace.leave()
    return code


def _request(args: argparse.Namespace, workspace: Path, *, attended: bool) -> Json:
    text = args.task
    if text == "-":
        import sys

        text = sys.stdin.read()
    if not text.strip():
        raise CommandFailed('The task is empty. Say what is to be done: brain run "run the tests"', EXIT_USAGE)
    chosen: Json = {"approvals": args.approvals, "priority": args.priority, "models": models(args.model)}
    chosen |= {"intent": args.intent} if args.intent else {}
    chosen |= {"conversationId": args.conversation} if args.conversation else {}
    chosen |= {"verify": "off" if args.verify == ["off"] else args.verify} if args.verify else {}
    # Without a terminal nobody is here to say yes, and a task that is done should not wait for it.
    chosen |= {} if attended else {"verifyUnasked": True}
    chosen |= {"maxDuration": args.max_duration} if args.max_duration is not None else {}
    return {"task": text, "context": {"workspace": str(workspace)}, "options": chosen}


def models(given: list[str]) -> dict[str, str]:
    roles = ("fast", "smart", "instant")
    chosen: dict[str, str] = {}
    for word in given:
        role, equals, name = word.partition("=")
        if equals and role in roles:
            chosen[role] = name
        elif equals:
            raise CommandFailed(
                f"--model {word}: there is no role {role}; the roles are {', '.join(roles)}.", EXIT_USAGE
            )
        else:
            chosen |= {role: word for role in roles if role not in chosen}
    return chosen


def _execute(workplace: Workplace, request: Json) -> tuple[Client, str]:
    """Tried again with the same key when a sidecar ends just as we come: it is one task, however often it is sent."""
    key = {"Idempotency-Key": secrets.token_hex(16)}
    for attempt in range(1, _ATTEMPTS + 1):
        client = workplace.client()
        try:
            return client, client.post("/api/brain/execute", request, headers=key)["taskId"]
        except Refused as refusal:
            if refusal.code != "stopping" or attempt == _ATTEMPTS:
                raise
        except Unreachable:
            if attempt == _ATTEMPTS:
                raise
    raise AssertionError("the last attempt returns or raises")
