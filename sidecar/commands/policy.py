"""`brain policy explain`: whether a command would be allowed. Nothing is run."""

import argparse
import json
import shlex
from pathlib import Path

from sidecar.commands import options
from sidecar.commands.client import Json
from sidecar.commands.exits import EXIT_FAILED
from sidecar.commands.sidecars import looking
from sidecar.commands.style import style_for
from sidecar.commands.text import safe_line
from sidecar.commands.tool import arguments

ABOUT = """\
Say whether a command, or another tool's call, would be allowed, asked about or refused, and why. Nothing is run.
The exit code is 0 unless it would be refused."""
EXAMPLES = """\
examples:
  brain policy explain "git log -5"
  brain policy explain --tool write_file path=.git/config content=
  brain policy list              what you have allowed for whole workspaces
  brain policy revoke g_17
"""


def define(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True, help="what to do")
    explain = actions.add_parser("explain", help="allowed, asked about, or refused?", description=ABOUT)
    explain.add_argument("words", metavar="COMMAND", nargs="+", help="a command; with --tool its key=value arguments")
    explain.add_argument("--tool", metavar="NAME", help="another tool than run_command")
    explain.add_argument("--json", action="store_true", help="as JSON")
    options.add_workspace(explain)
    options.add_data_dir(explain)
    listing = actions.add_parser("list", help="what you have allowed for whole workspaces")
    listing.add_argument("--json", action="store_true", help="as JSON")
    revoke = actions.add_parser("revoke", help="allow one of them no longer")
    revoke.add_argument("id", metavar="ID", help="from `brain policy list`")
    for action in (listing, revoke):
        options.add_data_dir(action)
    parser.set_defaults(act=act)
    listing.set_defaults(act=list_approvals)
    revoke.set_defaults(act=revoke_approval)


def list_approvals(args: argparse.Namespace) -> int:
    with looking(options.data_dir(args), Path.cwd()) as client:
        answer = client.get("/api/brain/approvals")
    if args.json:
        print(json.dumps(answer, ensure_ascii=False))
        return 0
    for each in answer["approvals"]:
        print(
            f"{each['id']}  {safe_line(each['workspace'])}  {safe_line(shlex.join(each['argv'] or [each['action']]))}"
        )
    if not answer["approvals"]:
        print("Nothing is allowed for a whole workspace.")
    return 0


def revoke_approval(args: argparse.Namespace) -> int:
    with looking(options.data_dir(args), Path.cwd()) as client:
        client.post("/api/brain/approvals/revoke", {"id": args.id})
    print("It is asked about again.")
    return 0


def act(args: argparse.Namespace) -> int:
    workspace = options.workspace(args)
    call: Json = {"tool": "run_command", "args": {"command": " ".join(args.words)}}
    if args.tool:
        call = {"tool": args.tool, "args": arguments(args.words)}
    with looking(options.data_dir(args), workspace) as client:
        answer = client.post("/api/brain/policy/explain", {**call, "workspace": str(workspace)})
    style = style_for()
    if args.json:
        print(json.dumps(answer))
    else:
        paint = {"allow": style.green, "ask": style.yellow, "deny": style.red}[answer["decision"]]
        print(f"{paint(answer['decision'])}: {answer['why']}")
    return EXIT_FAILED if answer["decision"] == "deny" else 0
