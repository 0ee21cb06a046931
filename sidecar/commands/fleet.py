"""Workers on a database (`brain worker`, `fleet`, `top`), `brain journal copy` to it, and `brain schedules`."""

import argparse
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from sidecar.client.client import Client, Json
from sidecar.client.errors import ClientError
from sidecar.client.sidecars import PROGRAM, reading
from sidecar.commands.errors import EXIT_USAGE, CommandFailed
from sidecar.commands.parser import data_dir, workspace
from sidecar.commands.serve import ready_line, stop_on_signals, stop_with_parent
from sidecar.commands.text import Style, clip, print_json, safe_line, short, style_for
from sidecar.wire.text import plural

if TYPE_CHECKING:
    from sidecar.config.settings import Settings

_LOOK_SECONDS = 2.0
_TASKS = 20

_NO_DATABASE = (
    "A worker runs tasks that several sidecars share on PostgreSQL. Set BRAIN_DATABASE_URL=postgresql://… for it and "
    "for `brain serve`. Without a database, `brain serve` runs its tasks itself."
)
#: Start another worker while more tasks than this wait.
WAITING = 10
_STOP_SECONDS = 10.0


def fleet(args: argparse.Namespace) -> int:
    if args.action == "scale":
        return scale(args)
    if args.action in ("drain", "kill"):
        return _order(args)
    with reading(data_dir(args)) as client:
        state = client.get("/api/brain/fleet")
    if args.json:
        shown = state if args.action == "status" else state[args.action]
        return print_json(shown)
    style = style_for()
    if args.action in ("status", "workers"):
        print("\n".join(_workers(state, style)))
    if args.action in ("status", "queue"):
        print("\n".join(_queue(state)))
    return 0


def _order(args: argparse.Namespace) -> int:
    if args.worker is None:
        raise CommandFailed(f"Name the worker: brain fleet {args.action} ID (see `brain fleet workers`)", EXIT_USAGE)
    order = "stop" if args.action == "kill" else "drain"
    with reading(data_dir(args)) as client:
        client.post("/api/brain/fleet/orders", {"worker": args.worker, "order": order})
    said = "finishes its tasks and exits" if order == "drain" else "exits, and others continue its tasks"
    print(f"{args.worker} stops claiming tasks within 5 s; then it {said}.")
    return 0


def top(args: argparse.Namespace) -> int:
    """Ctrl-C ends it; without a terminal it shows the state once."""
    style = style_for()
    with reading(data_dir(args)) as client:
        try:
            while True:
                state = client.get("/api/brain/fleet")
                running = client.get(f"/api/brain/tasks?status=running&limit={_TASKS}")["tasks"]
                lines = [*_workers(state, style), *_queue(state), "", *_tasks(running, style)]
                if args.once or not sys.stdout.isatty():
                    print("\n".join(lines))
                    return 0
                rows = os.get_terminal_size().lines
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
    from sidecar.fleet.state import ANY_POOL

    pools = ", ".join(f"{safe_line(pool)} {count}" for pool, count in sorted(state["queue"]["pools"].items()))
    depth = state["queue"]["depth"]
    waiting = f"{plural(depth, 'task')} queued{f' ({pools})' if pools else ''}" if depth else "No task is queued"
    lines = [f"{waiting}; the leader is marked with *."]
    served = {each["pool"] for each in state["workers"] if each["status"] == "running"}
    if lost := [] if ANY_POOL in served else sorted(state["queue"]["pools"].keys() - served):
        named = ", ".join(map(safe_line, lost))
        lines.append(f"No worker runs the tasks of {named}. Start one: brain worker --pool {safe_line(lost[0])}")
    return lines


def _tasks(running: list[Json], style: Style) -> list[str]:
    return [
        f"  {short(task['id']):<12} {style.cyan(clip(safe_line(task['title']), 50))} "
        f"{style.dim(clip(safe_line(task['progress']['message']), 50))}"
        for task in running
    ]


