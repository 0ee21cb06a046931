"""Forking: a task from a checkpoint of another one, with another instruction or another model.

The files go back first, in the old task's own history; then the new task is written, with everything that it knows, at
once. Whoever dies in between and is asked again finds the files as they should be, and goes on.
"""

import secrets
from itertools import takewhile

from sidecar.engine.beginning import Beginning, beginning, chosen, earlier
from sidecar.engine.errors import OperationRefused
from sidecar.engine.operations import Fork
from sidecar.engine.review import Review
from sidecar.engine.state import RecordKind, Round, UserMessage
from sidecar.engine.undo import STILL
from sidecar.journal.port import Journal, NewTask, Record, StoredEvent
from sidecar.wire.events import Event, MessageEvent, StatusEvent
from sidecar.wire.tasks import ForkedFrom, Status, StoredRequest, Task

_PAGE = 2_000
_NAMED = 20


class Forks:
    def __init__(self, journal: Journal, review: Review) -> None:
        self._journal = journal
        self._review = review

    async def new_task(self, old: Task, operation: Fork) -> NewTask:
        """The new task, not yet created; what of the files could not be taken back is told in its first event."""
        wanted = operation.request
        seq = old.last_seq if wanted.seq is None else wanted.seq
        if seq > old.last_seq:
            raise OperationRefused(
                422, "unknown_event", f"The task has no event {seq}; its last one is {old.last_seq}."
            )
        if old.status not in STILL:
            raise OperationRefused(409, "task_active", f"The task is {old.status}. Cancel it first, then fork it.")
        task_id = f"t_{secrets.token_hex(10)}"
        records, said = await self._journal.records(old.id), await self._said(old.id)
        start = beginning(old.id, task_id, seq, records, said)
        if start.answered and wanted.task is None:
            message = "At that event the task was done. Say what the new one is to do, or name an earlier event."
            raise OperationRefused(422, "nothing_left", message)
        reason = f"forked from {old.id} at event {seq}"
        if not wanted.keep_files:
            why = "For another task that begins there: "
            done = await self._review.rewind(old.id, seq, conversation=False, why=why)
            left = [file.path for file in done.files if file.change == "conflict"]
            more = f" and {len(left) - _NAMED} more" if len(left) > _NAMED else ""
            reason += f"; files that were left as they are: {', '.join(left[:_NAMED])}{more}" if left else ""
        return await self._forked(old, task_id, seq, operation, start, reason)

    async def _forked(
        self, old: Task, task_id: str, seq: int, operation: Fork, start: Beginning, reason: str
    ) -> NewTask:
        wanted, request = operation.request, await self._journal.request(old.id)
        options = chosen(request.options, wanted)
        # In the middle of something the words are one more message; else they are what the new task is about.
        own = wanted.task is not None and (start.answered or not start.begun)
        stored = request.model_copy(
            update={
                "task": wanted.task if own else request.task,
                "conversation_id": options.conversation_id or f"c_{secrets.token_hex(10)}",
                "options": options,
                "forked_from": ForkedFrom(task_id=old.id, seq=seq),
            }
        )
        opening = start.messages[0].text if start.begun and start.messages else stored.task
        first = MessageEvent(message_id=f"{task_id}.asked", role="user", agent="", text=opening)
        events: list[Event] = [StatusEvent(status=Status.QUEUED, reason=reason), first]
        records = await self._before(old, request)
        if start.begun:
            events += start.messages[1:]
            records += start.records
        if start.begun and wanted.task is not None:
            message = UserMessage(id=f"m_{secrets.token_hex(8)}", text=wanted.task, opens=start.answered)
            events.append(MessageEvent(message_id=message.id, role="user", agent="", text=message.text))
            records.append(Record(RecordKind.MESSAGE, message.id, message.to_json()))
        return NewTask(task_id, stored, events, operation.idempotency_key, records)

    async def _before(self, old: Task, request: StoredRequest) -> list[Record]:
        """The conversation that the old task was part of, as far as it was before it."""
        if request.options.conversation_id is None:
            return []
        tasks = await self._journal.conversation(request.conversation_id)
        older = takewhile(lambda task: task.id != old.id, tasks)
        return earlier(
            [
                Round(asked=task.task, answered=task.result.summary)
                for task in older
                if task.status is Status.COMPLETED and task.result is not None
            ]
        )

    async def _said(self, task_id: str) -> list[StoredEvent]:
        found: list[StoredEvent] = []
        after, last = 0, 1
        while after < last:
            page = await self._journal.events(task_id, after, _PAGE)
            found += [event for event in page.events if event.type == "message"]
            after, last = (page.events[-1].seq or page.last_seq) if page.events else page.last_seq, page.last_seq
        return found
