"""An engine with real parts and a scratch journal."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from sidecar.config.repositories import Repositories
from sidecar.config.settings import Settings
from sidecar.engine.engine import Engine
from sidecar.engine.operations import AnswerApproval, Execute, Operation
from sidecar.engine.worktrees import Worktrees
from sidecar.fleet.crew.crew import AGENTS, CrewWork
from sidecar.journal.port import Journal
from sidecar.models.catalog import Catalog
from sidecar.offline import OFFLINE
from sidecar.wire.tasks import ENDED, ApprovalRequest, ExecuteRequest, Status, Task
from sidecar.work.customizations import Customizations
from sidecar.work.knowledge import Knowledge
from sidecar.work.references import ReferenceSource
from sidecar.work.workflow import Workflow
from tests.support.scratch_journal import ScratchJournal
from tests.waiting import SECONDS
from tools.executor.executor import Executor
from tools.executor.registry import default_registry
from tools.local.backend import LocalBackend
from tools.local.repository.worktree import GitWorktrees
from tools.policy.policy import Policy

Json = dict[str, Any]


class EngineHarness:
    def __init__(
        self,
        tmp_path: Path,
        journal: Journal,
        *,
        slots: int = 4,
        max_queued: int = 100,
        customizations: Customizations | None = None,
        references: ReferenceSource | None = None,
        knowledge: Knowledge | None = None,
        crews: bool = False,
        node: str | None = None,
    ) -> None:
        self.workspace = tmp_path / "workspace"
        self.workspace.mkdir(exist_ok=True)
        self.scripts = tmp_path / "scripts"
        self.scripts.mkdir(exist_ok=True)
        self.journal = journal
        registry = default_registry()
        data_dir = tmp_path / "data"
        data_dir.mkdir(exist_ok=True)
        backend = LocalBackend(registry, data_dir)
        self.executor = Executor(registry, [backend], Policy())
        self.catalog = Catalog(Settings(), self.scripts, OFFLINE)
        workflow = Workflow(
            journal,
            self.catalog,
            registry,
            self.executor,
            customizations or (Customizations(shipped=AGENTS) if crews else None),
            references=references,
            knowledge=knowledge,
        )
        crew = CrewWork(workflow, journal)
        git = GitWorktrees(data_dir / "worktrees", data_dir, None, lambda workspace: False)
        repositories = Repositories(data_dir)
        self.engine = Engine(
            journal,
            crew,
            backend.host,
            self.workspace,
            slots=slots,
            max_queued=max_queued,
            worktrees=(lambda kept, review: Worktrees(kept, review, git, repositories)) if crews else None,
            node=node,
        )
        crew.connect(self.engine)

    def script(self, name: str, replies: object) -> Json:
        (self.scripts / f"{name}.json").write_text(json.dumps(replies))
        return dict.fromkeys(("fast", "smart", "instant"), f"scripted/{name}")

    async def execute(self, task: str, key: str | None = None, **options: object) -> str:
        request = ExecuteRequest.model_validate({"task": task, "options": options})
        return await self.engine.submit(Execute(request, key))

    async def submit(self, operation: Operation) -> str:
        return await self.engine.submit(operation)

    async def allow(self, task_id: str, approval_id: str, scope: str = "once") -> None:
        answer = ApprovalRequest.model_validate({"decision": "allow", "scope": scope})
        await self.engine.submit(AnswerApproval(task_id, approval_id, answer))

    async def events(self, task_id: str) -> list[Json]:
        page = await self.journal.events(task_id, limit=10_000)
        return [json.loads(event.data) for event in page.events]

    async def until(self, task_id: str, type_: str, **fields: object) -> Json:
        """The first event, stored or live, that has these fields."""
        async with asyncio.timeout(SECONDS):
            async for batch in self.engine.events(task_id):
                for stored in batch:
                    event: Json = json.loads(stored.data)
                    if event["type"] == type_ and all(event.get(name) == value for name, value in fields.items()):
                        return event
        raise AssertionError(f"no {type_} with {fields}: {await self.events(task_id)}")

    async def ended(self, task_id: str) -> Task:
        async with asyncio.timeout(SECONDS):
            async for _ in self.engine.events(task_id):
                pass
        task = await self.journal.task(task_id)
        assert task.status in ENDED
        return task

    async def reached(self, task_id: str, status: Status) -> None:
        await self.until(task_id, "status", status=status)


@asynccontextmanager
async def engine_harness(
    tmp_path: Path, journal: Journal | None = None, **options: Any
) -> AsyncIterator[EngineHarness]:
    harness = EngineHarness(tmp_path, journal or ScratchJournal(), **options)
    await harness.engine.start()
    try:
        yield harness
    finally:
        await harness.engine.stop()
        await harness.executor.close()
