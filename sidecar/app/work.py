"""The engine's port to the work before it is loaded: a task that is claimed meanwhile waits for it."""

from collections.abc import Awaitable, Callable, Sequence

from sidecar.engine.port import Work
from sidecar.engine.run import TaskRun
from sidecar.engine.state import UserMessage
from sidecar.wire.tasks import TaskResult


class LateWork:
    def __init__(self, load: Callable[[], Awaitable[Work]]) -> None:
        self._load = load
        self._loaded: Work | None = None

    async def _work(self) -> Work:
        if self._loaded is None:
            self._loaded = await self._load()
        return self._loaded

    async def carry_out(self, run: TaskRun) -> TaskResult:
        return await (await self._work()).carry_out(run)

    async def abandon(self, run: TaskRun) -> None:
        await (await self._work()).abandon(run)

    async def tidy(self, run: TaskRun) -> None:
        if self._loaded is not None:
            await self._loaded.tidy(run)

    def missed(self, run: TaskRun) -> Sequence[UserMessage]:
        assert self._loaded is not None, "a run that was carried out"
        return self._loaded.missed(run)

    async def suggest_command(self, asked: str, workspace: str) -> str | None:
        if not asked.lstrip().startswith("/"):
            return None
        return await (await self._work()).suggest_command(asked, workspace)
