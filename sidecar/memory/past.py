"""Past work in a workspace: tasks that ended, and the decisions and patterns that people accepted."""

import asyncio
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from sidecar.journal.port import Journal, TaskFilter
from sidecar.memory.notes import Note, NoteKind, Notes
from sidecar.memory.tokens import STOP_WORDS, count_terms, query_terms, stem, words_of
from sidecar.wire.memory import Collection
from sidecar.wire.tasks import Status, Task
from tools.text import first_words

_TASKS = 500
_ENDED = (Status.COMPLETED, Status.FAILED, Status.ESCALATED, Status.CANCELLED)
_SHOWN = 600
#: A past task is offered to a planner only if it holds so much of the request.
_NEAR = 0.45
_K1 = 1.2
_SMOOTHING = 10


class PastWork(NamedTuple):
    """`kind` is the collection; `share` is how much of the question it holds, from 0 to 1."""

    kind: Literal["tasks"] | NoteKind
    id: str
    title: str
    text: str
    share: float
    score: float

    def render(self) -> str:
        return f"{self.kind.removesuffix('s')} {self.id}: {self.title}\n{self.text}".rstrip()


class Past:
    def __init__(self, journal: Journal, notes: Notes) -> None:
        self._journal = journal
        self._notes = notes

    async def search(
        self,
        workspace: str,
        query: str,
        limit: int = 5,
        collections: Iterable[Collection] = ("tasks", "decisions", "patterns"),
        without: str = "",
    ) -> Sequence[PastWork]:
        """The best first; `without` is a task to leave out, such as the one that asks."""
        wanted = frozenset(collections)
        place = self._notes.place(workspace)
        found: list[PastWork] = []
        if "tasks" in wanted:
            tasks = await self._candidates(query, {workspace, place})
            own = [task for task in tasks if task.id != without and self._notes.place(task.workspace) == place]
            found += [_of_task(task) for task in own]
        if wanted & {"decisions", "patterns"}:
            notes = await asyncio.to_thread(self._notes.list, place, accepted=True)
            found += [_of_note(note) for note in notes if note.kind in wanted]
        return _ranked(query, found)[:limit]

    async def _candidates(self, query: str, workspaces: set[str]) -> Sequence[Task]:
        """The newest tasks, and of older ones those that the full text finds."""
        recent = await self._journal.tasks(TaskFilter(_ENDED), limit=_TASKS)
        if len(recent) < _TASKS:
            return recent
        # A remote has several spellings.
        named = workspaces if all(each.startswith("/") for each in workspaces) else ()
        wanted = TaskFilter(_ENDED, workspaces=named, words=_beginnings(query), any_word=True)
        older = await self._journal.tasks(wanted, limit=_TASKS, before=recent[-1].id)
        return [*recent, *older]

    async def similar_tasks(
        self, workspace: str, request: str, without: str = "", limit: int = 5
    ) -> Sequence[PastWork]:
        """For a planner: past tasks that are near enough to this request, with what worked."""
        found = await self.search(workspace, request, limit, ("tasks",), without)
        return [each for each in found if each.share >= _NEAR]


def _beginnings(query: str) -> str:
    """The stems of a question as its words begin: that is how the full text finds words."""
    words = [word.lower() for word in words_of(query)]
    stems = {word: stem(word) for word in words if word not in STOP_WORDS}
    # The last letter of a stem may be another one: `polici` of `policy`.
    return " ".join(term if word.startswith(term) else term[:-1] for word, term in stems.items())


def _of_task(task: Task) -> PastWork:
    """What was asked, what was done, the files, the outcome and whether it was verified."""
    verified = {True: "verified", False: "its checks failed", None: "not verified"}[task.verified]
    lines = [f"{task.status}, {verified}"]
    if task.result is not None:
        if task.result.files_modified:
            lines.append(f"files: {', '.join(task.result.files_modified[:12])}")
        lines.append(first_words(task.result.summary, _SHOWN))
    elif task.error is not None:
        lines.append(first_words(task.error.message, _SHOWN))
    return PastWork("tasks", task.id, first_words(" ".join(task.task.split()), _SHOWN), "\n".join(lines), 0.0, 0.0)


def _of_note(note: Note) -> PastWork:
    return PastWork(note.kind, note.id, note.title, first_words(note.text, _SHOWN), 0.0, 0.0)


def _ranked(query: str, works: Sequence[PastWork]) -> list[PastWork]:
    """BM25 over these few; titles count twice."""
    terms = query_terms(query)
    counts = [count_terms(f"{work.title} {work.title} {work.text}") for work in works]
    frequency = Counter(term for count in counts for term in terms if count[term])
    # Smoothed: among a handful of tasks, a rare word says little.
    weights = {term: math.log(1 + (len(works) + _SMOOTHING) / (frequency[term] + 1)) for term in terms}
    total = sum(weights.values()) or 1.0
    found = []
    for work, count in zip(works, counts, strict=True):
        inside = [term for term in terms if count[term]]
        score = sum(weights[term] * count[term] * (_K1 + 1) / (count[term] + _K1) for term in inside)
        if inside:
            share = sum(weights[term] for term in inside) / total
            found.append(work._replace(share=round(share, 4), score=round(score / total, 4)))
    return sorted(found, key=lambda each: -each.score)
