"""What is written into journals here, and how it is read back."""

import secrets

import pytest

from sidecar.engine.port import SharedJournal
from sidecar.journal.port import Claim, Journal, NewTask, Retention
from sidecar.journal.postgres.journal import PostgresJournal
from sidecar.journal.sqlite import SqliteJournal
from sidecar.wire.events import MessageEvent, StatusEvent, StepEvent
from sidecar.wire.tasks import Context, Options, Priority, Status, StoredRequest

QUEUED = StatusEvent(status=Status.QUEUED)
RUNNING = StatusEvent(status=Status.RUNNING)
COMPLETED = StatusEvent(status=Status.COMPLETED)


def new_task(name: str, *, priority: Priority = "normal", key: str | None = None, conversation: str = "c_1") -> NewTask:
    request = StoredRequest(
        task=f"do {name}",
        workspace="/w",
        conversation_id=conversation,
        context=Context(),
        options=Options(priority=priority),
    )
    return NewTask(name, request, [QUEUED], key)


def step(number: int) -> StepEvent:
    return StepEvent(step=number, total=9, message=f"step {number}", agent="coder", state="completed")


def said(text: str) -> MessageEvent:
    return MessageEvent(message_id="m", role="user", agent="", text=text)


async def seqs(journal: Journal, task_id: str, after: int = 0) -> list[int | None]:
    return [event.seq for event in (await journal.events(task_id, after)).events]


async def claim(journal: Journal, task_id: str, owner: str = "me", now: float = 0, lease: float = 10) -> Claim | None:
    """As a worker does: the next task, which must be this one, or of a shared journal the task by its name."""
    if isinstance(journal, SharedJournal):
        return await journal.claim_named(task_id, owner, now, lease)
    found = await claim_next(journal, owner, now, lease)
    assert found is None or found.task_id == task_id
    return found


async def claim_lost(journal: Journal, owner: str, now: float, lease: float = 10) -> Claim | None:
    """The task of another worker, once its lease has expired."""
    if isinstance(journal, PostgresJournal):
        return await journal.claim_lost(owner, now, lease)
    return await claim_next(journal, owner, now, lease)


async def claim_next(journal: Journal, owner: str, now: float, lease: float = 10) -> Claim | None:
    assert isinstance(journal, SqliteJournal)
    return await journal.claim(owner, now, lease)


async def postgres_journal(
    request: pytest.FixtureRequest, retention: Retention | None = None, server: str = "postgres"
) -> Journal:
    """An empty journal on the server of this test process."""
    url = request.getfixturevalue(server).url
    return await PostgresJournal.open(url, retention, schema=f"test_{secrets.token_hex(6)}")
