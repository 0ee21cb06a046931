"""Past work in a workspace: tasks that ended, and the decisions and patterns that people accepted."""

import asyncio
import math
from collections import Counter
from collections.abc import Collection as Some
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Literal, NamedTuple, Protocol

from sidecar.journal.errors import UnknownTask
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
#: Nearer than work that has nothing to do with the question.
_ALIKE = 0.45
#: How much a vector counts beside all words of the question.
_OF_VECTORS = 0.2


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


class Stale(NamedTuple):
    """A task or a note whose vector is missing or old; one of both."""

    task: str | None
    note: str | None


class PastVectors(Protocol):
    """How alike past work is to a question, beside its words."""

    async def stale(self, statuses: Some[Status]) -> Sequence[Stale]: ...

    async def add(self, works: Sequence[tuple[Stale, str, int, str]]) -> None:
        """Each with its workspace, its last event, and its text."""

    async def nearest(self, query: str, workspaces: Some[str]) -> Mapping[str, float]:
        """By id, from 0 to 1; of all workspaces if none is named."""


class Past:
    def __init__(self, journal: Journal, notes: Notes, vectors: PastVectors | None = None) -> None:
        self._journal = journal
        self._notes = notes
        self._vectors = vectors

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
        alike = await self._alike(query, {workspace, place})
        if "tasks" in wanted:
            tasks = await self._candidates(query, {workspace, place}, alike)
            own = [task for task in tasks if task.id != without and self._notes.place(task.workspace) == place]
            found += [_of_task(task) for task in own]
        if wanted & {"decisions", "patterns"}:
            notes = await asyncio.to_thread(self._notes.list, place, accepted=True)
            found += [_of_note(note) for note in notes if note.kind in wanted]
        return _ranked(query, found, alike)[:limit]

    async def _alike(self, query: str, workspaces: set[str]) -> Mapping[str, float]:
        """How alike the nearest work is, as far as vectors say; first, work that has none gets one."""
        if self._vectors is None:
            return {}
        works: list[tuple[Stale, str, int, str]] = []
        for each in await self._vectors.stale(_ENDED):
            with suppress(UnknownTask):
                if each.task is not None:
                    task = await self._journal.task(each.task)
                    work = _of_task(task)
                    works.append((each, task.workspace, task.last_seq, f"{work.title}\n{work.text}"))
                elif each.note is not None and (note := await asyncio.to_thread(self._notes.get, each.note)):
                    works.append((each, note.workspace, 0, f"{note.title}\n{note.text}"))
        await self._vectors.add(works)
        found = await self._vectors.nearest(query, _named(workspaces))
        return {name: share for name, share in found.items() if share >= _ALIKE}

    async def _candidates(self, query: str, workspaces: set[str], alike: Mapping[str, float]) -> Sequence[Task]:
        """The newest tasks, and of older ones those that the full text or the vectors find."""
        recent = await self._journal.tasks(TaskFilter(_ENDED), limit=_TASKS)
        if len(recent) < _TASKS:
            return recent
        named = _named(workspaces)
        wanted = TaskFilter(_ENDED, workspaces=named, words=_beginnings(query), any_word=True)
        older = await self._journal.tasks(wanted, limit=_TASKS, before=recent[-1].id)
        found = {task.id: task for task in (*recent, *older)}
        for name in alike.keys() - found.keys():
            with suppress(UnknownTask):  # it is a note
                found[name] = await self._journal.task(name)
        return list(found.values())

    async def similar_tasks(
        self, workspace: str, request: str, without: str = "", limit: int = 5
    ) -> Sequence[PastWork]:
        """For a planner: past tasks that are near enough to this request, with what worked."""
        found = await self.search(workspace, request, limit, ("tasks",), without)
        return [each for each in found if each.share >= _NEAR]


def _named(workspaces: set[str]) -> set[str]:
    """None if their names don't tell: a remote has several spellings."""
    return workspaces if all(each.startswith("/") for each in workspaces) else set()


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


def _ranked(query: str, works: Sequence[PastWork], alike: Mapping[str, float]) -> list[PastWork]:
    """BM25 over these few; titles count twice. What is alike without a word in common comes last."""
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
        if inside or work.id in alike:
            score += _OF_VECTORS * total * alike.get(work.id, 0.0)
            share = sum(weights[term] for term in inside) / total
            found.append(work._replace(share=round(share, 4), score=round(score / total, 4)))
    return sorted(found, key=lambda each: -each.score)
