"""`brain rewind`: files and conversation of a task as they were at one of its events."""

import argparse

from sidecar.commands import options
from sidecar.commands.sidecars import looking
from sidecar.commands.style import style_for
from sidecar.commands.text import safe

ABOUT = """\
Take back what a task did after one of its events: in the files, and in its conversation. What you edited since is kept:
merged where it can be, else the file is left alone and named. `brain show --json ID` lists the events with their `seq`;
0 is before everything. A rewind can itself be rewound, and `brain resume` goes on from there. With --files the
conversation stays as it is, and the agents are told which files went back."""
EXAMPLES = """\
examples:
  brain rewind t_4642c5 0 --preview     what would change?
  brain rewind t_4642c5 0               as if it had never begun
  brain rewind t_4642c5 17              as it was at event 17
  brain rewind t_4642c5 17 --files      only the files
"""


def define(parser: argparse.ArgumentParser) -> None:
    options.add_task_id(parser)
    parser.add_argument("seq", type=int, metavar="SEQ", help="the event to go back to")
    parser.add_argument("--files", action="store_true", help="the files alone; the conversation goes on where it is")
    parser.add_argument("--preview", action="store_true", help="only say what would change")
    options.add_data_dir(parser)
    parser.set_defaults(act=act)


def act(args: argparse.Namespace) -> int:
    with looking(options.data_dir(args)) as client:
        task_id = options.task_id(client, args.id)
        body = {"seq": args.seq, "preview": args.preview, "conversation": not args.files}
        done = client.post(f"/api/brain/tasks/{task_id}/rewind", body)
    style = style_for()
    for file in done["files"]:
        kept = file["change"] == "conflict"
        mark = style.yellow("left alone") if kept else style.green(file["change"])
        print(f"  {mark}  {safe(file['path'])}" + (f"  {safe(file.get('why') or '')}" if kept else ""))
    left = sum(file["change"] == "conflict" for file in done["files"])
    count = len(done["files"]) - left
    what = "would change" if args.preview else "changed"
    also = f", {left} {'would be ' if args.preview else ''}left alone" if left else ""
    print(f"{count or 'No'} {'file' if count == 1 else 'files'} {what}{also}.")
    if not args.preview and not args.files:
        print(
            style.dim(f"The task stands at event {args.seq}. Go on from there: brain resume {options.short(task_id)}")
        )
    return 0