def worker(args: argparse.Namespace) -> int:
    """Run tasks of a shared database until a signal stops it."""
    import asyncio

    return asyncio.run(_run(args, workspace(args), _settings()))


def _settings() -> "Settings":
    """With a database."""
    from sidecar.config.settings import load

    settings = load()
    if not settings.database_url:
        raise CommandFailed(_NO_DATABASE, EXIT_USAGE)
    return settings


async def _run(args: argparse.Namespace, place: Path, settings: "Settings") -> int:
    import asyncio

    from sidecar.app.launch import Launch
    from sidecar.app.sidecar import Sidecar
    from sidecar.telemetry import logs

    logs.configure()
    alive_file = None if args.alive_file is None else Path(args.alive_file)
    launch = Launch(place, data_dir(args), serves=False, pool=args.pool, slots=args.slots, alive_file=alive_file)
    sidecar = Sidecar(launch, settings)
    stop_on_signals(sidecar.stop)
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGUSR1, sidecar.drain)
    if args.die_with_parent:
        stop_with_parent(loop, sidecar.stop)
    await sidecar.start_worker(ready_line())
    await sidecar.run_until_stopped()
    return 0


class Scaler:
    """Decides without acting: `wanted` is how many workers there should be."""

    def __init__(self, least: int, most: int, idle_seconds: float) -> None:
        self._least = least
        self._most = most
        #: One worker less after so long with nothing to do.
        self._idle_seconds = idle_seconds
        self._idle_since: float | None = None

    def wanted(self, workers: int, waiting: int, running: int, now: float) -> int:
        if waiting or running:
            self._idle_since = None
        elif self._idle_since is None:
            self._idle_since = now
        if waiting > WAITING:
            return min(workers + 1, self._most)
        if self._idle_since is not None and now - self._idle_since > self._idle_seconds:
            self._idle_since = now
            return max(workers - 1, self._least)
        return max(workers, self._least)


def scale(args: argparse.Namespace) -> int:
    """Workers on this machine: more while tasks wait, fewer when they are idle."""
    _settings()
    scaler, workers = Scaler(args.least, args.most, args.idle), list[subprocess.Popen[bytes]]()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        while True:
            try:
                with reading(data_dir(args)) as client:
                    _keep_scaled(args, scaler, workers, client)
            except ClientError as error:
                # Workers outlive the sidecar that answered, and wait for the database by themselves.
                print(f"The workers go on, and their number stays as it is: {error}", file=sys.stderr, flush=True)
            time.sleep(_LOOK_SECONDS)
    except KeyboardInterrupt:
        return 0
    finally:
        for worker in workers:
            worker.terminate()
        for worker in workers:
            with suppress(subprocess.TimeoutExpired):
                worker.wait(_STOP_SECONDS)


def _keep_scaled(
    args: argparse.Namespace, scaler: Scaler, workers: list[subprocess.Popen[bytes]], client: Client
) -> NoReturn:
    while True:
        state = client.get("/api/brain/fleet")
        workers[:] = [worker for worker in workers if worker.poll() is None]
        wanted = _wanted(scaler, state, args.pool, len(workers))
        for _ in range(wanted - len(workers)):
            workers.append(_start(args))
        for worker in workers[wanted:]:
            worker.send_signal(signal.SIGUSR1)  # it finishes its tasks first
        time.sleep(_LOOK_SECONDS)


def _wanted(scaler: Scaler, state: dict[str, Any], pool: str, workers: int) -> int:
    from sidecar.fleet.state import ANY_POOL

    waiting = state["queue"]["depth"] if pool == ANY_POOL else state["queue"]["pools"].get(pool, 0)
    running = sum(len(each["tasks"]) for each in state["workers"] if each["pool"] == pool)
    return scaler.wanted(workers, waiting, running, time.monotonic())


