"""Runs every benchmark beside the raw operation underneath: `make bench`, or `python -m tests.benchmarks NAME…`."""

import asyncio
import sys
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path

from tests.benchmarks.result import Result, slowdown


def names(wanted: list[str]) -> list[str]:
    found = sorted(path.stem for path in Path(__file__).parent.glob("bench_*.py"))
    return [name for name in found if not wanted or name.removeprefix("bench_") in wanted]


def show(results: Iterable[Result], factor: float) -> None:
    for result in results:
        ratio = "" if result.ratio is None else f"{result.ratio:.2f}× {result.baseline}"
        verdict = "ok" if result.ok(factor) else "OVER"
        line = f"  {result.name:<52} {result.value:>9.3f} {result.unit:<6} {ratio:<44}"
        print(f"{line} limit {result.limit(factor):<22} {verdict}", flush=True)


def main() -> int:
    over = 0
    for name in names(sys.argv[1:]):
        before = slowdown()
        results = asyncio.run(import_module(f"tests.benchmarks.{name}").run())
        factor = (before + slowdown()) / 2
        print(f"{name.removeprefix('bench_')} (limits on time × {factor:.2f}, the slowdown of this machine now):")
        show(results, factor)
        over += sum(not result.ok(factor) for result in results)
    print(f"{over} over their limit" if over else "all within their limits")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
