"""Routes for what tasks changed: review, rewind and merge it."""

from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response

from sidecar.api.requests import answer, read, task_id
from sidecar.wire.tasks import HunkRequest, RewindRequest
from sidecar.wire.worktrees import CleanRequest, MergeRequest

if TYPE_CHECKING:
    from sidecar.engine.review import Review
    from sidecar.engine.worktrees import Worktrees


class ReviewRoutes:
    def __init__(self, review: "Review") -> None:
        self._review = review

    async def diff(self, request: Request) -> Response:
        return answer(await self._review.diff(task_id(request)))

    async def hunks(self, request: Request) -> Response:
        decision = await read(request, HunkRequest)
        return answer(await self._review.decide(task_id(request), decision))

    async def rewind(self, request: Request) -> Response:
        wanted = await read(request, RewindRequest)
        done = await self._review.rewind(
            task_id(request),
            wanted.seq,
            preview=wanted.preview,
            conversation=wanted.conversation,
            uncertain=wanted.uncertain,
        )
        return answer(done)


class WorktreeRoutes:
    def __init__(self, worktrees: "Worktrees") -> None:
        self._worktrees = worktrees

    async def merge(self, request: Request) -> Response:
        wanted = await read(request, MergeRequest)
        return answer(await self._worktrees.merge(task_id(request), wanted))

    async def list(self, request: Request) -> Response:
        return answer(await self._worktrees.list())

    async def clean(self, request: Request) -> Response:
        return answer(await self._worktrees.clean(await read(request, CleanRequest)))
