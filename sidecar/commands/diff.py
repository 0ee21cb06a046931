"""`brain diff`: what a task changed."""

import argparse
import json

from sidecar.commands import options
from sidecar.commands.sidecars import looking
from sidecar.commands.style import style_for
from sidecar.commands.text import safe

ABOUT = """\
Show what a task changed, as unified diffs; the newest task if none is named. On a terminal it is coloured; into a file
or a pipe it goes as a patch that `git apply` takes."""
EXAMPLES = """\
examples:
  brain diff
  brain diff t_4642c5 | git apply --reverse       take all of it back
  brain diff t_4642c5 --json                      with the ids of its hunks
"""


def define(parser: argparse.ArgumentParser) -> None:
    options.add_task_id(parser, optional=True)
    parser.add_argument("--json", action="store_true", help="as JSON, by file and hunk")
    options.add_data_dir(parser)
    parser.set_defaults(act=act)


def act(args: argparse.Namespace) -> int:
    with looking(options.data_dir(args)) as client:
        task_id = options.task_id(client, args.id)
        found = client.get(f"/api/brain/tasks/{task_id}/diff")
    if args.json:
        print(json.dumps(found, ensure_ascii=False))
        return 0
    style = style_for()
    for file in found["files"]:
        for line in safe(file["diff"]).splitlines():
            paint = {"+": style.green, "-": style.red, "@": style.cyan}.get(line[:1])
            print(paint(line) if paint else line)
        if file.get("note"):
            print(style.dim(f"{safe(file['path'])}: {file['note']}"))
    if not found["files"]:
        print(style.dim(f"Task {options.short(task_id)} changed no files."))
    return 0
