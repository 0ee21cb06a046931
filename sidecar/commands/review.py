"""What tasks and pull requests changed: `brain diff`, `rewind`, `undo`, `merge`, `worktrees` and `pr review`."""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from sidecar.client.client import Client, Json
from sidecar.client.sidecars import reading
from sidecar.commands.errors import EXIT_FAILED, EXIT_OK, EXIT_USAGE, CommandFailed
from sidecar.commands.parser import data_dir, directories, task_id
from sidecar.commands.summary import render_restored
from sidecar.commands.text import paint_diff, print_json, safe, safe_line, short, style_for
from sidecar.wire.text import plural

_LOOKED_THROUGH = 50


def diff(args: argparse.Namespace) -> int:
    with reading(data_dir(args)) as client:
        task = task_id(client, args.id, anywhere=True)
        found = client.get(f"/api/brain/tasks/{task}/diff")
        if args.accept or args.reject:
            decision = {"accept": _hunk_ids(found, args.accept), "reject": _hunk_ids(found, args.reject)}
            found = client.post(f"/api/brain/tasks/{task}/hunks", decision)
        other = "" if found["files"] or args.id else _find_changed(client)
    if args.json:
        return print_json(found)
    style = style_for()
    # Notes are not part of the patch.
    notes = sys.stdout if sys.stdout.isatty() else sys.stderr
    if sys.stdout.isatty():
        for file in found["files"]:
            for line in safe(file["diff"]).split("\n")[:-1]:
                print(paint_diff(style, line))
    else:
        # Byte for byte: `git apply` takes it.
        sys.stdout.buffer.write("".join(file["diff"] for file in found["files"]).encode())
        sys.stdout.buffer.flush()
    for file in found["files"]:
        if file.get("note"):
            print(style.dim(f"{safe(file['path'])}: {safe(file['note'])}"), file=notes)
    for conflict in found.get("conflicts", []):
        print(style.yellow(f"{safe(conflict['path'])}: {safe(conflict.get('why') or '')}"), file=notes)
    if not found["files"]:
        if args.reject:
            print(style.dim("All changes undone."))
        else:
            hint = f" The newest that did: brain diff {other}" if other else ""
            print(style.dim(f"Task {short(task)} changed no files.{hint}"), file=notes)
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
        return _rewind(client, task_id(client, args.id), args, {"seq": args.seq, "conversation": not args.files})


def undo(args: argparse.Namespace) -> int:
    with reading(data_dir(args)) as client:
        return _rewind(client, task_id(client, args.id), args, {} if args.last_change else {"seq": 0})


def _rewind(client: Client, task: str, args: argparse.Namespace, what: Json) -> int:
    path = f"/api/brain/tasks/{task}/rewind"
    body = {**what, "preview": args.preview, "uncertain": args.include}
    done = client.post(path, body)
    left = bool(done["conflicts"] or done["notRestored"]) and not args.preview
    if args.json:
        print_json(done)
        return EXIT_FAILED if left else EXIT_OK
    style = style_for()
    for line in render_restored(style, done):
        print(line)
    print(_count(done, preview=args.preview))
    if not args.preview and what.get("conversation", True):
        where = f"event {done['seq']}" if done["seq"] else "its start"
        rest = ", but for what was left alone" if left else ""
        print(
            style.dim(f"Rewound task {short(task)} to {where}{rest}. Continue from there: brain resume {short(task)}")
        )
    unchanged = not (done["files"] or done["conflicts"] or done["notRestored"])
    if unchanged and not args.id and (other := _find_changed(client)):
        print(style.dim(f"The newest task here that changed files: brain undo {other}"))
    return EXIT_FAILED if left else EXIT_OK


def _find_changed(client: Client) -> str:
    """The newest completed task in this directory that changed files; empty if there is none."""
    query = {"limit": _LOOKED_THROUGH, "status": "completed", "workspace": directories(Path.cwd())}
    tasks = client.get("/api/brain/tasks", query)["tasks"]
    return next((short(each["id"]) for each in tasks if (each["result"] or {}).get("filesModified")), "")


def _count(done: Json, *, preview: bool) -> str:
    count, left = len(done["files"]), len(done["conflicts"]) + len(done["notRestored"])
    files = f"{count or 'No'} {'file' if count == 1 else 'files'}"
    also = f", {left} {'would be ' if preview else ''}left alone" if left else ""
    return f"{files} {'would change' if preview else 'changed'}{also}."


