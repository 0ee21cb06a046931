"""Schedules as you write them: Markdown files in `schedules/` of your configuration directory, beside your agents.

    ---
    every: 4h                        or  cron: 0 9 * * 1-5   or  stale: 12h
    workspace: /home/me/project
    agent: security
    pool: exploration
    budget: 0.50
    ---
    Look for dependencies with known holes, and report them.

`pools.toml` beside that folder sets limits of pools: `[exploration]` with `atOnce` and `budget`.
A repository has no schedules: it could start work on your machine, and spend your money.
"""

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal, get_args

from sidecar.config.paths import open_regular
from sidecar.fleet.schedules.cron import parse_cron
from sidecar.work.customizations import parse_front_matter

FOLDER, POOLS_FILE = "schedules", "pools.toml"
Kind = Literal["every", "cron", "stale"]
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,40}")
_DURATION = re.compile(r"(\d{1,5})\s*(m|h|d|w)")
_UNITS = {"m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_APPROVALS = ("auto", "readonly")
_KEYS = frozenset((*get_args(Kind), "workspace", "agent", "pool", "approvals", "budget", "maxcost", "maxperday"))
_MAX_FILES = 100
_MAX_BYTES = 64 * 1024
_SHORTEST = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Pool:
    """Activations of one pool at the same time, and dollars that they may spend in a day."""

    at_once: int
    budget: float | None = None


#: What reacts to something is short and may crowd; what looks around by itself must not.
POOLS: Mapping[str, Pool] = {"notification": Pool(4), "exploration": Pool(1), "hybrid": Pool(2)}


@dataclass(frozen=True, slots=True)
class Schedule:
    name: str
    text: str
    kind: Kind
    #: The cron expression, or the interval as you wrote it.
    when: str
    workspace: str
    interval: timedelta = timedelta()
    agent: str | None = None
    pool: str = "hybrid"
    approvals: Literal["auto", "readonly"] = "auto"
    #: Dollars in a day, dollars in one activation, and activations in a day.
    budget: float | None = None
    max_cost: float | None = None
    max_per_day: int | None = None
    #: When you wrote it, as Unix time: it makes up for nothing before.
    since: float = 0.0
    #: The whole file.
    source: str = ""

    @property
    def conversation(self) -> str:
        """Marks its activations in the store."""
        return f"schedule.{self.name}"


@dataclass(frozen=True, slots=True)
class Schedules:
    schedules: list[Schedule] = field(default_factory=list)
    pools: Mapping[str, Pool] = field(default_factory=lambda: POOLS)
    problems: list[str] = field(default_factory=list)
    #: The whole file of pools, if it can be used.
    pools_source: str = ""


def load_schedules(configuration: Path) -> Schedules:
    """All that can be used; the others are in `problems`."""
    problems: list[str] = []
    found: list[Schedule] = []
    for file in _files(configuration / FOLDER):
        try:
            text, since = _read(file)
            found.append(parse_schedule(file.stem, text, since))
        except (OSError, ValueError) as error:
            problems.append(_shown(f"{file} is not used: {error}"))
    pools, source = POOLS, ""
    try:
        source = _read(configuration / POOLS_FILE)[0]
        pools = parse_pools(source)
    except FileNotFoundError:
        pass
    except (OSError, ValueError) as error:
        source = ""
        problems.append(_shown(f"{configuration / POOLS_FILE} is not used: {error}"))
    return Schedules(found, pools, problems, source)


def _shown(problem: str) -> str:
    """A file's name may be no text."""
    return problem.replace("\0", "\ufffd").encode(errors="replace").decode()


def stamp(configuration: Path) -> object:
    """Differs when a file has changed."""
    found = []
    for file in (configuration / POOLS_FILE, *_files(configuration / FOLDER)):
        with suppress(OSError):
            status = file.lstat()
            found.append((file.name, status.st_ino, status.st_mtime_ns, status.st_size))
    return found


def parse_schedule(name: str, text: str, since: float = 0.0) -> Schedule:
    front, body = parse_front_matter(text)
    if not _NAME.fullmatch(name):
        raise ValueError("a name has lowercase letters, digits, - and _, and starts with a letter")
    if unknown := [key for key in front if key not in _KEYS]:
        raise ValueError(f"unknown key {unknown[0]!r}; known keys: {', '.join(sorted(_KEYS))}")
    kinds = [kind for kind in get_args(Kind) if kind in front]
    if len(kinds) != 1:
        raise ValueError("it needs exactly one of `every`, `cron` and `stale`")
    if not body:
        raise ValueError("it is empty: the task belongs below the front matter")
    workspace, approvals = front.get("workspace", ""), front.get("approvals", "auto")
    if not Path(workspace).is_absolute() or "\0" in workspace:
        raise ValueError("workspace must be an absolute path")
    if approvals not in _APPROVALS:
        raise ValueError(f"approvals must be auto or readonly, not {approvals!r}: no one is there to answer")
    if (pool := front.get("pool", "hybrid")) not in POOLS:
        raise ValueError(f"pool must be one of {', '.join(POOLS)}, not {pool!r}")
    per_day = _number(front, "maxperday", 1)
    kind: Kind = kinds[0]
    if kind == "cron":
        parse_cron(front[kind])
    return Schedule(
        name=name,
        text=body,
        kind=kind,
        when=front[kind],
        workspace=workspace,
        interval=timedelta() if kind == "cron" else parse_duration(front[kind]),
        agent=front.get("agent"),
        pool=pool,
        approvals="readonly" if approvals == "readonly" else "auto",
        budget=_number(front, "budget"),
        max_cost=_number(front, "maxcost"),
        max_per_day=None if per_day is None else int(per_day),
        since=since,
        source=text,
    )


def parse_duration(text: str) -> timedelta:
    found = _DURATION.fullmatch(text.strip())
    interval = timedelta(seconds=int(found[1]) * _UNITS[found[2]]) if found else timedelta()
    if interval < _SHORTEST:
        raise ValueError(f"{text!r} is no time such as 30m, 4h, 1d or 2w")
    return interval


def parse_pools(text: str) -> Mapping[str, Pool]:
    import tomllib

    pools = dict(POOLS)
    for name, given in tomllib.loads(text).items():
        if name not in POOLS or not isinstance(given, dict) or not given.keys() <= {"atOnce", "budget"}:
            raise ValueError(f"{name} must be one of {', '.join(POOLS)}, with `atOnce` and `budget`")
        at_once, budget = given.get("atOnce", POOLS[name].at_once), given.get("budget")
        if not isinstance(at_once, int) or not 1 <= at_once <= 100:
            raise ValueError(f"atOnce of {name} must be a number from 1 to 100")
        if budget is not None and (not isinstance(budget, int | float) or budget < 0):
            raise ValueError(f"budget of {name} must be a number of dollars")
        pools[name] = Pool(at_once, None if budget is None else float(budget))
    return pools


def _number(front: Mapping[str, str], key: str, least: float = 0.0) -> float | None:
    if key not in front:
        return None
    try:
        number = float(front[key])
    except ValueError:
        number = -1.0
    if not least <= number <= 1_000_000:
        raise ValueError(f"{key} must be a number from {least:g}")
    return number


def _files(folder: Path) -> Iterator[Path]:
    try:
        found = sorted(file for file in folder.iterdir() if file.suffix == ".md")[:_MAX_FILES]
    except OSError:
        return
    yield from found


def _read(file: Path) -> tuple[str, float]:
    """Its text and when it was written. Links may lead anywhere, so they don't count."""
    with os.fdopen(open_regular(file, follow=False), encoding="utf-8") as stream:
        text = stream.read(_MAX_BYTES + 1)
        if len(text) > _MAX_BYTES:
            raise ValueError(f"it is larger than {_MAX_BYTES:,} characters")
        return text, os.fstat(stream.fileno()).st_mtime


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def last_slot(schedule: Schedule, now: datetime, active: datetime | None) -> datetime | None:
    """The newest moment up to `now` at which it was due; those before that are never made up for.

    `active` is when anything was last done in its workspace, which only `stale` asks about. Intervals count from
    midnight UTC, so that all processes agree on them; cron expressions are in local time.
    """
    if schedule.kind == "stale":
        slot = _stale_since(schedule, active)
        return slot if slot <= now else None
    if schedule.kind == "every":
        slot = now - (now - _EPOCH) % schedule.interval
    else:
        slot = parse_cron(schedule.when).last(_local(now)).astimezone(UTC)
    return slot if slot.timestamp() > schedule.since else None


def next_slot(schedule: Schedule, now: datetime, active: datetime | None) -> datetime:
    """The first moment after `now` at which it will be due."""
    if schedule.kind == "stale":
        return max(_stale_since(schedule, active), now)
    if schedule.kind == "every":
        return now - (now - _EPOCH) % schedule.interval + schedule.interval
    return parse_cron(schedule.when).next(_local(now)).astimezone(UTC)


def _local(moment: datetime) -> datetime:
    return moment.astimezone().replace(tzinfo=None)


def _stale_since(schedule: Schedule, active: datetime | None) -> datetime:
    return (active or datetime.fromtimestamp(schedule.since, UTC)) + schedule.interval
