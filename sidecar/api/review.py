"""What a task changed, and taking it back."""

from starlette.requests import Request
from starlette.responses import Response

from sidecar.api.bodies import answer, read
from sidecar.engine.review import Review
from sidecar.wire.tasks import HunkRequest, RewindRequest


class ReviewRoutes:
    def __init__(self, review: Review) -> None:
        self._review = review

    async def diff(self, request: Request) -> Response:
        return answer(await self._review.diff(request.path_params["task_id"]))

    async def hunks(self, request: Request) -> Response:
        decision = await read(request, HunkRequest)
        return answer(await self._review.decide(request.path_params["task_id"], decision))

    async def rewind(self, request: Request) -> Response:
        wanted = await read(request, RewindRequest)
        done = await self._review.rewind(
            request.path_params["task_id"], wanted.seq, preview=wanted.preview, conversation=wanted.conversation
        )
        return answer(done)
