"""`brain doctor`: what is set up, what was found, what is missing, and how to fix it."""

import argparse
import json
import sys

from sidecar.commands import options
from sidecar.commands.exits import EXIT_FAILED, EXIT_OK
from sidecar.commands.findings import MISSING, OK, Finding
from sidecar.commands.style import Style, style_for
from sidecar.commands.text import safe_line

ABOUT = """\
Look at everything that Rainy Brain stands on, and say what is missing and how to fix it. Keys are never shown, only
whether they are there. The exit code is 1 only if something is missing without which nothing works."""
EXAMPLES = """\
examples:
  brain doctor
  brain doctor --json | jq '.[] | select(.state != "ok")'
"""


def define(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="as a JSON list")
    options.add_data_dir(parser)
    parser.set_defaults(act=act)


def act(args: argparse.Namespace) -> int:
    from sidecar.commands.examination import examine

    findings = examine(options.data_dir(args))
    if args.json:
        print(json.dumps([finding._asdict() for finding in findings], ensure_ascii=False, indent=2))
    else:
        print("\n".join(line for finding in findings for line in told(finding, style_for())))
        if not any(finding.essential and finding.state == MISSING for finding in findings):
            print(style_for().dim("\nEverything that is needed is there."))
    fatal = any(finding.essential and finding.state == MISSING for finding in findings)
    if fatal and not args.json:
        print("\nSomething is missing without which nothing works; see above.", file=sys.stderr)
    return EXIT_FAILED if fatal else EXIT_OK


def told(finding: Finding, style: Style) -> list[str]:
    mark = {OK: style.green("ok     "), MISSING: style.red("missing")}.get(finding.state, style.yellow("note   "))
    lines = [f"{mark}  {style.bold(f'{finding.about:<12}')}  {safe_line(finding.found)}"]
    return [*lines, f"{'':<23}{style.dim('→ ' + safe_line(finding.fix))}"] if finding.fix else lines
