"""Isolated tasks: each works in its own Git worktree until you merge or discard it.

A task's `worktree` event is written after the worktree is complete, and its end before the directory goes. So a
directory without a task that works in it is left over, and nothing in it is missed. A merge is planned, recorded and
finished like an undo: all of its files are changed, or none.
"""

import asyncio
import os
from collections.abc import Awaitable, Collection, Sequence
from contextlib import suppress
from typing import Protocol
from weakref import WeakValueDictionary

from sidecar.config.repositories import Repositories
from sidecar.engine.errors import OperationRefused, StepFailed
from sidecar.engine.files import FileHistory
from sidecar.engine.merge_plan import MergePlan
from sidecar.engine.places import refuse_remote
from sidecar.engine.review import Review
from sidecar.engine.run import TaskRun
from sidecar.engine.undo import STILL, Undo, change_of
from sidecar.journal.errors import UnknownTask
from sidecar.journal.port import Journal
from sidecar.telemetry.logs import current_actor
from sidecar.wire.events import WorktreeEvent
from sidecar.wire.tasks import RewoundFile, Task
from sidecar.wire.text import plural
from sidecar.wire.worktrees import (
    CleanAnswer,
    CleanRequest,
    KeptWorktree,
    MergeAnswer,
    MergeConflict,
    MergeRequest,
    WorktreeInfo,
    WorktreeList,
)
from tools.errors import ToolError
from tools.ledger import FileState
from tools.skipped import is_cache
from tools.worktrees import ChangedPath, WorktreeBase, WorktreeStore

_OUTSIDE = "It is outside the workspace. Copy it from the worktree yourself."
_DISCARDED = "I discarded the worktree and its changes; you start again from my workspace. These files went back: "


class Removed(Protocol):
    def __call__(self, directory: str, /) -> Awaitable[None]: ...


async def _nothing(directory: str) -> None:
    return None


