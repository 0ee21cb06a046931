"""Files of schedules, and an engine that keeps their tasks and ends them on request."""

import os
import secrets
from collections.abc import Sequence
from pathlib import Path

from sidecar.engine.operations import Execute, Operation
from sidecar.journal.port import Journal, NewTask
from sidecar.wire.events import Event, StatusEvent, UsageEvent
from sidecar.wire.tasks import Status, StoredRequest
from tests.support.scratch_journal import ScratchJournal


def write(folder: Path, name: str, front: str, text: str = "Look around.") -> None:
    (folder / "schedules").mkdir(exist_ok=True)
    file = folder / "schedules" / f"{name}.md"
    file.write_text(f"---\nworkspace: {folder}\n{front}\n---\n{text}\n")
    os.utime(file, (0, 0))


class Engine:
    """Creates tasks in the journal, and ends them on request."""

    def __init__(self, journal: Journal | None = None) -> None:
        self.journal = journal or ScratchJournal()
        self.submitted: list[Execute] = []

    async def submit(self, operation: Operation) -> str:
        assert isinstance(operation, Execute)
        self.submitted.append(operation)
        request = operation.request
        stored = StoredRequest(
            task=request.task,
            workspace=request.context.workspace or "",
            conversation_id=operation.conversation or "",
            context=request.context,
            options=request.options,
        )
        name = f"t_{secrets.token_hex(6)}"
        new = NewTask(name, stored, [StatusEvent(status=Status.QUEUED)], operation.idempotency_key)
        task, _ = await self.journal.create(new)
        return task.id

    async def tasks(self) -> Sequence[str]:
        return [task.id for task in await self.journal.tasks(limit=100)]

    async def end(self, cost: float = 0.0) -> None:
        for task in await self.journal.tasks(limit=100):
            if task.status is Status.QUEUED:
                used = UsageEvent(input_tokens=1, output_tokens=1, cached_tokens=0, cost_usd=cost)
                ending: list[Event] = [used, StatusEvent(status=Status.COMPLETED)]
                await self.journal.append(task.id, ending)
