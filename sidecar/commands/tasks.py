"""`brain tasks`: what was done, and what is going on."""

import argparse
import json
import shutil
from datetime import UTC, datetime
from pathlib import Path, PurePath

from sidecar.commands import options
from sidecar.commands.client import Json
from sidecar.commands.sidecars import looking
from sidecar.commands.style import Style, is_terminal, style_for
from sidecar.commands.text import clip, safe_line

ABOUT = "List the tasks, newest first. It works without a running sidecar too, and starts no task by looking."
EXAMPLES = """\
examples:
  brain tasks
  brain tasks --status running,waiting
  brain tasks --limit 200 --json | jq -r 'select(.status == "failed") | .id'
"""


def define(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--status", metavar="STATUS", help="only tasks in this status; several with commas")
    parser.add_argument(
        "--limit", type=options.positive, default=20, metavar="N", help="how many at most (default: %(default)s)"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    options.add_data_dir(parser)
    parser.set_defaults(act=act)


def act(args: argparse.Namespace) -> int:
    with looking(options.data_dir(args)) as client:
        found: list[Json] = []
        before: str | None = None
        while len(found) < args.limit:
            query = {"status": args.status, "limit": min(args.limit - len(found), 200), "before": before}
            page = client.get("/api/brain/tasks", query)
            found += page["tasks"]
            before = page["nextBefore"]
            if before is None:
                break
    if args.json:
        print("".join(json.dumps(task, ensure_ascii=False) + "\n" for task in found), end="")
        return 0
    if not found:
        print(
            "There is no such task." if args.status else 'There is no task yet. Start one: brain run "list the files"'
        )
        return 0
    columns = shutil.get_terminal_size().columns if is_terminal() else 200
    print("\n".join(table(found, style_for(), columns, datetime.now(UTC), str(Path.cwd()))))
    if before is not None:
        print(style_for().dim(f"There are more: brain tasks --limit {args.limit * 5}"))
    return 0


def table(tasks: list[Json], style: Style, columns: int, now: datetime, here: str = "") -> list[str]:
    """Of tasks that are not of the directory `here` it is said where they are."""
    lines = [style.dim(f"{'ID':<12}{'STATUS':<13}{'WHEN':<10}TASK")]
    for task in tasks:
        status = style.status(task["status"], f"{task['status']:<13}")
        verified = {True: style.green(" ✓ verified"), False: style.red(" ✗ a check failed")}.get(task["verified"], "")
        elsewhere = here and task["workspace"] != here
        place = f" in {clip(safe_line(PurePath(task['workspace']).name or '/'), 20)}" if elsewhere else ""
        room = columns - 36 - (18 if verified else 0) - len(place)
        text = clip(safe_line(" ".join(task["task"].split())), max(room, 20))
        told = f"{text}{style.dim(place) if place else ''}{verified}"
        lines.append(f"{options.short(task['id']):<12}{status}{age(task['createdAt'], now):<10}{told}")
    return lines


def age(at: str, now: datetime) -> str:
    try:
        seconds = max((now - datetime.fromisoformat(at)).total_seconds(), 0)
    except ValueError:
        return "?"
    for length, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= length:
            return f"{seconds // length:.0f} {unit}"
    return f"{seconds:.0f} s"
