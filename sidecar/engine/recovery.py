"""What an earlier process left open goes back into the queue. Nothing is carried out here: doing it twice is safe."""

import logging

from sidecar.journal.port import Journal
from sidecar.wire.events import StatusEvent
from sidecar.wire.tasks import Status

log = logging.getLogger(__name__)

#: Claimed but not begun; or being cancelled, which whoever claims it finishes rather than goes on.
_AS_THEY_ARE = frozenset({Status.QUEUED, Status.CANCELLING})


async def enqueue_left_open(journal: Journal, owner: str) -> int:
    tasks = await journal.left_open(owner)
    for task in tasks:
        if task.status in _AS_THEY_ARE:
            await journal.release(task.id)
            continue
        died = StatusEvent(status=Status.INTERRUPTED, reason="The sidecar stopped while the task was at work.")
        again = StatusEvent(status=Status.QUEUED, reason="resumed after the sidecar stopped")
        await journal.append(task.id, [again] if task.status is Status.INTERRUPTED else [died, again])
    if tasks:
        log.info("Tasks left open by an earlier sidecar and queued again: %d", len(tasks))
    return len(tasks)
