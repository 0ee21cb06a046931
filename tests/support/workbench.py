"""A workspace, an executor in front of it, and short words for calling it."""

import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from sidecar.cache import Caches
from sidecar.cache.watcher import Watcher
from sidecar.wire.events import Event, ToolEvent
from sidecar.wire.tasks import Approvals
from tools.executor.context import BatchContext, ToolCall
from tools.executor.executor import Executor
from tools.executor.registry import Registry, default_registry
from tools.ledger import ListLedger, Outcome
from tools.local.backend import LocalBackend
from tools.local.sandbox.probe import Sandboxes
from tools.policy.policy import Policy


class Workbench:
    def __init__(
        self,
        root: Path,
        *,
        approvals: Approvals = "auto",
        caches: bool = False,
        task_text: str = "",
        attributes: bool = True,
        sandboxes: Sandboxes | None = None,
    ) -> None:
        self.workspace = root / "workspace"
        self.workspace.mkdir(parents=True, exist_ok=True)
        self.data_dir = root / "data"
        self.registry: Registry = default_registry()
        self.backend = LocalBackend(self.registry, self.data_dir, sandboxes=sandboxes, attributes=attributes)
        self.caches = Caches(Watcher(delay=0)) if caches else None
        self.executor = Executor(self.registry, [self.backend], Policy(), self.caches)
        self.ledger = ListLedger()
        self.context = BatchContext(str(self.workspace), approvals, self.ledger, task_text)
        self._ids = (f"c{number}" for number in itertools.count(1))

    async def call(self, tool: str, call_id: str | None = None, **args: Any) -> Outcome:
        (outcome,) = await self.executor.batch([ToolCall(call_id or next(self._ids), tool, args)], self.context)
        return outcome

    async def batch(self, *calls: tuple[str, dict[str, Any]], **options: Any) -> list[Outcome]:
        numbered = [ToolCall(next(self._ids), tool, args) for tool, args in calls]
        return await self.executor.batch(numbered, self.context, **options)

    def write(self, path: str, content: str | bytes) -> Path:
        place = self.workspace / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content.encode() if isinstance(content, str) else content)
        return place

    def read(self, path: str) -> bytes:
        return (self.workspace / path).read_bytes()

    def events(self, call_id: str) -> list[str]:
        return [
            event.status for event in self.ledger.events if isinstance(event, ToolEvent) and event.call_id == call_id
        ]

    def live(self) -> list[Event]:
        return [event for event in self.ledger.events if not isinstance(event, ToolEvent)]


@asynccontextmanager
async def workbench(root: Path, **options: Any) -> AsyncIterator[Workbench]:
    bench = Workbench(root, **options)
    try:
        yield bench
    finally:
        await bench.executor.close()
