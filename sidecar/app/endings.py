"""What follows a task's run: a schedule may go on, a title, a trace, your hooks, a sandbox that is free again."""

import asyncio
import json
import logging
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sidecar.config.settings import Settings
from sidecar.engine.places import is_remote
from sidecar.journal.port import Journal
from sidecar.wire.tasks import ENDED, StoredRequest
from sidecar.work.titles import Titles
from tools.executor.hooks import Hooks

if TYPE_CHECKING:
    from tools.sandboxes.host import SandboxedBackend

log = logging.getLogger(__name__)


class Endings:
    def __init__(
        self,
        settings: Settings,
        journal: Journal,
        titles: Titles,
        hooks: Hooks,
        sandboxed: "SandboxedBackend | None",
        workspace: Path,
        schedules_ended: Callable[[], None],
        keep: Callable[[Coroutine[Any, Any, None]], None],
    ) -> None:
        self._settings = settings
        self._journal = journal
        self._titles = titles
        self._hooks = hooks
        self._sandboxed = sandboxed
        self._workspace = workspace
        self._schedules_ended = schedules_ended
        self._keep = keep

    def take(self, task_id: str, request: StoredRequest) -> None:
        """A run ended."""
        self._schedules_ended()
        if self._sandboxed is not None:
            self._keep(self._release_sandbox(task_id, self._sandboxed))
        if self._settings.titles == "model":
            self._titles.take(task_id, request)
        if self._settings.trace_endpoint:
            self._keep(self._export_trace(task_id))
        if self._hooks.wants_ends():
            self._keep(self._call_hooks(task_id))

    async def _call_hooks(self, task_id: str) -> None:
        task = await self._journal.task(task_id)
        if task.status in ENDED:
            names = {"id", "status", "task", "workspace", "result", "error", "verified"}
            told = task.model_dump(mode="json", by_alias=True, include=names)
            # A task on a remote has no directory any more.
            place = str(self._workspace) if is_remote(task) else task.workspace
            await self._hooks.task_ended({"taskId": told.pop("id"), **told}, place)

    async def _release_sandbox(self, task_id: str, sandboxed: "SandboxedBackend") -> None:
        """Of a cancelled task nothing runs on; the next task of another may use its sandbox."""
        task = await self._journal.task(task_id)
        if task.status == "cancelled" and task.workspace:
            await sandboxed.pool.release(task.workspace)

    async def _export_trace(self, task_id: str) -> None:
        from sidecar.telemetry.traces import NotExported, TaskSpans, export

        task, after = await self._journal.task(task_id), 0
        spans = TaskSpans(task.model_dump(mode="json", by_alias=True, exclude={"task", "result"}))
        while (page := await self._journal.events(task_id, after)).events:
            for event in page.events:
                spans.fold(json.loads(event.data))
            after = page.events[-1].seq or 0
        try:
            await asyncio.to_thread(export, spans.to_json(), self._settings.trace_endpoint)
        except NotExported as error:
            log.warning("The trace of task %s was not sent; `brain trace %s` writes it: %s", task_id, task_id, error)
