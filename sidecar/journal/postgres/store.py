"""Appends to tasks, checked against what this process last knew of them.

A task's row is folded from its events here, and the database writes it only if no other process wrote to the task
since: its last number, its count of records and its fence must be as known. Otherwise the answer is the task as it is
now, and the append is checked and folded again.
"""

import json
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from sidecar.journal import rows
from sidecar.journal.errors import DuplicateRecord, JournalError, LeaseLost, UnknownTask, WrittenElsewhere, WrongStatus
from sidecar.journal.port import UNCLAIMED, StoredEvent
from sidecar.journal.projection import TaskProjection, fold
from sidecar.journal.store import HEADS_KEPT, Pending
from sidecar.journal.words import plain, words_of
from sidecar.wire.tasks import Status

_AT_WORK = frozenset({Status.RUNNING, Status.WAITING})
_SEARCHED = frozenset({"message", "diff", "label"})


def searched(type_: str, body: str) -> str | None:
    """What a search finds of an event. A term begins a word, so each has a space before it."""
    return f" {plain(words_of(body))}" if type_ in _SEARCHED else None


#: Calls a function of the schema; the writer's id and the number of the write come first.
Call = Callable[[str, Sequence[object]], Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class Head:
    """A task as this process last knew it."""

    position: int
    last_seq: int
    records: int
    fence: int
    state: TaskProjection

    @classmethod
    def of(cls, position: int, last_seq: int, records: int, fence: int, state: str) -> "Head":
        return cls(position, last_seq, records, fence, TaskProjection.model_validate_json(state))


@dataclass(slots=True, eq=False)
class Append:
    task_id: str
    pending: Sequence[Pending]
    fence: int | None = None
    when: Collection[Status] | None = None
    alone: bool = False
    result: Sequence[StoredEvent] | None = None
    error: JournalError | None = None

    @property
    def ended(self) -> bool:
        return self.result is not None or self.error is not None


@dataclass(slots=True)
class Rows:
    """Columns of events and records, as the functions take them."""

    ats: list[str] = field(default_factory=list)
    bodies: list[str] = field(default_factory=list)
    words: list[str | None] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)
    keys: list[bytes] = field(default_factory=list)
    seqs: list[int] = field(default_factory=list)
    record_bodies: list[bytes] = field(default_factory=list)

    def add(self, pending: Sequence[Pending], state: TaskProjection, seq: int) -> TaskProjection:
        """Add entries after a number; returns the state that they lead to."""
        for at, events, records in pending:
            for record in records:
                self.kinds.append(record.kind)
                self.keys.append(record.key.encode())
                self.seqs.append(seq + max(len(events), 1))
                self.record_bodies.append(record.body.encode())
            for event, body in events:
                seq += 1
                self.ats.append(at)
                self.bodies.append(body)
                self.words.append(searched(event.type, body))
                state = fold(state, event, at)
        return state

    def lists(self) -> Sequence[Sequence[object]]:
        """In the order of the functions' last parameters."""
        return self.ats, self.bodies, self.words, self.kinds, self.keys, self.seqs, self.record_bodies


