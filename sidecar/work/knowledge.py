"""What the memory adds to a prompt: a ranked map, similar past tasks, and the names of skills."""

import asyncio
from collections.abc import Sequence

from sidecar.memory.past import Past
from sidecar.memory.port import Memory
from sidecar.memory.skills import Skills
from tools.text import first_words

#: A prompt waits no longer for a map than this; then it has a plain listing.
_SECONDS = 0.5
_SIMILAR = 5
_SIMILAR_CHARACTERS = 400
_DESCRIPTION = 120
_PAST = "Similar tasks of the past in this workspace, as information:"


class Knowledge:
    def __init__(self, memory: Memory | None = None, past: Past | None = None, skills: Skills | None = None) -> None:
        self._memory = memory
        self._past = past
        self._skills = skills

    async def draw_map(self, workspace: str, request: str, near: Sequence[str], room: int) -> str:
        """The files that matter for the request with their definitions; empty without an index."""
        if self._memory is None:
            return ""
        try:
            async with asyncio.timeout(_SECONDS):
                return await self._memory.repository_map(workspace, room, request, near)
        except TimeoutError:
            return ""

    async def similar_tasks(self, workspace: str, request: str, task_id: str) -> str:
        """For a planner: at most five tasks that are near enough, with what came of them."""
        if self._past is None:
            return ""
        found = await self._past.similar_tasks(workspace, request, task_id, _SIMILAR)
        listed = [first_words(each.render(), _SIMILAR_CHARACTERS) for each in found]
        return "\n\n".join([_PAST, *listed]) if listed else ""

    async def list_skills(self, workspace: str) -> list[str]:
        if self._skills is None or not self._skills.any(workspace):
            return []
        found = await asyncio.to_thread(self._skills.list, workspace)
        return [f"{each.name}: {first_words(each.description, _DESCRIPTION)}" for each in found]
