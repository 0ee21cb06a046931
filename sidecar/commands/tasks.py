"""`brain tasks` and `brain show`: read tasks without starting any."""

import argparse
import json
import sys
from datetime import UTC, datetime
from pathlib import Path, PurePath

from sidecar.client.client import Json
from sidecar.client.follow import ENDED
from sidecar.client.sidecars import reading
from sidecar.commands.output import PlainScreen, open_output
from sidecar.commands.parser import data_dir, directories, task_id
from sidecar.commands.render import TaskRenderer
from sidecar.commands.text import Style, clip, print_json, safe_line, short, style_for, terminal_columns
from sidecar.commands.watch import Watch

_PAGE = 200


def list_tasks(args: argparse.Namespace) -> int:
    with reading(data_dir(args)) as client:
        found: list[Json] = []
        before: str | None = None
        while len(found) < args.limit:
            query = {"status": args.status, "limit": min(args.limit - len(found), _PAGE), "before": before}
            query |= {"workspace": directories(Path.cwd())} if args.here else {}
            # A search finds what you archived, too.
            query |= {"q": args.search, "archived": "true"} if args.search else {}
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
            "No matching tasks."
            if args.status or args.here or args.search
            else 'No tasks yet. Start one: brain run "list the files"'
        )
        return 0
    columns = terminal_columns()
    print("\n".join(format_table(found, style_for(), columns, datetime.now(UTC), str(Path.cwd()))))
    if before is not None:
        print(style_for().dim(f"Show more: brain tasks --limit {args.limit * 5}"))
    return 0


def show(args: argparse.Namespace) -> int:
    directory = data_dir(args)
    with reading(directory) as client:
        task = client.get(f"/api/brain/tasks/{task_id(client, args.id, anywhere=True)}")
        # A task that no sidecar works on sends no new events.
        if args.follow and (client.runs_tasks or task["status"] in ENDED):
            return Watch(task["id"], directory, open_output("events" if args.json else None), None, cancels=False).run(
                client
            )
        if args.json and not args.follow:
            return print_json(task)
        events = list(client.events(task["id"]))
    if args.json:
        print("".join(json.dumps(event, ensure_ascii=False) + "\n" for event in events), end="")
        return 0
    style, screen = style_for(), PlainScreen(sys.stdout)
    renderer = TaskRenderer(style)
    place = f"  in {safe_line(task['workspace'])}, conversation {safe_line(task['conversationId'])}"
    screen.print([f"{style.bold(task['id'])}  {style.status(task['status'])}", style.dim(place), ""])
    for event in events:
        screen.print(renderer.render(event))
    if task["status"] not in ENDED:
        screen.print(["", _next_step(task, style, runs_tasks=client.runs_tasks)])
    return 0


def _next_step(task: Json, style: Style, *, runs_tasks: bool) -> str:
    name = short(task["id"])
    if not runs_tasks:
        return f"No sidecar is running. Resume it: {style.bold(f'brain resume --follow {name}')}"
    return f"Still {style.status(task['status'])}. Watch it: {style.bold(f'brain show --follow {name}')}"


def format_table(tasks: list[Json], style: Style, columns: int, now: datetime, here: str = "") -> list[str]:
    """Tasks of another directory than `here` show their directory's name."""
    lines = [style.dim(f"{'ID':<12}{'STATUS':<13}{'WHEN':<10}TASK")]
    for task in tasks:
        status = style.status(task["status"], f"{task['status']:<13}")
        verified = {True: style.green(" ✓ verified"), False: style.red(" ✗ check failed")}.get(task["verified"], "")
        elsewhere = here and task["workspace"] != here
        place = f" in {clip(safe_line(PurePath(task['workspace']).name or '/'), 20)}" if elsewhere else ""
        room = columns - 36 - (18 if verified else 0) - len(place)
        text = clip(safe_line(task["title"]), max(room, 20))
        described = f"{text}{style.dim(place) if place else ''}{verified}"
        lines.append(f"{short(task['id']):<12}{status}{format_age(task['createdAt'], now):<10}{described}")
    return lines


def format_age(at: str, now: datetime) -> str:
    try:
        seconds = max((now - datetime.fromisoformat(at)).total_seconds(), 0)
    except ValueError:
        return "?"
    for length, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= length:
            return f"{seconds // length:.0f} {unit}"
    return f"{seconds:.0f} s"
