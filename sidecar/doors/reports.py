"""Reads the events of all tasks and writes what others should hear of them to the outbox."""

import asyncio
import json
import logging
import threading
from collections.abc import Coroutine, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sidecar.client.client import Client
from sidecar.client.errors import ClientError, Refused
from sidecar.client.sidecars import Launcher, find_sidecar
from sidecar.doors.actions import Json, text_at
from sidecar.doors.channels import Channel, ReportedTask, TaskOrigin
from sidecar.doors.deliveries import Deliveries
from sidecar.doors.dispatcher import conversation_of
from sidecar.doors.outbox import DoorsOutbox, NewMessage
from sidecar.wire.tasks import ENDED

log = logging.getLogger("brain.doors")

_PAUSE_SECONDS = 1.0
_CONVERSATION = conversation_of("")
_BATCH = 200
_REMEMBERED = 1_000


class Reports:
    """A thread of its own reads: the client blocks. It starts a sidecar only if one died with a task of a door."""

    def __init__(
        self,
        outbox: DoorsOutbox,
        deliveries: Deliveries,
        data_dir: Path,
        channels: Sequence[Channel],
    ) -> None:
        self._outbox = outbox
        self._deliveries = deliveries
        self._data_dir = data_dir
        self._channels = channels
        self._origins: dict[str, TaskOrigin] = {}
        self._uncommitted = 0
        self._ended = threading.Event()
        self._loop = asyncio.get_running_loop()

    def start(self) -> None:
        if self._channels:
            threading.Thread(target=self._follow, name="reports", daemon=True).start()

    def stop(self) -> None:
        self._ended.set()

    def _follow(self) -> None:
        cursor, since = self._wait_for(self._outbox.reading(datetime.now(UTC).isoformat().replace("+00:00", "Z")))
        while not self._ended.is_set():
            try:
                client = find_sidecar(self._data_dir) or self._start_sidecar()
                for message in client.stream_all(cursor) if client else ():
                    if client is not None and message.id is not None:
                        self._take(client, json.loads(message.data), message.id, since)
                        cursor = message.id
                    if self._ended.is_set():
                        return
            except Refused as refusal:
                if refusal.status == 410:
                    log.warning("events after the last report were pruned; reports go on from now")
                    cursor = "now"
            except ClientError as error:
                log.debug("the stream ended: %s", error)
            self._ended.wait(_PAUSE_SECONDS)

    def _start_sidecar(self) -> Client | None:
        """For tasks that no run works on; tasks that ended unseen are crossed off."""
        tasks = self._wait_for(self._deliveries.open_tasks())
        if not tasks:
            return None
        client = Launcher(self._data_dir).client()
        for task_id in tasks:
            try:
                ended = client.get(f"/api/brain/tasks/{task_id}")["status"] in ENDED
            except Refused as refusal:
                ended = refusal.status == 404
            if ended:
                self._wait_for(self._deliveries.end_task(task_id))
        return client

    def _take(self, client: Client, event: Json, cursor: str, since: str) -> None:
        """Commit events without a message in batches: read again after a crash, they have no message again."""
        messages = [] if text_at(event, "at") < since else self._messages(client, event)
        if event["type"] == "status" and event.get("status") in ENDED:
            self._wait_for(self._deliveries.end_task(text_at(event, "taskId")))
        self._uncommitted += 1
        if not messages and self._uncommitted < _BATCH:
            return
        self._wait_for(self._outbox.add(messages, cursor))
        self._uncommitted = 0

    def _messages(self, client: Client, event: Json) -> list[NewMessage]:
        task_id = text_at(event, "taskId")
        task = ReportedTask(task_id, lambda: self._origin(client, task_id))
        return [message for channel in self._channels for message in channel.write(event, task)]

    def _origin(self, client: Client, task_id: str) -> TaskOrigin:
        found = self._origins.pop(task_id, None)
        found = _find_origin(client, task_id) if found is None else found
        self._origins[task_id] = found  # as the newest
        while len(self._origins) > _REMEMBERED:
            self._origins.pop(next(iter(self._origins)))
        return found

    def _wait_for(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(60)


def _find_origin(client: Client, task_id: str) -> TaskOrigin:
    try:
        task = client.get(f"/api/brain/tasks/{task_id}")
    except Refused:  # it was deleted
        return TaskOrigin("")
    conversation = text_at(task, "conversationId")
    subject = conversation.removeprefix(_CONVERSATION) if conversation.startswith(_CONVERSATION) else ""
    return TaskOrigin(subject, text_at(task, "traceparent"))
