"""Every benchmark, each against the raw operation underneath, in one run: `make bench`."""

import asyncio
import sys
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path

from tests.benchmarks.result import Result


def names(wanted: list[str]) -> list[str]:
    found = sorted(path.stem for path in Path(__file__).parent.glob("bench_*.py"))
    return [name for name in found if not wanted or name.removeprefix("bench_") in wanted]


def shown(results: Iterable[Result]) -> None:
    for result in results:
        ratio = "" if result.ratio is None else f"{result.ratio:.2f}× {result.baseline}"
        mark = "ok" if result.ok else "OVER"
        print(f"  {result.name:<52} {result.value:>9.3f} {result.unit:<6} {ratio:<44} limit {result.limit:<28} {mark}")


def main() -> int:
    over = 0
    for name in names(sys.argv[1:]):
        print(f"{name.removeprefix('bench_')}:", flush=True)
        results = asyncio.run(import_module(f"tests.benchmarks.{name}").run())
        shown(results)
        over += sum(not result.ok for result in results)
    print(f"{over} over their limit" if over else "all within their limits")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
