"""`brain doctor`: what is set up, what was found, what is missing, and how to fix it."""

import argparse
import json
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from sidecar.commands import options
from sidecar.commands.exits import EXIT_FAILED, EXIT_OK
from sidecar.commands.sidecars import running
from sidecar.commands.style import Style, is_terminal, style_for
from sidecar.commands.text import safe_line, wrapped
from sidecar.doctor.report import MISSING, OK, CheckResult, DoctorContext, RunningSidecar

ABOUT = """\
Look at everything that Rainy Brain stands on, and say what is missing and how to fix it. Keys are never shown, only
whether they are there. The exit code is 1 only if something is missing without which nothing works."""
EXAMPLES = """\
examples:
  brain doctor
  brain doctor --json | jq '.[] | select(.state != "ok")'
"""
INDENT = 21


def define(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="as a JSON list")
    options.add_workspace(parser)
    options.add_data_dir(parser)
    parser.set_defaults(act=act)


def act(args: argparse.Namespace) -> int:
    from sidecar.doctor.checks import run_checks

    data_dir = options.data_dir(args)
    findings = run_checks(DoctorContext(data_dir, options.workspace(args), os.environ, known(data_dir)))
    fatal = any(finding.essential and finding.state == MISSING for finding in findings)
    if args.json:
        print(json.dumps([_as_json(finding) for finding in findings], ensure_ascii=False, indent=2))
    else:
        columns = shutil.get_terminal_size().columns if is_terminal() else 200
        style = style_for()
        print("\n".join(line for finding in findings for line in told(finding, style, columns)))
        print(f"\n{_end(findings, fatal=fatal)}", file=sys.stderr if fatal else sys.stdout)
    return EXIT_FAILED if fatal else EXIT_OK


def _end(findings: Sequence[CheckResult], *, fatal: bool) -> str:
    if fatal:
        return "Something is missing without which nothing works."
    if any(finding.state == MISSING for finding in findings):
        return "What is missing does not work until it is mended; everything else does."
    return "Everything that is needed is there."


def known(data_dir: Path) -> RunningSidecar | None:
    """What the running sidecar says of itself."""
    client = running(data_dir)
    if client is None:
        return None
    status = client.get("/api/brain/status")
    journal = status["journal"]
    stalled = "" if journal["state"] == "ok" else journal["message"]
    return RunningSidecar(client.url, client.pid, status["tasks"], stalled, journal["sizeBytes"])


def _as_json(finding: CheckResult) -> dict[str, object]:
    return {**finding._asdict(), "mends": [mend._asdict() for mend in finding.mends]}


def told(finding: CheckResult, style: Style, columns: int = 200) -> list[str]:
    mark = {OK: style.green("ok     "), MISSING: style.red("missing")}.get(finding.state, style.yellow("note   "))
    first, *rest = wrapped(safe_line(finding.found), max(columns - INDENT - 1, 30))
    fix = wrapped(f"→ {safe_line(finding.fix)}", max(columns - INDENT - 1, 30)) if finding.fix else []
    lines = [f"{mark}  {style.bold(f'{finding.about:<11}')} {first}"]
    return [*lines, *(" " * INDENT + row for row in rest), *(" " * INDENT + style.cyan(row) for row in fix)]
