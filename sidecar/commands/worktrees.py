"""`brain merge` and `brain worktrees`: what isolated tasks did, into your workspace or away."""

import argparse
import json

from sidecar.client.sidecars import reading
from sidecar.commands.errors import EXIT_USAGE, CommandFailed
from sidecar.commands.parser import data_dir, task_id
from sidecar.commands.text import print_json, safe, safe_line, short, style_for
from sidecar.wire.text import plural


def merge(args: argparse.Namespace) -> int:
    with reading(data_dir(args)) as client:
        task = task_id(client, args.id)
        done = client.post(f"/api/brain/tasks/{task}/merge", {"preview": args.preview, "markers": args.markers})
    if args.json:
        print(json.dumps(done, ensure_ascii=False))
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
    if done["merged"]:
        print(f"Merged {files} into your workspace. To take it back: brain undo {short(task)}")
    elif args.preview:
        print(f"A merge would change {files}.")
    else:
        print(f"Nothing was merged. To merge with conflict markers in the files: brain merge {short(task)} --markers")
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