class Tasks:
    """What this process knows of the tasks that it writes to."""

    def __init__(self, call: Call) -> None:
        self._call = call
        self._heads: OrderedDict[str, Head] = OrderedDict()
        #: Tasks that other processes wrote to, unread here, while this one knew them.
        self.elsewhere: set[str] = set()
        self.on_elsewhere: Callable[[str], None] = lambda task_id: None

    def keep(self, task_id: str, head: Head) -> None:
        self._heads[task_id] = head
        self._heads.move_to_end(task_id)
        if len(self._heads) > HEADS_KEPT:
            self._heads.popitem(last=False)

    def head(self, task_id: str) -> Head | None:
        return self._heads.get(task_id)

    def forget(self, task_id: str) -> None:
        self._heads.pop(task_id, None)

    async def append_all(self, appends: Sequence[Append]) -> None:
        """Write them in order, each whole or not at all; those refused have an error."""
        fresh: set[str] = set()
        while left := [append for append in appends if not append.ended]:
            batch = _Batch()
            held: set[str] = set()
            for append in left:
                # Later writes to a task wait for the check of an earlier one.
                if append.task_id not in held and not self._plan(append, batch, fresh):
                    held.add(append.task_id)
            if batch.appends:
                outcomes = await self._call("append_all", batch.arguments())
                for append, head, outcome in zip(batch.appends, batch.heads, outcomes, strict=True):
                    self._take(append, head, outcome, fresh)

    def _plan(self, append: Append, batch: "_Batch", fresh: set[str]) -> bool:
        """Add it to the batch; false if the task's present state must be asked for first."""
        task_id = append.task_id
        head = batch.planned.get(task_id) or self._heads.get(task_id)
        if head is None:
            batch.ask(append)
            return False
        refusal = _refusal(append, head)
        if append.alone and task_id in self.elsewhere:
            refusal = WrittenElsewhere(task_id)
        if refusal is None:
            batch.add(append, head)
            return True
        if task_id in fresh:
            append.error = refusal
            return True
        batch.ask(append)
        return False

    def _take(self, append: Append, head: Head | None, outcome: list[Any], fresh: set[str]) -> None:
        match outcome:
            case ["written", cursors]:
                assert head is not None
                self.keep(append.task_id, head)
                bodies = [(at, event, body) for at, events, _ in append.pending for event, body in events]
                first = head.last_seq - len(bodies) + 1
                append.result = [
                    rows.stored(body, event.type, append.task_id, first + number, at, cursor)
                    for number, ((at, event, body), cursor) in enumerate(zip(bodies, cursors, strict=True))
                ]
            case ["stale", position, last_seq, records, fence, state]:
                if head is not None:
                    self.elsewhere.add(append.task_id)
                    self.on_elsewhere(append.task_id)
                self.keep(append.task_id, Head.of(position, last_seq, records, fence, state))
                fresh.add(append.task_id)
            case ["duplicate"]:
                append.error = DuplicateRecord()
            case _:
                self.forget(append.task_id)
                append.error = UnknownTask(append.task_id)


def _refusal(append: Append, head: Head) -> JournalError | None:
    if append.fence is not None and append.fence != head.fence:
        return LeaseLost(append.task_id)
    if append.when is not None and head.state.status not in append.when:
        return WrongStatus(append.task_id, head.state.status)
    named = [(record.kind, record.key) for entry in append.pending for record in entry.records]
    return DuplicateRecord() if len(set(named)) < len(named) else None


class _Batch:
    """Appends for one call."""

    def __init__(self) -> None:
        self.appends: list[Append] = []
        #: The task after each append, if it is written.
        self.heads: list[Head | None] = []
        self.planned: dict[str, Head] = {}
        self._tasks: list[tuple[object, ...]] = []
        self._rows = Rows()

    def ask(self, append: Append) -> None:
        """No task has such numbers, so the answer is its present state."""
        self.appends.append(append)
        self.heads.append(None)
        self._tasks.append((append.task_id, -1, -1, -1, "", "", False, False, 0, False, False, 0, 0))

    def add(self, append: Append, head: Head) -> None:
        rows_, events, records = self._rows, len(self._rows.bodies), len(self._rows.kinds)
        state = rows_.add(append.pending, head.state, head.last_seq)
        events, records = len(rows_.bodies) - events, len(rows_.kinds) - records
        after = Head(head.position, head.last_seq + events, head.records + records, head.fence, state)
        self.appends.append(append)
        self.heads.append(after)
        self.planned[append.task_id] = after
        changed = state.status is not head.state.status
        self._tasks.append(
            (
                append.task_id,
                head.last_seq,
                head.records,
                head.fence,
                state.status,
                state.to_json(),
                state.pinned,
                state.archived,
                sum(each.size for each in append.pending),
                # A task that a worker lost keeps its place; one that you resume goes to the end.
                changed and state.status is Status.QUEUED and head.state.status not in _AT_WORK,
                changed and state.status in UNCLAIMED,
                events,
                records,
            )
        )

    def arguments(self) -> Sequence[object]:
        *columns, events, records = (list(column) for column in zip(*self._tasks, strict=True))
        rows_ = self._rows
        return (
            *columns,
            events,
            rows_.ats,
            rows_.bodies,
            rows_.words,
            records,
            rows_.kinds,
            rows_.keys,
            rows_.seqs,
            rows_.record_bodies,
        )


def outcome_of(text: str | None) -> Any:
    return None if text is None else json.loads(text)
