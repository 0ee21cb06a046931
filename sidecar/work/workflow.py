"""The engine's port to this room: carries out a claimed task, and cleans up after it."""

import asyncio
from collections.abc import Callable, Sequence
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING

from sidecar.engine.run import TaskRun
from sidecar.engine.state import UserMessage
from sidecar.journal.port import Journal
from sidecar.models.catalog import Catalog
from sidecar.wire.tasks import TaskResult
from sidecar.work.customizations import Customizations
from sidecar.work.knowledge import Knowledge
from tools.executor.executor import Executor
from tools.executor.registry import Registry

if TYPE_CHECKING:
    from sidecar.work.references import ReferenceSource
    from sidecar.work.rounds import RoundRunner
    from sidecar.work.setup import ForeignWork


class Workflow:
    def __init__(
        self,
        journal: Journal,
        catalog: Catalog,
        registry: Registry,
        executor: Executor,
        customizations: Customizations | None = None,
        verify_seconds: float = 120,
        contained: Callable[[], bool] = lambda: True,
        references: "ReferenceSource | None" = None,
        knowledge: Knowledge | None = None,
        foreign: "Callable[[], ForeignWork] | None" = None,
    ) -> None:
        self._foreign = foreign
        self._journal = journal
        self._catalog = catalog
        self._registry = registry
        self._executor = executor
        self._customizations = customizations or Customizations()
        self._verify_seconds = verify_seconds
        self._contained = contained
        self._references = references
        self._knowledge = knowledge or Knowledge()

    async def suggest_command(self, asked: str, workspace: str) -> str | None:
        """The error for a task that starts with a mistyped slash command."""
        if not asked.lstrip().startswith("/"):
            return None
        from sidecar.work.router import suggest_for

        return suggest_for(asked, self._customizations.load(workspace))

    async def carry_out(self, run: TaskRun) -> TaskResult:
        return await self.rounds.carry_out(run)

    async def load(self) -> None:
        """Import what carries out tasks, in a thread: it takes longer than the loop may block."""
        if "rounds" not in vars(self):
            await asyncio.to_thread(import_module, "sidecar.work.rounds")

    @cached_property
    def rounds(self) -> "RoundRunner":
        """Created with the first task, so that no start waits for agents, router and pipelines."""
        from sidecar.work.rounds import RoundRunner

        return RoundRunner(
            self._journal,
            self._catalog,
            self._registry,
            self._executor,
            self._customizations,
            self._verify_seconds,
            self._contained,
            self._references,
            self._knowledge,
            self._foreign,
        )

    async def abandon(self, run: TaskRun) -> None:
        """Settles calls that an earlier run of a cancelled task left open."""
        left_open = {
            call_id: intent for call_id, intent in run.state.intents.items() if call_id not in run.state.outcomes
        }
        await self._executor.abandon(left_open, run.request.workspace, run.ledger)

    def missed(self, run: TaskRun) -> Sequence[UserMessage]:
        return self.rounds.missed(run)

    async def tidy(self, run: TaskRun) -> None:
        """Ends the task's background commands."""
        for killed in await self._executor.end(run.ledger):
            run.ledger.killed("", killed.pid, killed.command)
