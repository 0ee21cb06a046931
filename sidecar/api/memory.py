"""Routes for the memory: search, impact, state, rebuild and forget."""

import asyncio
from collections.abc import Callable

from starlette.requests import Request

from sidecar.api.route import WORKSPACE, route
from sidecar.config.repositories import is_remote_name
from sidecar.engine.errors import OperationRefused
from sidecar.journal.port import Journal, TaskFilter
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


class MemoryRoutes:
    """Searches show files, so a token that only looks reaches no other workspaces than tasks have."""

    def __init__(
        self, memory: Memory, past: Past, notes: Notes, journal: Journal, workspace: Callable[[str | None], str]
    ) -> None:
        self._journal = journal
        self._memory = memory
        self._past = past
        self._notes = notes
        self._workspace = workspace

    @route("POST /api/brain/memory/search", "memory_search", refusals=(422,))
    async def search(self, request: Request, wanted: MemorySearchRequest) -> MemorySearchAnswer:
        """Find code by what it does. The first search in a workspace builds its index. Hits show files as they are
        now."""
        if wanted.collection != "codebase":
            return await self._search_past(await self._place(request, wanted.workspace), wanted)
        workspace = await self._seen(request, wanted.workspace)
        search = SearchRequest(wanted.query, wanted.limit, wanted.path, wanted.kind, wanted.language, days=wanted.days)
        found = await self._memory.search(workspace, search, wanted.wait)
        return MemorySearchAnswer(state=found.state, hits=[MemoryHit.from_object(hit) for hit in found.hits])

    async def _search_past(self, workspace: str, wanted: MemorySearchRequest) -> MemorySearchAnswer:
        found = await self._past.search(workspace, wanted.query, wanted.limit, (wanted.collection,))
        hits = [
            MemoryHit(
                path=f"{each.kind}/{each.id}",
                line=1,
                end_line=1,
                kind=each.kind.removesuffix("s"),
                score=each.score,
                snippet=f"{each.title}\n{each.text}",
                why=f"matches {each.share:.0%} of the question",
            )
            for each in found
        ]
        return MemorySearchAnswer(state="ready", hits=hits)

    @route("POST /api/brain/memory/impact", "memory_impact", refusals=(422,))
    async def impact(self, request: Request, wanted: ImpactRequest) -> ImpactAnswer:
        """List what depends on a file or a symbol, nearest first. `state` says whether the index holds all files."""
        workspace = await self._seen(request, wanted.workspace)
        path = wanted.path.removeprefix(f"{workspace.rstrip('/')}/").removeprefix("./")
        if not path and not wanted.symbol:
            raise OperationRefused(422, "invalid_request", "Name a path, a symbol, or both.")
        found = await self._memory.impact(workspace, path, wanted.symbol, wanted.depth, wanted.wait)
        imports = list(await self._memory.imports(workspace, path)) if path else None
        hits = [ImpactHit.from_object(hit, symbol=hit.symbol or None) for hit in found.hits]
        return ImpactAnswer(state=found.state, hits=hits, imports=imports)

    @route("GET /api/brain/memory", "memory", query=(WORKSPACE,), refusals=(422,))
    async def state(self, request: Request) -> MemoryStateAnswer:
        """Get the state of a workspace's index."""
        workspace = await self._seen(request, request.query_params.get("workspace") or None)
        return _state(await self._memory.state(workspace))

    @route("POST /api/brain/memory/rebuild", "memory_rebuild", refusals=(422,))
    async def rebuild(self, request: Request, wanted: MemoryWorkspace) -> MemoryStateAnswer:
        """Build a workspace's index anew, in the background."""
        return _state(await self._memory.rebuild(self._workspace(wanted.workspace)))

    @route("POST /api/brain/memory/forget", "memory_forget", refusals=(422,))
    async def forget(self, request: Request, wanted: MemoryWorkspace) -> MemoryStateAnswer:
        """Delete a workspace's index."""
        workspace = self._workspace(wanted.workspace)
        await self._memory.forget(workspace)
        return _state(await self._memory.state(workspace))

    @route("GET /api/brain/memory/notes", "memory_notes", query=(WORKSPACE,), refusals=(422,))
    async def list_notes(self, request: Request) -> NoteList:
        """List the decisions and patterns of a workspace, and what agents proposed."""
        return await self._note_list(await self._place(request, request.query_params.get("workspace") or None))

    @route("POST /api/brain/memory/notes", "add_memory_note", refusals=(409, 422))
    async def add_note(self, request: Request, wanted: NoteRequest) -> NoteList:
        """Record a decision or a pattern."""
        place = await self._place(request, wanted.workspace)
        try:
            await asyncio.to_thread(self._notes.add, place, wanted.collection, wanted.title, wanted.text)
        except TooManyNotes:
            message = "The workspace has as many notes as it may have; remove some. Nothing was stored."
            raise OperationRefused(409, "too_many_notes", message) from None
        return await self._note_list(place)

    async def _place(self, request: Request, named: str | None) -> str:
        """Of notes and past tasks, which a Git remote has as well."""
        if named is not None and is_remote_name(named):
            return self._notes.place(named)
        return self._notes.place(await self._seen(request, named))

    async def _seen(self, request: Request, named: str | None) -> str:
        workspace, identity = self._workspace(named), request.scope["identity"]
        if identity.role != "look" or named is None or workspace == self._workspace(None):
            return workspace
        if not await self._journal.tasks(TaskFilter(workspaces=(workspace,)), limit=1):
            message = f"The role `look` of {identity.name} sees only workspaces of tasks; {workspace} is none."
            raise OperationRefused(403, "not_allowed", message)
        return workspace

    @route("POST /api/brain/memory/notes/decide", "decide_memory_note", refusals=(404, 409))
    async def decide_note(self, request: Request, wanted: NoteDecision) -> MemoryDone:
        """Accept a note that an agent proposed, or remove a note."""
        if not await asyncio.to_thread(self._decide, wanted):
            raise OperationRefused(404, "unknown_note", f"No note has the id {wanted.id[:100]}.")
        return MemoryDone()

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

    async def _note_list(self, place: str) -> NoteList:
        notes = await asyncio.to_thread(self._notes.list, place)
        infos = [
            NoteInfo.from_object(note, collection=note.kind, diff=await asyncio.to_thread(render_diff, note))
            for note in notes
        ]
        return NoteList(notes=infos)


def _state(found: MemoryState) -> MemoryStateAnswer:
    return MemoryStateAnswer.from_object(found, progress=MemoryProgress(done=found.done, total=found.total))
