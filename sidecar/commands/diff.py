"""`brain diff`: what a task changed, and what is to stay of it."""

import argparse
import json
import sys
from collections.abc import Sequence

from sidecar.commands import options
from sidecar.commands.client import Json
from sidecar.commands.errors import CommandFailed
from sidecar.commands.sidecars import looking
from sidecar.commands.style import style_for
from sidecar.commands.text import safe

ABOUT = """\
Show what a task changed, as unified diffs; the newest task if none is named. On a terminal it is coloured; into a file
or a pipe it goes as a patch that `git apply` takes. --accept and --reject decide on parts of it, each by a hunk's id, a
file's path, or `all`: what is rejected is taken back in the files, and the agents are told."""
EXAMPLES = """\
examples:
  brain diff
  brain diff t_4642c5 | git apply --reverse       take all of it back
  brain diff t_4642c5 --json                      with the ids of its hunks
  brain diff t_4642c5 --reject src/a.py           take one file back
  brain diff t_4642c5 --accept all
"""


def define(parser: argparse.ArgumentParser) -> None:
    options.add_task_id(parser, optional=True)
    parser.add_argument("--json", action="store_true", help="as JSON, by file and hunk")
    for verb, effect in (("accept", "keep"), ("reject", "take back")):
        parser.add_argument(
            f"--{verb}", action="append", default=[], metavar="WHAT", help=f"{effect} a hunk, a file, or all"
        )
    options.add_data_dir(parser)
    parser.set_defaults(act=act)


def act(args: argparse.Namespace) -> int:
    with looking(options.data_dir(args)) as client:
        task_id = options.task_id(client, args.id)
        found = client.get(f"/api/brain/tasks/{task_id}/diff")
        if args.accept or args.reject:
            decision = {"accept": _hunks(found, args.accept), "reject": _hunks(found, args.reject)}
            found = client.post(f"/api/brain/tasks/{task_id}/hunks", decision)
    if args.json:
        print(json.dumps(found, ensure_ascii=False))
        return 0
    style = style_for()
    for file in found["files"]:
        for line in safe(file["diff"]).splitlines():
            paint = {"+": style.green, "-": style.red, "@": style.cyan}.get(line[:1])
            print(paint(line) if paint else line)
    # What is said beside the patch is no part of it.
    beside = sys.stdout if sys.stdout.isatty() else sys.stderr
    for file in found["files"]:
        if file.get("note"):
            print(style.dim(f"{safe(file['path'])}: {safe(file['note'])}"), file=beside)
    for conflict in found.get("conflicts", []):
        print(style.yellow(f"{safe(conflict['path'])}: {safe(conflict.get('why') or '')}"), file=beside)
    if not found["files"]:
        none = f"Task {options.short(task_id)} changed no files."
        print(style.dim("Nothing of what the task changed is left." if args.reject else none))
    return 0


def _hunks(found: Json, named: Sequence[str]) -> list[str]:
    """The ids of the hunks that are meant by an id, a path or `all`."""
    meant: list[str] = []
    for name in named:
        ids = [
            hunk["id"] for file in found["files"] for hunk in file["hunks"] if name in ("all", file["path"], hunk["id"])
        ]
        notes = [file["note"] for file in found["files"] if file["path"] == name and file.get("note")]
        if not ids and name != "all":
            why = notes[0] if notes else "`brain diff --json` lists them."
            raise CommandFailed(f"The task's diff has no hunk and no file {name} that can be decided on. {why}", 2)
        meant += ids
    return list(dict.fromkeys(meant))