def review(args: argparse.Namespace) -> int:
    import asyncio

    from sidecar.config.keys import Keys
    from sidecar.config.paths import config_file
    from sidecar.doors.pr_review import find_repository, review_pull
    from sidecar.doors.settings import load_doors

    place, configuration = data_dir(args), config_file().parent
    workspace = str(Path(args.workspace or Path.cwd()).resolve())
    repository = args.repository or find_repository(load_doors(configuration), workspace)
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    environ = Keys(os.environ, place).environment()
    done = asyncio.run(review_pull(place, configuration, environ, repository, args.number, post=not args.no_post))
    if args.json:
        return print_json({"taskId": done.task_id, **done._asdict()})
    style = style_for()
    print(safe(done.body))
    for comment in done.comments:
        print(f"{style.bold(safe_line(comment['path']))}  {safe_line(comment['body'])}")
    print(style.dim(f"Posted: {safe_line(done.url)}" if done.url else "Not posted."))
    return 0


def merge(args: argparse.Namespace) -> int:
    with reading(data_dir(args)) as client:
        task = task_id(client, args.id)
        done = client.post(f"/api/brain/tasks/{task}/merge", {"preview": args.preview, "markers": args.markers})
    if args.json:
        print_json(done)
        return 0 if done["merged"] or args.preview else 1
    style = style_for()
    for file in done["files"] if done["merged"] or args.preview else ():
        print(f"  {style.green(file['change'])}  {safe_line(file['path'])}")
    for conflict in done["conflicts"]:
        print(f"  {style.yellow('conflict')}  {safe_line(conflict['path'])}  {safe_line(conflict['why'])}")
        if not done["merged"] and conflict.get("text"):
            print(safe(_around_markers(conflict["text"])))
    count = len(done["files"])
    files = f"{count or 'no'} {'file' if count == 1 else 'files'}"
    with_markers = f"To merge with conflict markers in the files: brain merge {short(task)} --markers"
    if done["merged"] and not count:
        print("There was nothing to merge: your workspace has all that the task changed. Its worktree is removed.")
    elif done["merged"]:
        print(f"Merged {files} into your workspace. To undo that: brain undo {short(task)}")
    elif not args.preview:
        print(f"Nothing was merged. {with_markers}")
    elif done["conflicts"] and not args.markers:
        print(f"A merge would change nothing because of the conflicts. {with_markers}")
    else:
        print(f"A merge would change {files}.")
    if done["merged"] and done["combined"]:
        print(style.dim("Your workspace changed meanwhile, so no check has seen this combination. Run your tests."))
    return 0 if done["merged"] or args.preview else 1


def _around_markers(text: str) -> str:
    """Only the conflicts, with two lines around each."""
    lines = text.split("\n")
    inside, shown = False, set[int]()
    for number, line in enumerate(lines):
        opens, closes = line.startswith("<<<<<<< "), line.startswith(">>>>>>> ")
        inside = inside or opens
        if inside:
            shown.update(range(number - 2 if opens else number, number + (3 if closes else 1)))
        inside = inside and not closes
    return "\n".join(f"    {lines[number]}" for number in sorted(shown) if 0 <= number < len(lines))


def worktrees(args: argparse.Namespace) -> int:
    if args.action == "clean":
        return _clean(args)
    if args.tasks or args.discard:
        raise CommandFailed("Tasks and --discard belong to `brain worktrees clean`.", EXIT_USAGE)
    with reading(data_dir(args)) as client:
        found = client.get("/api/brain/worktrees")
    if args.json:
        return print_json(found)
    style = style_for()
    for each in found["worktrees"]:
        files = f" ({plural(each['files'], 'file')})" if each["files"] else ""
        print(f"{style.bold(short(each['taskId']))}  {each['state']}{files}  {safe_line(each['task'] or '')[:60]}")
        print(style.dim(f"    {safe_line(each['path'])}, of {safe_line(each['workspace'])}"))
        if each["leftOut"]:
            print(style.dim(f"    without your uncommitted {safe_line(', '.join(each['leftOut']))}"))
    if not found["worktrees"]:
        print(style.dim("No task has a worktree. Start one: brain run --worktree TASK"))
    return 0


def _clean(args: argparse.Namespace) -> int:
    if args.discard and not args.tasks:
        raise CommandFailed("Name the tasks whose changes to discard: brain worktrees clean --discard ID", EXIT_USAGE)
    with reading(data_dir(args)) as client:
        known = [each["taskId"] for each in client.get("/api/brain/worktrees")["worktrees"]]
        named = [next((name for name in known if name.startswith(given)), given) for given in args.tasks]
        done = client.post("/api/brain/worktrees/clean", {"tasks": named, "discard": args.discard})
    if args.json:
        return print_json(done)
    for name in done["removed"]:
        print(f"Removed the worktree of {short(name)}.")
    for each in done["kept"]:
        print(f"Kept the worktree of {short(each['taskId'])}: {safe_line(each['why'])}")
    if not done["removed"] and not done["kept"]:
        print("There is no worktree to remove.")
    return 0 if not (args.tasks and done["kept"]) else 1
