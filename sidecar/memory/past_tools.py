"""The tools about past work: `recall` searches it, `propose_note` suggests something worth remembering."""

import asyncio
from typing import Annotated, Literal

from pydantic import Field, JsonValue

from sidecar.memory.notes import MAX_TEXT, MAX_TITLE, Notes, TooManyNotes
from sidecar.memory.past import Past
from sidecar.memory.proposals import problem_with
from sidecar.wire.text import plural
from tools.errors import ToolError
from tools.host import Host
from tools.spec import Arguments, Call, Output, ToolResult, ToolSpec


class RecallArguments(Arguments):
    query: Annotated[str, Field(min_length=1, max_length=2_000)]
    limit: Annotated[int, Field(ge=1, le=20)] = 5


class Recall:
    spec = ToolSpec(
        name="recall",
        description=(
            "Search by words what was left out of this conversation, then past tasks of this workspace, accepted "
            "decisions and patterns."
        ),
        arguments=RecallArguments,
        timeout=20.0,
        retryable=True,
    )

    def __init__(self, past: Past) -> None:
        self._past = past

    async def run(self, args: RecallArguments, host: Host, call: Call, output: Output) -> ToolResult:
        found = await self._past.search(call.workspace, args.query, args.limit)
        if not found:
            return ToolResult("No past task or note in this workspace matches.", {"found": []}, "nothing")
        details: list[JsonValue] = [
            {"collection": each.kind, "id": each.id, "title": each.title, "score": each.score} for each in found
        ]
        text = "\n\n".join("\n".join(f"| {line}" for line in each.render().split("\n")) for each in found)
        return ToolResult(text, {"found": details}, plural(len(found), "memory", "memories"))


class ProposeNoteArguments(Arguments):
    collection: Literal["decisions", "patterns", "standards", "skills"]
    title: Annotated[
        str,
        Field(
            min_length=1, max_length=MAX_TITLE, description="For standards and skills, a name like `error-handling`."
        ),
    ]
    text: Annotated[str, Field(min_length=1, max_length=MAX_TEXT, description="What holds, why, and what follows.")]


class ProposeNote:
    spec = ToolSpec(
        name="propose_note",
        description=(
            "Propose a decision or a pattern of this project for later tasks, or the whole new text of a team standard "
            "or a skill. A person sees the difference and accepts or declines it; until then it is not used."
        ),
        arguments=ProposeNoteArguments,
        timeout=10.0,
    )

    def __init__(self, notes: Notes) -> None:
        self._notes = notes

    async def run(self, args: ProposeNoteArguments, host: Host, call: Call, output: Output) -> ToolResult:
        if problem := problem_with(args.collection, args.title, args.text):
            raise ToolError(f"{problem} Nothing was stored.")
        place = self._notes.place(call.workspace)
        if args.collection in ("standards", "skills") and not place.startswith("/"):
            raise ToolError("This task works in a clone, which goes with it. Write the file below `.brain/` instead.")
        try:
            note = await asyncio.to_thread(self._notes.add, place, args.collection, args.title, args.text, task=call.id)
        except TooManyNotes:
            raise ToolError("This workspace has as many notes as it may have. Nothing was stored.") from None
        return ToolResult(f"Proposed as {note.id}; a person decides.", {"id": note.id}, "proposed")