class Worktrees:
    """`removed` is called with the directory of a worktree that is gone."""

    def __init__(
        self,
        journal: Journal,
        review: Review,
        git: WorktreeStore,
        repositories: Repositories,
        removed: Removed = _nothing,
    ) -> None:
        self._journal = journal
        self._review = review
        self._git = git
        self._repositories = repositories
        self._removed = removed
        #: One merge or removal of a task's worktree at a time.
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    # -- tasks at work -----------------------------------------------------------------------------------------------

    def check(self, workspace: str) -> None:
        """Refuse a task at once whose workspace is in no repository."""
        try:
            self._git.check(workspace)
        except ToolError as error:
            message = (
                f"{error.message} An isolated task needs one: run `git init`, commit, and send the task again, or send "
                "it without isolation."
            )
            raise OperationRefused(422, "no_repository", message) from error

    def holds(self, workspace: str) -> bool:
        return self._git.holds(workspace)

    async def locate(self, run: TaskRun) -> bool:
        """Let the run work in its task's worktree; false if the task has none now."""
        place = (await self._journal.task(run.task_id)).worktree
        if place is None:
            return False
        run.move_to(place)
        return True

    async def enter(self, run: TaskRun) -> None:
        """Make a worktree for the run to work in, unless its task has one."""
        if await self.locate(run):
            base = self._git.base(run.task_id)
            if base is None:
                message = (
                    f"The task's worktree {run.request.workspace} is gone, and what was not merged with it. Send the "
                    "request again as a new task."
                )
                raise StepFailed("worktree_gone", message, recoverable=False)
            return
        try:
            base = await self._create(run)
        except ToolError as error:
            message = f"No worktree could be made, so the task did nothing. {error.message}"
            raise StepFailed("no_worktree", message, recoverable=True) from error
        self._repositories.register(base.directory, base.workspace)
        left_out = base.left_out or None
        await run.log.append(WorktreeEvent(state="created", path=base.directory, left_out=left_out))
        run.move_to(base.directory)

    async def _create(self, run: TaskRun) -> WorktreeBase:
        """If the run is stopped meanwhile, wait for it: the next run must not meet a worktree that is being made."""
        making = asyncio.ensure_future(asyncio.to_thread(self._git.create, run.task_id, run.request.workspace))
        try:
            return await asyncio.shield(making)
        except asyncio.CancelledError:
            await asyncio.wait({making})
            raise

    # -- merging -----------------------------------------------------------------------------------------------------

    async def merge(self, task_id: str, wanted: MergeRequest) -> MergeAnswer:
        async with self._locks.setdefault(task_id, asyncio.Lock()):
            task = await self._still(task_id)
            try:
                return await self._merge(task, wanted)
            except ToolError as error:
                message = f"Nothing was merged. {error.message}"
                raise OperationRefused(409, "merge_failed", message) from error

    async def _merge(self, task: Task, wanted: MergeRequest) -> MergeAnswer:
        inside = self._inside(task)
        changed = await self._changed(task, inside)
        plan = MergePlan(self._journal, self._review, task.workspace, task.id, task.id, wanted)
        await self._plan(plan, changed, inside)
        undo = Undo(rewind_to=None, files=plan.files, tool="merge_worktree", workspace=task.workspace)
        conflicts = plan.conflicts
        files = [RewoundFile(path=file.path, change=change_of(file)) for file in undo.files]
        combined = bool(files) and await asyncio.to_thread(self._git.moved_on, task.id)
        answer = MergeAnswer(merged=False, files=files, conflicts=conflicts, combined=combined)
        blocked = [each for each in conflicts if not (wanted.markers and each.text is not None)]
        if wanted.preview or blocked:
            return answer
        place = task.worktree or ""
        names = [file.path for file in files]
        undo = undo.model_copy(
            update={
                "merged": WorktreeEvent(
                    state="merged", path=place, files=names, combined=combined or None, by=current_actor()
                )
            }
        )
        left = await self._review.carry_out(task, undo)
        if left:
            late = [MergeConflict(path=each.path, why=each.why) for each in left]
            return answer.model_copy(update={"conflicts": [*conflicts, *late]})
        await self._remove(task.id, task.workspace, place)
        return answer.model_copy(update={"merged": True})

    async def plan_merge(
        self, task_id: str, keeper: str, left_out: Collection[str]
    ) -> tuple[list[FileState], list[MergeConflict]]:
        """What merging a part would change in its workspace; the contents are kept with the task `keeper`."""
        task = await self._still(task_id)
        inside = self._inside(task)
        plan = MergePlan(self._journal, self._review, task.workspace, task.id, keeper)
        changed = await self._changed(task, inside)
        wanted = [each for each in changed if _relative_to(inside, each.path) not in left_out]
        await self._plan(plan, wanted, inside)
        return plan.files, plan.conflicts

    async def _plan(self, plan: MergePlan, changed: Sequence[ChangedPath], inside: str) -> None:
        for each in changed:
            path = _relative_to(inside, each.path)
            if path is None:
                plan.conflicts.append(MergeConflict(path=each.path, why=_OUTSIDE))
            else:
                await plan.add(path, each)

    async def close_merged(self, task_id: str, files: Sequence[str]) -> None:
        """The task that this one is a part of has merged it."""
        async with self._locks.setdefault(task_id, asyncio.Lock()):
            task = await self._journal.task(task_id)
            if task.worktree is None:
                return
            merged = WorktreeEvent(state="merged", path=task.worktree, files=list(files))
            await self._journal.append(task_id, [merged], when=STILL)
            await self._remove(task_id, task.workspace, task.worktree)

    def _inside(self, task: Task) -> str:
        """The workspace's folder in the repository."""
        base = self._git.base(task.id)
        return "." if base is None else os.path.relpath(base.workspace, base.top)

    async def _changed(self, task: Task, inside: str) -> list[ChangedPath]:
        """What differs from the start, by Git and by the task's own history: that also knows of ignored files."""
        records = await self._journal.records(task.id)
        history = await asyncio.to_thread(FileHistory, records, task.worktree or "")
        also = [os.path.normpath(f"{inside}/{path}") for path in history.paths()]
        found = await asyncio.to_thread(self._git.changed, task.id, also)
        return [each for each in found if each.base is not None or not is_cache(each.path)]

    # -- listing and removing ----------------------------------------------------------------------------------------

    async def list(self) -> WorktreeList:
        return WorktreeList(worktrees=[await self._describe(name) for name in self._git.names()])

    async def clean(self, wanted: CleanRequest) -> CleanAnswer:
        """Remove worktrees that are no longer needed. Changes go only with those that you name, and with `discard`."""
        names = self._git.names()
        removed: list[str] = []
        kept = [KeptWorktree(task_id=each, why="It has no worktree.") for each in wanted.tasks if each not in names]
        for name in names:
            if wanted.tasks and name not in wanted.tasks:
                continue
            async with self._locks.setdefault(name, asyncio.Lock()):
                why = await self._clean(await self._describe(name), discard=wanted.discard and name in wanted.tasks)
            if why is None:
                removed.append(name)
            else:
                kept.append(KeptWorktree(task_id=name, why=why))
        return CleanAnswer(removed=removed, kept=kept)

    async def _clean(self, found: WorktreeInfo, *, discard: bool) -> str | None:
        """Why it was kept; `None` if it is gone."""
        if found.state == "active":
            return f"The task is {found.status}. Cancel it first."
        if found.state == "unmerged" and not discard:
            return f"It has changes in {plural(found.files, 'file')}. Merge or discard them first."
        if found.state != "leftover":
            try:
                await self._discard(found.task_id, found.path)
            except OperationRefused as error:
                return error.message
        await self._remove(found.task_id, found.workspace, found.path)
        return None

    async def _discard(self, task_id: str, path: str) -> None:
        """The task's history says that its changes went back, so that it knows when you continue it."""
        await self._review.rewind(task_id, 0, conversation=False, why=_DISCARDED)
        discarded = WorktreeEvent(state="discarded", path=path, by=current_actor())
        await self._journal.append(task_id, [discarded], when=STILL)

    async def _describe(self, name: str) -> WorktreeInfo:
        task: Task | None = None
        with suppress(UnknownTask):
            task = await self._journal.task(name)
        base = self._git.base(name)
        files = 0
        state = "leftover"
        if task is not None and task.worktree is not None:
            if task.status not in STILL:
                state = "active"
            elif base is not None:
                files = len(await self._changed(task, self._inside(task)))
                state = "unmerged" if files else "unchanged"
        elif task is not None and task.status not in STILL:
            state = "active"  # it is being made
        elif task is None and base is not None:
            # Its task was pruned: only a look at the files tells.
            files = len(await asyncio.to_thread(self._git.changed, name))
            state = "unmerged" if files else "leftover"
        return WorktreeInfo(
            task_id=name,
            task=None if task is None else task.task,
            status=None if task is None else task.status,
            workspace=base.workspace if base else task.workspace if task else "",
            path=base.directory if base else self._git.tree(name),
            state=state,  # type: ignore[arg-type]
            files=files,
            left_out=base.left_out if base else [],
        )

    async def _remove(self, name: str, workspace: str, directory: str) -> None:
        self._repositories.forget(directory)
        await asyncio.to_thread(self._git.remove, name, workspace)
        await self._removed(directory)

    async def _still(self, task_id: str) -> Task:
        task = await self._journal.task(task_id)
        refuse_remote(task)
        if task.worktree is None:
            message = "The task has no worktree to merge: it works in your workspace, or is merged or discarded."
            raise OperationRefused(409, "no_worktree", message)
        if task.status not in STILL:
            raise OperationRefused(409, "task_active", f"The task is {task.status}. Cancel it first, then merge it.")
        if self._git.base(task_id) is None:
            message = f"The worktree {task.worktree} is gone. `brain diff` still shows what the task changed."
            raise OperationRefused(409, "worktree_gone", message)
        return task


def _relative_to(inside: str, path: str) -> str | None:
    """A path of the repository relative to this folder of it; `None` if it is elsewhere."""
    if inside == ".":
        return path
    return path[len(inside) + 1 :] if path.startswith(f"{inside}/") else None
