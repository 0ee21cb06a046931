"""The port to the work: what the worker calls to carry a task out. `sidecar.work` implements it."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from sidecar.journal.port import Journal
from sidecar.wire.tasks import TaskResult

if TYPE_CHECKING:
    from sidecar.engine.run import TaskRun
    from sidecar.engine.state import UserMessage
    from sidecar.journal.port import Claim, Record
    from sidecar.wire.tasks import Status


@runtime_checkable
class SharedJournal(Journal, Protocol):
    """A journal that several processes use."""

    def clock(self) -> float:
        """The time that all of them share."""

    async def claim_named(self, task_id: str, owner: str, now: float, lease: float) -> "Claim | None":
        """This task, if it is free."""

    async def claimed(self, task_id: str) -> bool:
        """Whether a worker holds the task, or held it when it died."""

    async def refresh(self, task_id: str) -> "tuple[Sequence[Record], Status]":
        """All records and the status: what other processes wrote so far counts as read."""


class Work(Protocol):
    async def carry_out(self, run: "TaskRun") -> TaskResult:
        """Carry out the present round of the task."""

    async def abandon(self, run: "TaskRun") -> None:
        """End the tool calls that an earlier run of the task left open."""

    async def tidy(self, run: "TaskRun") -> None:
        """End the commands that the task still has running in the background."""

    def missed(self, run: "TaskRun") -> "Sequence[UserMessage]":
        """Your messages of this round that no agent who could act on them has read."""

    async def suggest_command(self, asked: str, workspace: str) -> str | None:
        """What to say about text that begins with a misspelled slash command."""


class LateWork:
    """The work before it is loaded: a task that is claimed meanwhile waits for it."""

    def __init__(self, load: Callable[[], Awaitable[Work]]) -> None:
        self._load = load
        self._loaded: Work | None = None

    async def _work(self) -> Work:
        if self._loaded is None:
            self._loaded = await self._load()
        return self._loaded

    async def carry_out(self, run: "TaskRun") -> TaskResult:
        return await (await self._work()).carry_out(run)

    async def abandon(self, run: "TaskRun") -> None:
        await (await self._work()).abandon(run)

    async def tidy(self, run: "TaskRun") -> None:
        if self._loaded is not None:
            await self._loaded.tidy(run)

    def missed(self, run: "TaskRun") -> "Sequence[UserMessage]":
        assert self._loaded is not None, "a run that was carried out"
        return self._loaded.missed(run)

    async def suggest_command(self, asked: str, workspace: str) -> str | None:
        if not asked.lstrip().startswith("/"):
            return None
        return await (await self._work()).suggest_command(asked, workspace)
