"""The tasks that work on the parts of another: started once, followed to their end, cancelled and resumed with it."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING, Protocol

from sidecar.engine.errors import OperationRefused, StepFailed
from sidecar.engine.operations import Cancel, Execute, Operation, Resume
from sidecar.engine.review import Review
from sidecar.engine.run import TaskRun
from sidecar.engine.state import Child, RecordKind
from sidecar.engine.steps import StepKey
from sidecar.engine.worktrees import Worktrees
from sidecar.journal.errors import UnknownTask
from sidecar.journal.port import Journal, Record
from sidecar.wire.tasks import ENDED, ExecuteRequest, Status, Task

if TYPE_CHECKING:
    from sidecar.engine.remotes import RemoteWorkspaces

_STOPPED = frozenset({Status.CANCELLED, Status.INTERRUPTED})


class Tasks(Protocol):
    """What a crew needs of the engine."""

    remotes: "RemoteWorkspaces | None"

    @property
    def review(self) -> Review: ...

    @property
    def worktrees(self) -> Worktrees | None: ...

    async def submit(self, operation: Operation) -> str: ...


class Children:
    def __init__(self, run: TaskRun, tasks: Tasks, journal: Journal) -> None:
        self._run = run
        self._tasks = tasks
        self._journal = journal
        self._starting: set[asyncio.Task[str]] = set()

    @property
    def any(self) -> bool:
        return bool(self._starting or self._run.state.children)

    async def start(
        self, key: StepKey, request: ExecuteRequest, message_ids: Sequence[str], records: Sequence[Record] = ()
    ) -> str:
        """The task of this part: a new one, or the one that an earlier run started, which goes on."""
        known = self._run.state.children.get(key)
        if known is None:
            # Not cut off by a cancel in between: a task that nothing knows of would go on.
            starting = asyncio.ensure_future(self._start(key, request, message_ids, records))
            self._starting.add(starting)
            starting.add_done_callback(self._starting.discard)
            return await asyncio.shield(starting)
        if (await self._journal.task(known.task_id)).status in _STOPPED:
            with suppress(OperationRefused):
                await self._tasks.submit(Resume(known.task_id))
        return known.task_id

    async def _start(
        self, key: StepKey, request: ExecuteRequest, message_ids: Sequence[str], records: Sequence[Record]
    ) -> str:
        run = self._run
        name = f"part:{run.task_id}.{key.on_branch(run.state.branch)}"
        try:
            operation = Execute(request, idempotency_key=name, parent=run.task_id, records=tuple(records))
            task_id = await self._tasks.submit(operation)
        except OperationRefused as error:
            message = f"A part could not be started: {error.message} What was done is kept; resume to go on."
            raise StepFailed(error.code, message, recoverable=True) from error
        child = Child(task_id=task_id, message_ids=list(message_ids))
        await run.log.append(records=[run.log.record(RecordKind.CHILD, key, child.to_json())])
        return task_id

    async def wait(self, task_id: str, changed: Callable[[Task], None]) -> Task:
        """The task once it has ended. Meanwhile this run leaves its slot to others."""
        with self._run.waits.step_aside():
            task = await self._journal.task(task_id)
            while task.status not in ENDED:
                changed(task)
                async with aclosing(self._journal.tail(task_id, task.last_seq)) as batches:
                    async for batch in batches:
                        if any(event.type == "status" for event in batch):
                            changed(await self._journal.task(task_id))
                task = await self._journal.task(task_id)
        changed(task)
        return task

    async def cancel(self) -> None:
        """Return once no part has a process left."""
        if self._starting:
            await asyncio.wait(set(self._starting))
        ids = [child.task_id for child in self._run.state.children.values()]
        for task_id in ids:
            with suppress(OperationRefused, UnknownTask):
                await self._tasks.submit(Cancel(task_id))
        for task_id in ids:
            with suppress(UnknownTask):
                if (await self._journal.task(task_id)).status not in ENDED:
                    await self.wait(task_id, lambda task: None)
