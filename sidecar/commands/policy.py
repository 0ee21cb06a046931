"""`brain policy explain`: whether a command would be allowed. Nothing is run."""

import argparse
import json

from sidecar.commands import options
from sidecar.commands.client import Json
from sidecar.commands.exits import EXIT_FAILED
from sidecar.commands.sidecars import looking
from sidecar.commands.style import style_for
from sidecar.commands.tool import arguments

ABOUT = """\
Say whether a command, or another tool's call, would be allowed, asked about or refused, and why. Nothing is run.
The exit code is 0 unless it would be refused."""
EXAMPLES = """\
examples:
  brain policy explain "git log -5"
  brain policy explain --tool write_file path=.git/config content=
"""


def define(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True, help="what to do")
    explain = actions.add_parser("explain", help="allowed, asked about, or refused?", description=ABOUT)
    explain.add_argument("words", metavar="COMMAND", nargs="+", help="a command; with --tool its key=value arguments")
    explain.add_argument("--tool", metavar="NAME", help="another tool than run_command")
    explain.add_argument("--json", action="store_true", help="as JSON")
    options.add_workspace(explain)
    options.add_data_dir(explain)
    parser.set_defaults(act=act)


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
