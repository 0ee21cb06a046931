"""`brain trust`: which workspaces may run what stands in them without asking each time."""

import argparse
import json
from pathlib import Path

from sidecar.commands import options
from sidecar.commands.client import Json
from sidecar.commands.sidecars import looking
from sidecar.commands.style import style_for
from sidecar.commands.text import safe_line

ABOUT = """\
Trust a directory (this one unless told): harmless commands and its own tests then run without asking, and what it
configures is used. It is recorded outside of the directory, and holds until what the directory runs or configures
changes. Everything else is asked about as before."""
EXAMPLES = """\
examples:
  brain trust                    trust this directory
  brain trust ~/src/app --revoke
  brain trust --list
"""


def define(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("directory", metavar="DIR", nargs="?", default=".", help="default: this one")
    parser.add_argument("--revoke", action="store_true", help="trust it no longer")
    parser.add_argument("--list", action="store_true", help="only show what is trusted")
    parser.add_argument("--json", action="store_true", help="as JSON")
    options.add_data_dir(parser)
    parser.set_defaults(act=act)


def act(args: argparse.Namespace) -> int:
    place = Path(args.directory).resolve()
    with looking(options.data_dir(args), place if place.is_dir() else Path.cwd()) as client:
        if args.list:
            answer = client.get("/api/brain/trust")
        else:
            answer = client.post("/api/brain/trust", {"workspace": str(place), "trusted": not args.revoke})
    if args.json:
        print(json.dumps(answer, ensure_ascii=False))
    else:
        shown = (
            answer["workspaces"]
            if args.list
            else [each for each in answer["workspaces"] if each["workspace"] == str(place)]
        )
        print("\n".join(map(_line, shown)))
    return 0


def _line(entry: Json) -> str:
    style = style_for()
    mark = style.green("trusted    ") if entry["trusted"] else style.yellow("not trusted")
    return f"{mark}  {safe_line(entry['workspace'])}  {style.dim(entry['why'])}"
