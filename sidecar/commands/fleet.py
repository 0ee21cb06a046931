"""`brain fleet` and `brain top`: see the workers on a database, drain, stop and scale them."""

import argparse
import json
import os
import time
from datetime import UTC, datetime
from typing import Any

from sidecar.client.sidecars import reading
from sidecar.commands.errors import EXIT_USAGE, CommandFailed
from sidecar.commands.parser import data_dir
from sidecar.commands.text import Style, clip, safe_line, short, style_for

Json = dict[str, Any]
_LOOK_SECONDS = 2.0
_TASKS = 20


def fleet(args: argparse.Namespace) -> int:
    if args.action == "scale":
        from sidecar.commands.scale import scale

        return scale(args)
    if args.action in ("drain", "kill"):
        return _order(args)
    with reading(data_dir(args)) as client:
        state = client.get("/api/brain/fleet")
    if args.json:
        shown = state if args.action == "status" else state[args.action]
        print(json.dumps(shown, ensure_ascii=False))
        return 0
    style = style_for()
    if args.action in ("status", "workers"):
        print("\n".join(_workers(state, style)))
    if args.action in ("status", "queue"):
        print("\n".join(_queue(state)))
    return 0


def _order(args: argparse.Namespace) -> int:
    if args.worker is None:
        raise CommandFailed(f"Say which worker: brain fleet {args.action} ID (see `brain fleet workers`)", EXIT_USAGE)
    order = "stop" if args.action == "kill" else "drain"
    with reading(data_dir(args)) as client:
        client.post("/api/brain/fleet/orders", {"worker": args.worker, "order": order})
    said = "finishes its tasks and exits" if order == "drain" else "exits; others continue its tasks"
    print(f"{args.worker} {said}, within seconds.")
    return 0


def top(args: argparse.Namespace) -> int:
    """Ctrl-C ends it."""
    style = style_for()
    with reading(data_dir(args)) as client:
        try:
            while True:
                state = client.get("/api/brain/fleet")
                running = client.get(f"/api/brain/tasks?status=running&limit={_TASKS}")["tasks"]
                lines = [*_workers(state, style), *_queue(state), "", *_tasks(running, style)]
                if args.once:
                    print("\n".join(lines))
                    return 0
                rows = os.get_terminal_size().lines if os.isatty(1) else 50
                # From the top, each line to its end, and nothing below: no flicker.
                print(
                    "\x1b[H" + "".join(f"{line}\x1b[K\n" for line in lines[: rows - 1]) + "\x1b[J", end="", flush=True
                )
                time.sleep(_LOOK_SECONDS)
        except KeyboardInterrupt:
            return 0


def _workers(state: Json, style: Style) -> list[str]:
    now = datetime.now(UTC)
    lines = [style.dim(f"  {'WORKER':<20} {'POOL':<14} {'HOST':<16} {'PID':>7} {'STATUS':<9} {'TASKS':>7} {'SEEN':>6}")]
    for each in state["workers"]:
        seen = (now - datetime.fromisoformat(each["lastSeen"])).total_seconds()
        mark = "*" if each["id"] == state["leader"] else " "
        status = style.red(f"{each['status']:<9}") if each["status"] == "dead" else f"{each['status']:<9}"
        tasks = f"{len(each['tasks'])}/{each['slots']}"
        names = f"{clip(safe_line(each['id']), 20):<20} {clip(safe_line(each['pool']), 14):<14}"
        host = f"{clip(safe_line(each['host']), 16):<16} {each['pid']:>7}"
        lines.append(f"{mark} {names} {host} {status} {tasks:>7} {max(seen, 0):>5.0f}s")
    return lines


def _queue(state: Json) -> list[str]:
    pools = ", ".join(f"{safe_line(pool)} {count}" for pool, count in sorted(state["queue"]["pools"].items()))
    return [f"{state['queue']['depth']} tasks wait{f' ({pools})' if pools else ''}; the leader is marked with *."]


def _tasks(running: list[Json], style: Style) -> list[str]:
    return [
        f"  {short(task['id']):<12} {style.cyan(clip(safe_line(task['title']), 50))} "
        f"{style.dim(clip(safe_line(task['progress']['message']), 50))}"
        for task in running
    ]
