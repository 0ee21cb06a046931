"""Routes for the memory: search, impact, state, rebuild and forget."""

from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response

from sidecar.api.requests import answer, read
from sidecar.engine.errors import OperationRefused
from sidecar.memory.port import Memory, MemoryState, Search
from sidecar.wire.memory import (
    ImpactAnswer,
    ImpactHit,
    ImpactRequest,
    MemoryHit,
    MemoryProgress,
    MemorySearchAnswer,
    MemorySearchRequest,
    MemoryStateAnswer,
    MemoryWorkspace,
)

_WAIT_SECONDS = 120.0


class MemoryRoutes:
    def __init__(self, memory: Memory, workspace: Callable[[str | None], str]) -> None:
        self._memory = memory
        self._workspace = workspace

    async def search(self, request: Request) -> Response:
        wanted = await read(request, MemorySearchRequest)
        workspace = self._workspace(wanted.workspace)
        search = Search(wanted.query, wanted.limit, wanted.path, wanted.kind, wanted.language)
        found = await self._memory.search(workspace, search, wanted.wait)
        hits = [
            MemoryHit(
                path=hit.path,
                line=hit.line,
                end_line=hit.end_line,
                symbol=hit.symbol or None,
                kind=hit.kind,
                score=hit.score,
                snippet=hit.snippet,
                why=hit.why,
            )
            for hit in found.hits
        ]
        return answer(MemorySearchAnswer(state=found.state, hits=hits))

    async def impact(self, request: Request) -> Response:
        wanted = await read(request, ImpactRequest)
        workspace = self._workspace(wanted.workspace)
        path = wanted.path.removeprefix(f"{workspace.rstrip('/')}/").removeprefix("./")
        if not path and not wanted.symbol:
            raise OperationRefused(422, "invalid_request", "Name a path, a symbol, or both.")
        found = await self._memory.impact(workspace, path, wanted.symbol, wanted.depth, _WAIT_SECONDS)
        hits = [
            ImpactHit(
                path=hit.path,
                symbol=hit.symbol or None,
                distance=hit.distance,
                via=hit.via,
                line=hit.line,
                certain=hit.certain,
            )
            for hit in found
        ]
        return answer(ImpactAnswer(hits=hits))

    async def state(self, request: Request) -> Response:
        workspace = self._workspace(request.query_params.get("workspace") or None)
        return _state(await self._memory.state(workspace))

    async def rebuild(self, request: Request) -> Response:
        wanted = await read(request, MemoryWorkspace)
        return _state(await self._memory.rebuild(self._workspace(wanted.workspace)))

    async def forget(self, request: Request) -> Response:
        wanted = await read(request, MemoryWorkspace)
        workspace = self._workspace(wanted.workspace)
        await self._memory.forget(workspace)
        return _state(await self._memory.state(workspace))


def _state(found: MemoryState) -> Response:
    return answer(
        MemoryStateAnswer(
            state=found.state,
            files=found.files,
            chunks=found.chunks,
            bytes=found.bytes,
            progress=MemoryProgress(done=found.done, total=found.total),
        )
    )
