"""`brain doctor`: check the setup, and show how to fix problems."""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sidecar.client.sidecars import find_sidecar
from sidecar.commands.errors import EXIT_FAILED, EXIT_OK
from sidecar.commands.parser import data_dir, workspace
from sidecar.commands.text import Style, print_json, safe_line, style_for, terminal_columns, wrap

if TYPE_CHECKING:
    from sidecar.doctor.report import RunningSidecar
    from sidecar.wire.system import FindingInfo

INDENT = 21


def doctor(args: argparse.Namespace) -> int:
    from sidecar.doctor.checks import run_checks
    from sidecar.doctor.report import DoctorContext

    directory = data_dir(args)
    findings = run_checks(DoctorContext(directory, workspace(args), os.environ, _running(directory)))
    fatal = any(finding.essential and finding.state == "missing" for finding in findings)
    if args.json:
        listed = [finding.model_dump(mode="json", by_alias=True, exclude_none=True) for finding in findings]
        print_json(listed, indent=2)
    else:
        columns = terminal_columns()
        style = style_for()
        print("\n".join(line for finding in findings for line in render_finding(finding, style, columns)))
        print(f"\n{_conclusion(findings, fatal=fatal)}", file=sys.stderr if fatal else sys.stdout)
    return EXIT_FAILED if fatal else EXIT_OK


def _conclusion(findings: "Sequence[FindingInfo]", *, fatal: bool) -> str:
    if fatal:
        return "Nothing works until you fix this."
    if any(finding.state == "missing" for finding in findings):
        return "Everything works except the missing parts."
    return "Everything works."


def _running(directory: Path) -> "RunningSidecar | None":
    from sidecar.doctor.report import RunningSidecar

    client = find_sidecar(directory)
    if client is None:
        return None
    status = client.get("/api/brain/status")
    journal = status["journal"]
    stalled = "" if journal["state"] == "ok" else journal["message"]
    return RunningSidecar(client.url, client.pid, status["tasks"], stalled, journal["sizeBytes"])


def render_finding(finding: "FindingInfo", style: Style, columns: int = 200) -> list[str]:
    marks = {"ok": style.green("OK     "), "missing": style.red("missing"), "note": style.yellow("note   ")}
    first, *rest = wrap(safe_line(finding.found), max(columns - INDENT - 1, 30))
    fix = wrap(f"→ {safe_line(finding.fix)}", max(columns - INDENT - 1, 30)) if finding.fix else []
    lines = [f"{marks[finding.state]}  {style.bold(f'{finding.about:<11}')} {first}"]
    return [*lines, *(" " * INDENT + row for row in rest), *(" " * INDENT + style.cyan(row) for row in fix)]
