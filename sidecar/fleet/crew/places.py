"""Where a crew's parts work, and how their changes come back: worktrees of a workspace, or branches of a remote."""

from collections.abc import Collection, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol

from sidecar.engine.errors import OperationRefused, StepFailed
from sidecar.journal.errors import UnknownTask
from sidecar.wire.tasks import Context
from sidecar.wire.worktrees import CleanRequest

if TYPE_CHECKING:
    from sidecar.engine.remotes import RemoteWorkspaces
    from sidecar.engine.review import Review
    from sidecar.engine.run import TaskRun
    from sidecar.engine.steps import StepKey
    from sidecar.engine.worktrees import Worktrees
    from sidecar.fleet.crew.children import Tasks
    from sidecar.journal.port import Journal, Record
    from sidecar.wire.worktrees import MergeConflict
    from tools.ledger import FileState

Beginning = tuple[Context, "Sequence[Record]"]
Planned = tuple["list[FileState]", "list[MergeConflict]"]


class PartPlaces(Protocol):
    """`part` is the id of the task that works on a part."""

    #: Whether parts need `isolation`.
    isolated: bool

    async def begin(self) -> Beginning:
        """Where a new part works, and what its task knows from the start."""

    async def plan_merge(self, part: str, left_out: Collection[str]) -> Planned:
        """What merging the part would change, without these paths. Raises `ToolError`."""

    async def publish(self, key: "StepKey", title: str, part: str) -> None:
        """The part is merged: let those that begin from now on have it. May be repeated. Raises `ToolError`."""

    async def close(self, part: str, files: Sequence[str]) -> None:
        """The part is merged: what only its task had goes."""

    async def discard(self, part: str) -> None:
        """What the part did is not wanted."""


class WorktreeParts:
    isolated = True

    def __init__(self, run: "TaskRun", worktrees: "Worktrees") -> None:
        self._run = run
        self._worktrees = worktrees

    async def begin(self) -> Beginning:
        return Context(workspace=self._run.request.workspace), ()

    async def plan_merge(self, part: str, left_out: Collection[str]) -> Planned:
        return await self._worktrees.plan_merge(part, self._run.task_id, left_out)

    async def publish(self, key: "StepKey", title: str, part: str) -> None:
        """A new worktree begins with the crew's files as they are."""

    async def close(self, part: str, files: Sequence[str]) -> None:
        with suppress(UnknownTask):
            await self._worktrees.close_merged(part, files)

    async def discard(self, part: str) -> None:
        with suppress(OperationRefused, UnknownTask):
            await self._worktrees.clean(CleanRequest(tasks=[part], discard=True))


class BranchParts:
    """Each part begins with the newest commit of the crew's own branch, and pushes one of its own."""

    isolated = False

    def __init__(self, run: "TaskRun", remotes: "RemoteWorkspaces", journal: "Journal", review: "Review") -> None:
        self._run = run
        self._journal = journal
        self._remotes = remotes
        self._review = review

    async def begin(self) -> Beginning:
        repository, records = await self._remotes.base_for_part(self._run)
        return Context(repository=repository), records

    async def plan_merge(self, part: str, left_out: Collection[str]) -> Planned:
        from sidecar.engine.merge_plan import MergePlan

        plan = MergePlan(self._journal, self._review, self._run.request.workspace, part, self._run.task_id)
        for each in await self._remotes.changes_of_part(part):
            if each.path not in left_out:
                await plan.add(each.path, each)
        return plan.files, plan.conflicts

    async def publish(self, key: "StepKey", title: str, part: str) -> None:
        with suppress(UnknownTask):
            await self._remotes.publish_part(self._run, str(key), title, part)
            await self._remotes.close_part(part)

    async def close(self, part: str, files: Sequence[str]) -> None:
        """Its branch goes once the crew's own has the part."""

    async def discard(self, part: str) -> None:
        with suppress(UnknownTask):
            await self._remotes.close_part(part)


def places_of(run: "TaskRun", tasks: "Tasks", journal: "Journal") -> PartPlaces:
    if run.request.context.repository is not None and tasks.remotes is not None:
        return BranchParts(run, tasks.remotes, journal, tasks.review)
    if tasks.worktrees is None:
        message = "This sidecar has no worktrees for the parts of a crew. Nothing was changed."
        raise StepFailed("no_worktree", message, recoverable=False)
    return WorktreeParts(run, tasks.worktrees)
