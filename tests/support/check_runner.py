"""A runner over a real executor, for checks that are tried out without a task around them."""

import asyncio
import itertools
from pathlib import Path

from sidecar.verify.change import FileVersions
from sidecar.wire.base import JsonObject
from tests.support.workbench import Workbench
from tools.executor.context import BatchContext, ToolCall
from tools.host import Host
from tools.ledger import Outcome

#: No two calls of a test have the same name: what is recorded is not run again.
_NUMBERS = itertools.count(1)


class WorkbenchCheckRunner:
    def __init__(self, bench: Workbench) -> None:
        self._bench = bench
        self.ran: list[str] = []
        self.arguments: list[JsonObject] = []

    async def run(
        self,
        name: str,
        tool: str,
        args: JsonObject,
        *,
        seconds: float | None = None,
        approved: bool = False,
        directory: str | None = None,
        directory_label: str = "",
    ) -> Outcome | None:
        self.ran.append(name)
        self.arguments.append(args)
        context = BatchContext(directory or str(self._bench.workspace), "auto", self._bench.ledger)
        try:
            async with asyncio.timeout(seconds):
                call = ToolCall(f"{name}{next(_NUMBERS)}", tool, args)
                return (await self._bench.executor.batch([call], context))[0]
        except TimeoutError:
            return None


def host(bench: Workbench) -> Host:
    return bench.backend.host(str(bench.workspace))


def changed(bench: Workbench, **contents: tuple[str | None, str | None]) -> list[FileVersions]:
    """Files before and now, those of now on the disk: `calc__py` is `calc.py`."""
    changes = []
    for name, (before, after) in contents.items():
        path = name.replace("__", ".").replace("_in_", "/")
        if after is not None:
            bench.write(path, after)
        changes.append(FileVersions(path, _bytes(before), _bytes(after)))
    return changes


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else text.encode()


def leftovers(mark: str) -> list[Path]:
    import tempfile

    return list(Path(tempfile.gettempdir()).glob(f"brain-copy-{mark}-*"))
