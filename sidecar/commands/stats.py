"""`brain stats`: tokens and estimated cost by day, model or agent; `brain trace`: a task as OpenTelemetry spans."""

import argparse
import json
import os
import sys
from pathlib import Path

from sidecar.client.client import Json
from sidecar.client.sidecars import reading
from sidecar.commands.errors import EXIT_FAILED, EXIT_USAGE, CommandFailed
from sidecar.commands.parser import data_dir, task_id
from sidecar.commands.text import Style, clip, print_json, safe_line, style_for
from sidecar.config.paths import write_private

BY = ("day", "model", "agent")
_COUNTS = ("requests", "inputTokens", "outputTokens", "cachedTokens")


def stats(args: argparse.Namespace) -> int:
    with reading(data_dir(args)) as client:
        found: Json = client.get("/api/brain/stats", {"days": args.days})
    if args.json:
        return print_json(found)
    style = style_for()
    ended = ", ".join(f"{count:,} {style.status(status)}" for status, count in sorted(found["ended"].items()))
    print(f"Tasks that ended: {ended or 'none'}")
    if not found["spent"]:
        print("No requests to models are recorded.")
        return 0
    for name in (args.by,) if args.by else BY:
        print("\n" + "\n".join(format_spending(found["spent"], name, style)))
    if any(row["estimatedCostUsd"] is None for row in found["spent"]):
        print(style.dim("+: and models whose price is unknown; add it to prices.toml beside your config.toml."))
    print(style.dim("Costs are estimates by the price table, not your provider's bill."))
    return 0


def format_spending(rows: list[Json], name: str, style: Style) -> list[str]:
    """One line for each day, model or agent, and their sum."""
    sums: dict[str, Json] = {}
    for row in rows:
        _add(sums.setdefault(row[name], {}), row)
        _add(sums.setdefault("", {}), row)
    total = sums.pop("")
    heading = f"{name.upper():<32}{'REQUESTS':>10}{'INPUT':>14}{'OUTPUT':>12}{'CACHED':>12}{'EST. COST':>14}"
    listed = sorted(sums.items()) if name == "day" else sorted(sums.items(), key=lambda each: -each[1]["cost"])
    return [style.dim(heading), *(_line(key, used) for key, used in listed), style.bold(_line("all", total))]


def _add(total: Json, row: Json) -> None:
    for name in _COUNTS:
        total[name] = total.get(name, 0) + row[name]
    total["cost"] = total.get("cost", 0.0) + (row["estimatedCostUsd"] or 0.0)
    total["unpriced"] = total.get("unpriced", False) or row["estimatedCostUsd"] is None


def _line(name: str, used: Json) -> str:
    counts = f"{used['requests']:>10,}{used['inputTokens']:>14,}{used['outputTokens']:>12,}{used['cachedTokens']:>12,}"
    cost = f"${used['cost']:,.4f}{'+' if used['unpriced'] else ''}"
    return f"{clip(safe_line(name), 31):<32}{counts}{cost:>14}"


def trace(args: argparse.Namespace) -> int:
    from sidecar.telemetry.traces import task_trace

    with reading(data_dir(args)) as client:
        task = client.get(f"/api/brain/tasks/{task_id(client, args.id, anywhere=True)}")
        document = task_trace(task, client.events(task["id"]), content=args.content)
    if args.send is not None:
        return _send(document, args.send)
    text = json.dumps(document, ensure_ascii=False) + "\n"
    if args.output is None:
        sys.stdout.write(text)
        return 0
    try:
        write_private(Path(args.output).absolute(), text)
    except OSError as error:
        raise CommandFailed(f"Can't write {args.output}: {error.strerror}.", EXIT_FAILED) from error
    print(f"Wrote {args.output}.", file=sys.stderr)
    return 0


def _send(document: dict[str, object], address: str) -> int:
    from sidecar.telemetry.traces import ENDPOINT_VARIABLE, NotExported, export

    address = address or os.environ.get(ENDPOINT_VARIABLE, "")
    if not address:
        raise CommandFailed(f"Say where to: brain trace --send URL, or set {ENDPOINT_VARIABLE}.", EXIT_USAGE)
    try:
        export(document, address)
    except NotExported as error:
        raise CommandFailed(f"The trace was not sent: {error}", EXIT_FAILED) from error
    print("Sent the trace.", file=sys.stderr)
    return 0
