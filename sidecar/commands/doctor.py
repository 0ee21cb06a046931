"""`brain doctor`: check the setup, and show how to fix problems."""

import argparse
import json
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sidecar.commands import options
from sidecar.commands.exits import EXIT_FAILED, EXIT_OK
from sidecar.commands.sidecars import running
from sidecar.commands.style import Style, is_terminal, style_for
from sidecar.commands.text import safe_line, wrapped

if TYPE_CHECKING:
    from sidecar.doctor.report import RunningSidecar
    from sidecar.wire.system import FindingInfo

ABOUT = """\
Check everything Rainy Brain needs, and show how to fix problems. Keys are never shown, only where they are. The exit
code is 1 only if nothing works without the missing part."""
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
    from sidecar.doctor.report import DoctorContext

    data_dir = options.data_dir(args)
    findings = run_checks(DoctorContext(data_dir, options.workspace(args), os.environ, known(data_dir)))
    fatal = any(finding.essential and finding.state == "missing" for finding in findings)
    if args.json:
        listed = [finding.model_dump(mode="json", by_alias=True, exclude_none=True) for finding in findings]
        print(json.dumps(listed, ensure_ascii=False, indent=2))
    else:
        columns = shutil.get_terminal_size().columns if is_terminal() else 200
        style = style_for()
        print("\n".join(line for finding in findings for line in render_finding(finding, style, columns)))
        print(f"\n{_end(findings, fatal=fatal)}", file=sys.stderr if fatal else sys.stdout)
    return EXIT_FAILED if fatal else EXIT_OK


def _end(findings: "Sequence[FindingInfo]", *, fatal: bool) -> str:
    if fatal:
        return "Nothing works until you fix this."
    if any(finding.state == "missing" for finding in findings):
        return "Everything works except the missing parts."
    return "Everything works."


def known(data_dir: Path) -> "RunningSidecar | None":
    from sidecar.doctor.report import RunningSidecar

    client = running(data_dir)
    if client is None:
        return None
    status = client.get("/api/brain/status")
    journal = status["journal"]
    stalled = "" if journal["state"] == "ok" else journal["message"]
    return RunningSidecar(client.url, client.pid, status["tasks"], stalled, journal["sizeBytes"])


def render_finding(finding: "FindingInfo", style: Style, columns: int = 200) -> list[str]:
    marks = {"ok": style.green("OK     "), "missing": style.red("missing"), "note": style.yellow("note   ")}
    first, *rest = wrapped(safe_line(finding.found), max(columns - INDENT - 1, 30))
    fix = wrapped(f"→ {safe_line(finding.fix)}", max(columns - INDENT - 1, 30)) if finding.fix else []
    lines = [f"{marks[finding.state]}  {style.bold(f'{finding.about:<11}')} {first}"]
    return [*lines, *(" " * INDENT + row for row in rest), *(" " * INDENT + style.cyan(row) for row in fix)]
