"""Options that several commands share, and the names of tasks."""

import argparse
import os
import re
from pathlib import Path

from sidecar.commands.client import Client, Json
from sidecar.commands.endings import short
from sidecar.commands.errors import CommandFailed
from sidecar.config.paths import default_data_dir

FULL_ID = re.compile(r"t_[0-9a-f]{20}")
PAGE = 200


def add_data_dir(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--data-dir", type=Path, metavar="DIR", help="where tasks are kept (default: $BRAIN_DATA_DIR, else your own)"
    )


def data_dir(args: argparse.Namespace) -> Path:
    named: Path | None = args.data_dir
    return (named or default_data_dir(os.environ)).absolute()


def add_workspace(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--workspace", type=Path, default=Path(), metavar="DIR", help="the directory to work in (default: this one)"
    )


def workspace(args: argparse.Namespace) -> Path:
    path: Path = args.workspace.absolute()
    if not path.is_dir():
        raise CommandFailed(f"There is no directory {path} to work in.", 2)
    return path


def positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a number from 1")
    return number


def add_task_id(parser: argparse.ArgumentParser, *, optional: bool = False) -> None:
    parser.add_argument(
        "id", metavar="ID", nargs="?" if optional else None, help="the task's id, or enough of its beginning"
    )


def task_id(client: Client, given: str | None) -> str:
    """The one task whose id begins like this; the newest if none is given."""
    wanted = given or ""
    if wanted and not wanted.startswith("t_"):
        wanted = f"t_{wanted}"
    if FULL_ID.fullmatch(wanted):
        return wanted
    found: list[Json] = []
    before: str | None = None
    while True:
        page = client.get("/api/brain/tasks", {"limit": PAGE if given else 1, "before": before})
        found += [task for task in page["tasks"] if task["id"].startswith(wanted)]
        before = page["nextBefore"]
        if before is None or not given:
            break
    if not found:
        none = f"There is no task {given}." if given else "There is no task yet."
        raise CommandFailed(f'{none} `brain tasks` lists them; brain run "…" starts one.')
    if len(found) > 1 and given:
        named = ", ".join(f"{task['id'][: max(len(wanted) + 4, 10)]} ({task['task'][:30]!r})" for task in found[:5])
        raise CommandFailed(f"{given} is the beginning of {len(found)} ids: {named}. Give more of it.", 2)
    name: str = found[0]["id"]
    return name


__all__ = ["add_data_dir", "add_task_id", "add_workspace", "data_dir", "positive", "short", "task_id", "workspace"]
