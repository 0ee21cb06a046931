"""Routes for the memory: search, impact, state, rebuild and forget."""

import asyncio
from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response

from sidecar.api.requests import answer, read
from sidecar.config.repositories import is_remote_name
from sidecar.engine.errors import OperationRefused
from sidecar.memory.notes import Notes, TooManyNotes
from sidecar.memory.past import Past
from sidecar.memory.port import Memory, MemoryState, SearchRequest
from sidecar.memory.proposals import is_file, render_diff, write_proposal
from sidecar.wire.memory import (
    ImpactAnswer,
    ImpactHit,
    ImpactRequest,
    MemoryDone,
    MemoryHit,
    MemoryProgress,
    MemorySearchAnswer,
    MemorySearchRequest,
    MemoryStateAnswer,
    MemoryWorkspace,
    NoteDecision,
    NoteInfo,
    NoteList,
    NoteRequest,
)
from tools.errors import ToolError

_WAIT_SECONDS = 120.0


class MemoryRoutes:
    def __init__(self, memory: Memory, past: Past, notes: Notes, workspace: Callable[[str | None], str]) -> None:
        self._memory = memory
        self._past = past
        self._notes = notes
        self._workspace = workspace

    async def search(self, request: Request) -> Response:
        wanted = await read(request, MemorySearchRequest)
        if wanted.collection != "codebase":
            return await self._search_past(self._place(wanted.workspace), wanted)
        workspace = self._workspace(wanted.workspace)
        search = SearchRequest(wanted.query, wanted.limit, wanted.path, wanted.kind, wanted.language, days=wanted.days)
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

    async def _search_past(self, workspace: str, wanted: MemorySearchRequest) -> Response:
        found = await self._past.search(workspace, wanted.query, wanted.limit, (wanted.collection,))
        hits = [
            MemoryHit(
                path=f"{each.kind}/{each.id}",
                line=1,
                end_line=1,
                kind=each.kind.removesuffix("s"),
                score=each.score,
                snippet=f"{each.title}\n{each.text}",
                why=f"holds {each.share:.0%} of the question",
            )
            for each in found
        ]
        return answer(MemorySearchAnswer(state="ready", hits=hits))

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
                through=hit.through or None,
            )
            for hit in found
        ]
        imports = list(await self._memory.imports(workspace, path)) if path else None
        return answer(ImpactAnswer(hits=hits, imports=imports))

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

    async def list_notes(self, request: Request) -> Response:
        return await self._note_list(self._place(request.query_params.get("workspace") or None))

    async def add_note(self, request: Request) -> Response:
        wanted = await read(request, NoteRequest)
        place = self._place(wanted.workspace)
        try:
            await asyncio.to_thread(self._notes.add, place, wanted.collection, wanted.title, wanted.text)
        except TooManyNotes:
            message = "The workspace has as many notes as it may have; remove some. Nothing was stored."
            raise OperationRefused(409, "too_many_notes", message) from None
        return await self._note_list(place)

    def _place(self, named: str | None) -> str:
        """Of notes and past tasks, which a Git remote has as well."""
        if named is not None and is_remote_name(named):
            return self._notes.place(named)
        return self._notes.place(self._workspace(named))

    async def decide_note(self, request: Request) -> Response:
        wanted = await read(request, NoteDecision)
        if not await asyncio.to_thread(self._decide, wanted):
            raise OperationRefused(404, "unknown_note", f"No note has the id {wanted.id[:100]}.")
        return answer(MemoryDone())

    def _decide(self, wanted: NoteDecision) -> bool:
        """Whether there is such a note. An accepted file takes the place of its note."""
        note = self._notes.get(wanted.id)
        if note is None:
            return False
        if wanted.accept and is_file(note):
            try:
                write_proposal(note)
            except ToolError as error:
                message = f"{error.message} The proposal is kept."
                raise OperationRefused(409, "not_written", message) from error
        change = self._notes.accept if wanted.accept and not is_file(note) else self._notes.remove
        return change(wanted.id)

    async def _note_list(self, place: str) -> Response:
        notes = await asyncio.to_thread(self._notes.list, place)
        infos = [
            NoteInfo(
                id=note.id,
                workspace=note.workspace,
                collection=note.kind,
                title=note.title,
                text=note.text,
                state=note.state,
                task=note.task or None,
                diff=await asyncio.to_thread(render_diff, note) or None,
                at=note.at,
            )
            for note in notes
        ]
        return answer(NoteList(notes=infos))


def _state(found: MemoryState) -> Response:
    return answer(
        MemoryStateAnswer(
            state=found.state,
            files=found.files,
            chunks=found.chunks,
            bytes=found.bytes,
            progress=MemoryProgress(done=found.done, total=found.total),
            vectors=found.vectors or None,
        )
    )
