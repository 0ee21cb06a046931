"""`brain diff` and `brain rewind`: a task's changes, and undoing them."""

import argparse
import json
import sys
from collections.abc import Sequence

from sidecar.client.client import Json
from sidecar.client.sidecars import reading
from sidecar.commands.errors import EXIT_USAGE, CommandFailed
from sidecar.commands.parser import data_dir, task_id
from sidecar.commands.text import safe, short, style_for


def diff(args: argparse.Namespace) -> int:
    with reading(data_dir(args)) as client:
        task = task_id(client, args.id)
        found = client.get(f"/api/brain/tasks/{task}/diff")
        if args.accept or args.reject:
            decision = {"accept": _hunk_ids(found, args.accept), "reject": _hunk_ids(found, args.reject)}
            found = client.post(f"/api/brain/tasks/{task}/hunks", decision)
    if args.json:
        print(json.dumps(found, ensure_ascii=False))
        return 0
    style = style_for()
    for file in found["files"]:
        for line in safe(file["diff"]).splitlines():
            paint = {"+": style.green, "-": style.red, "@": style.cyan}.get(line[:1])
            print(paint(line) if paint else line)
    # Notes are not part of the patch.
    notes = sys.stdout if sys.stdout.isatty() else sys.stderr
    for file in found["files"]:
        if file.get("note"):
            print(style.dim(f"{safe(file['path'])}: {safe(file['note'])}"), file=notes)
    for conflict in found.get("conflicts", []):
        print(style.yellow(f"{safe(conflict['path'])}: {safe(conflict.get('why') or '')}"), file=notes)
    if not found["files"]:
        print(style.dim("All changes undone." if args.reject else f"Task {short(task)} changed no files."))
    return 0


def _hunk_ids(found: Json, named: Sequence[str]) -> list[str]:
    """The hunks named by an id, a path or `all`."""
    chosen: list[str] = []
    for name in named:
        ids = [
            hunk["id"] for file in found["files"] for hunk in file["hunks"] if name in ("all", file["path"], hunk["id"])
        ]
        notes = [file["note"] for file in found["files"] if file["path"] == name and file.get("note")]
        if not ids and name != "all":
            why = notes[0] if notes else "`brain diff --json` lists them."
            raise CommandFailed(f"No hunk or file {name} to accept or reject. {why}", EXIT_USAGE)
        chosen += ids
    return list(dict.fromkeys(chosen))


def rewind(args: argparse.Namespace) -> int:
    with reading(data_dir(args)) as client:
        task = task_id(client, args.id)
        body = {"seq": args.seq, "preview": args.preview, "conversation": not args.files}
        done = client.post(f"/api/brain/tasks/{task}/rewind", body)
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
        where = f"event {args.seq}" if args.seq else "its start"
        print(style.dim(f"Rewound the task to {where}. Continue from there: brain resume {short(task)}"))
    return 0