def _start(args: argparse.Namespace) -> subprocess.Popen[bytes]:
    command = [*PROGRAM, "worker", "--pool", args.pool, "--data-dir", str(data_dir(args))]
    print(f"Started a worker for the pool {args.pool}.", flush=True)
    # We started it, so we read its ready line.
    return subprocess.Popen([*command, "--die-with-parent"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)


def journal(args: argparse.Namespace) -> int:
    import asyncio

    from sidecar.config.data_dir import AlreadyRunning, DataDir
    from sidecar.journal.postgres.copy import copy_journal
    from sidecar.memory.notes import Notes
    from sidecar.memory.shared_notes import SharedNotes

    url = args.to or os.environ.get("BRAIN_DATABASE_URL", "")
    if not url:
        problem = "Say where to: brain journal copy --to postgresql://…, or set BRAIN_DATABASE_URL."
        raise CommandFailed(problem, EXIT_USAGE)
    data = DataDir(data_dir(args))
    if not data.journal.exists():
        raise CommandFailed(f"There is no journal in {data.path}. Nothing was changed.", EXIT_USAGE)
    try:
        data.lock()
        copied = asyncio.run(copy_journal(data.journal, url))
        notes, known = SharedNotes(url).copy(Notes(data.path))
    except AlreadyRunning as error:
        raise CommandFailed(f"Stop the sidecar first (`brain stop`): {error}", EXIT_USAGE) from error
    print(f"Copied {plural(copied.copied, 'task')}; {copied.present} there already.")
    print(f"Copied {plural(notes, 'note')}; {known} there already.")
    for name in copied.source:
        print(f"{name:<8} {copied.source[name]:>9} in the file {copied.target[name]:>9} in the database")
    if copied.different:
        print(f"Left alone, because they differ in the database: {', '.join(copied.different[:20])}", file=sys.stderr)
    return 0 if not copied.different else 1


def schedules(args: argparse.Namespace) -> int:
    with reading(data_dir(args)) as client:
        found = client.get("/api/brain/schedules")
    if args.json:
        return print_json(found)
    style = style_for()
    for each in found["schedules"]:
        print("\n".join(_lines(style, each)))
    for pool in found["pools"]:
        if any(each["pool"] == pool["name"] for each in found["schedules"]):
            budget = _money(pool["spentUsd"], pool.get("budgetUsd"))
            print(style.dim(f"pool {pool['name']}: {pool['running']} of {pool['atOnce']} running, {budget}"))
    for problem in found["problems"]:
        print(style.yellow(safe_line(problem)))
    if not found["schedules"] and not found["problems"]:
        print(style.dim("There are no schedules. Write one in `schedules/` of your configuration directory."))
    elif not found["active"]:
        print(style.yellow("No sidecar runs them now. Start one that stays: brain serve, or brain service install."))
    return 0


def _lines(style: Style, each: Json) -> list[str]:
    who = f", {each['agent']}" if each.get("agent") else ""
    lines = [f"{style.bold(each['name'])}  {safe_line(each['when'])}{safe_line(who)}, pool {each['pool']}"]
    when = _local(each["next"])
    waits = f"; {safe_line(each['waits'])}" if each.get("waits") else ""
    lines.append(f"    next {when}{waits}")
    if each.get("lastTask"):
        lines.append(style.dim(f"    last {_local(each['lastAt'])}: {short(each['lastTask'])}, {each['lastStatus']}"))
    spent = _money(each["spentUsd"], each.get("budgetUsd"))
    lines.append(style.dim(f"    today {plural(each['today'], 'run')}, {spent}; in {safe_line(each['workspace'])}"))
    return lines


def _local(moment: str) -> str:
    return f"{datetime.fromisoformat(moment).astimezone():%Y-%m-%d %H:%M}"


def _money(spent: float, budget: float | None) -> str:
    return f"${spent:.2f}" + (f" of ${budget:g}" if budget is not None else "")
