"""Routes for what tasks changed: review, rewind and merge it."""

from typing import TYPE_CHECKING

from starlette.requests import Request

from sidecar.api.route import TASK, route, task_id
from sidecar.wire.tasks import DiffAnswer, HunkRequest, RewindAnswer, RewindRequest
from sidecar.wire.worktrees import CleanAnswer, CleanRequest, MergeAnswer, MergeRequest, WorktreeList

if TYPE_CHECKING:
    from sidecar.engine.review import Review
    from sidecar.engine.worktrees import Worktrees


class ReviewRoutes:
    def __init__(self, review: "Review") -> None:
        self._review = review

    @route(f"GET {TASK}/diff", "diff", refusals=(404, 409))
    async def diff(self, request: Request) -> DiffAnswer:
        """Get a task's changes by file and hunk."""
        return await self._review.diff(task_id(request))

    @route(f"POST {TASK}/hunks", "hunks", refusals=(404, 409))
    async def hunks(self, request: Request, decision: HunkRequest) -> DiffAnswer:
        """Accept or reject hunks of a task's changes. A rejected hunk is undone in its file, and the agents learn about
        it. Your own later edits are merged; where you edited the same lines, the file stays as it is and is listed
        under `conflicts`."""
        return await self._review.decide(task_id(request), decision)

    @route(f"POST {TASK}/rewind", "rewind", refusals=(404, 409))
    async def rewind(self, request: Request, wanted: RewindRequest) -> RewindAnswer:
        """Rewind files and conversation to an event. The task can be resumed from there, and a rewind can itself be
        rewound. With `conversation: false` only the files go back; with `preview` nothing changes."""
        return await self._review.rewind(
            task_id(request),
            wanted.seq,
            preview=wanted.preview,
            conversation=wanted.conversation,
            uncertain=wanted.uncertain,
        )


class WorktreeRoutes:
    def __init__(self, worktrees: "Worktrees") -> None:
        self._worktrees = worktrees

    @route(f"POST {TASK}/merge", "merge", refusals=(404, 409))
    async def merge(self, request: Request, wanted: MergeRequest) -> MergeAnswer:
        """Merge the worktree of an isolated task into its workspace. Three-way by lines: your own changes since the
        task started stay. With conflicts nothing changes, and they are listed; `markers` writes them into the files as
        Git does. It changes files only, never the index or a branch. After a merge the worktree is removed, and a
        rewind of the task acts on your workspace."""
        return await self._worktrees.merge(task_id(request), wanted)

    @route("GET /api/brain/worktrees", "worktrees")
    async def list(self, request: Request) -> WorktreeList:
        """List the worktrees of isolated tasks."""
        return await self._worktrees.list()

    @route("POST /api/brain/worktrees/clean", "clean_worktrees")
    async def clean(self, request: Request, wanted: CleanRequest) -> CleanAnswer:
        """Remove worktrees that are no longer needed. Keeps those whose task is at work, and those with changes that
        are not merged, unless you name the task and set `discard`."""
        return await self._worktrees.clean(wanted)
