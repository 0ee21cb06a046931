"""Routes of the index of a workspace, and of notes."""

from collections.abc import Sequence

from sidecar.api.memory import MemoryRoutes
from sidecar.api.table.route import Parameter, Route
from sidecar.wire import memory

MEMORY: Sequence[Route] = (
    Route(
        "POST /api/brain/memory/search",
        "memory_search",
        MemoryRoutes.search,
        "Find code by what it does",
        memory.MemorySearchAnswer,
        memory.MemorySearchRequest,
        refusals=(422,),
        doc="The first search in a workspace builds its index. Hits show files as they are now.",
    ),
    Route(
        "POST /api/brain/memory/impact",
        "memory_impact",
        MemoryRoutes.impact,
        "List what depends on a file or a symbol, nearest first",
        memory.ImpactAnswer,
        memory.ImpactRequest,
        refusals=(422,),
    ),
    Route(
        "GET /api/brain/memory",
        "memory",
        MemoryRoutes.state,
        "Get the state of a workspace's index",
        memory.MemoryStateAnswer,
        query=(Parameter("workspace", "The workspace's directory; default: the sidecar's own."),),
        refusals=(422,),
    ),
    Route(
        "POST /api/brain/memory/rebuild",
        "memory_rebuild",
        MemoryRoutes.rebuild,
        "Build a workspace's index anew, in the background",
        memory.MemoryStateAnswer,
        memory.MemoryWorkspace,
        refusals=(422,),
    ),
    Route(
        "POST /api/brain/memory/forget",
        "memory_forget",
        MemoryRoutes.forget,
        "Delete a workspace's index",
        memory.MemoryStateAnswer,
        memory.MemoryWorkspace,
        refusals=(422,),
    ),
    Route(
        "GET /api/brain/memory/notes",
        "memory_notes",
        MemoryRoutes.list_notes,
        "List the decisions and patterns of a workspace, and what agents proposed",
        memory.NoteList,
        query=(Parameter("workspace", "The workspace's directory; default: the sidecar's own."),),
        refusals=(422,),
    ),
    Route(
        "POST /api/brain/memory/notes",
        "add_memory_note",
        MemoryRoutes.add_note,
        "Record a decision or a pattern",
        memory.NoteList,
        memory.NoteRequest,
        refusals=(409, 422),
    ),
    Route(
        "POST /api/brain/memory/notes/decide",
        "decide_memory_note",
        MemoryRoutes.decide_note,
        "Accept a note that an agent proposed, or remove a note",
        memory.MemoryDone,
        memory.NoteDecision,
        refusals=(404, 409),
    ),
)
