"""Converts between rows of the SQLite file and journal types."""

from collections.abc import Iterable
from zlib import crc32

from sidecar.journal.port import PAGE_CHARACTERS, Record, StoredEvent
from sidecar.journal.projection import TaskProjection, task_of
from sidecar.wire.events import ErrorEvent
from sidecar.wire.tasks import StoredRequest, Task

TASK_COLUMNS = (
    "position, id, created_at, request, state, "
    "(SELECT coalesce(max(seq), 0) FROM events WHERE task = tasks.position) AS last_seq"
)


def checksum(*texts: str) -> int:
    return crc32("\n".join(texts).encode())


def wire_data(body: str, task_id: str, seq: int | None, at: str) -> str:
    """The JSON of an event as it goes out: its own fields, then those that the journal gave it."""
    number = "" if seq is None else f',"seq":{seq}'
    return f'{body[:-1]}{number},"taskId":"{task_id}","at":"{at}"}}'


def stored(body: str, type_: str, task_id: str, seq: int | None, at: str, cursor: int = 0) -> StoredEvent:
    return StoredEvent(task_id, seq, type_, wire_data(body, task_id, seq, at), cursor)


def page_of(events: Iterable[StoredEvent]) -> list[StoredEvent]:
    """As many of them as a page holds."""
    page: list[StoredEvent] = []
    left = PAGE_CHARACTERS
    for event in events:
        left -= len(event.data)
        if page and left < 0:
            break
        page.append(event)
    return page


def event_of(row: tuple[int, bytes, bytes, int, int], task_id: str) -> StoredEvent:
    seq, at, body, expected, cursor = row
    if is_damaged(expected, at, body):
        # Keep its number, so that no reader sees a gap, and say that it is lost.
        lost = ErrorEvent(
            code="event_damaged",
            message=f"Event {seq} of this task was damaged on the disk and cannot be shown.",
            recoverable=True,
        )
        return stored(lost.to_json(), lost.type, task_id, seq, "", cursor)
    text = body.decode()
    return stored(text, type_of(text), task_id, seq, at.decode(), cursor)


def type_of(body: str) -> str:
    start = len('{"type":"')
    return body[start : body.index('"', start)]


def record_of(row: tuple[bytes, bytes, int, bytes, int]) -> Record | None:
    kind, key, seq, body, expected = row
    return None if is_damaged(expected, kind, key, body) else Record(kind.decode(), key.decode(), body.decode(), seq)


def task_from(row: tuple[int, str, str, str, str, int]) -> Task:
    _, task_id, created_at, request, state, last_seq = row
    return task_of(
        task_id,
        created_at,
        StoredRequest.model_validate_json(request),
        TaskProjection.model_validate_json(state),
        last_seq,
    )


#: Damaged rows of tasks.
DAMAGED_TASKS = (
    "SELECT position, CAST(id AS BLOB) FROM tasks WHERE"
    " is_damaged(request_checksum, CAST(id AS BLOB), CAST(created_at AS BLOB), CAST(request AS BLOB))"
    " OR is_damaged(state_checksum, CAST(status AS BLOB), CAST(state AS BLOB))"
)

#: Tasks of which an event or a record is missing: both are numbered without a gap, so their sum is known.
GAPS = (
    "SELECT task FROM events WHERE {which} GROUP BY task"
    " HAVING count(*) != max(seq) OR min(seq) != 1 OR sum(seq) * 2 != count(*) * (count(*) + 1)"
    " UNION SELECT task FROM records WHERE {which} GROUP BY task"
    " HAVING count(*) != max(number) + 1 OR min(number) != 0 OR sum(number) * 2 != count(*) * (count(*) - 1)"
)


def is_damaged(expected: int, *parts: bytes) -> bool:
    return any(part is None for part in parts) or crc32(b"\n".join(parts)) != expected
