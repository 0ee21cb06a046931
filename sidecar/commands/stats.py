"""`brain stats`: tokens and estimated cost by day, model or agent."""

import argparse
import json

from sidecar.client.client import Json
from sidecar.client.sidecars import reading
from sidecar.commands.parser import data_dir
from sidecar.commands.text import Style, clip, safe_line, style_for

BY = ("day", "model", "agent")
_COUNTS = ("requests", "inputTokens", "outputTokens", "cachedTokens")


def stats(args: argparse.Namespace) -> int:
    with reading(data_dir(args)) as client:
        found: Json = client.get("/api/brain/stats", {"days": args.days})
    if args.json:
        print(json.dumps(found, ensure_ascii=False))
        return 0
    style = style_for()
    ended = ", ".join(f"{count:,} {style.status(status)}" for status, count in sorted(found["ended"].items()))
    print(f"Tasks that ended: {ended or 'none'}")
    if not found["spent"]:
        print("No model was paid for: no request to one is recorded.")
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
