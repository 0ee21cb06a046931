"""`brain schedules`: what starts by itself, when, and what it has used."""

import argparse
from datetime import datetime

from sidecar.client.client import Json
from sidecar.client.sidecars import reading
from sidecar.commands.parser import data_dir
from sidecar.commands.text import Style, print_json, safe_line, short, style_for
from sidecar.wire.text import plural


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
