"""What is written into journals here, and how it is read back."""

import secrets

import pytest

from sidecar.journal.port import Journal, NewTask, Retention
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


async def postgres_journal(
    request: pytest.FixtureRequest, retention: Retention | None = None, server: str = "postgres"
) -> Journal:
    """An empty journal on the server of this test process."""
    from sidecar.journal.postgres.journal import PostgresJournal

    url = request.getfixturevalue(server).url
    return await PostgresJournal.open(url, retention, schema=f"test_{secrets.token_hex(6)}")
