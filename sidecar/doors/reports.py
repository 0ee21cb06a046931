"""Reads the events of all tasks and writes what others should hear of them to the outbox."""

import asyncio
import json
import logging
import threading
from collections.abc import Callable, Coroutine, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sidecar.client.client import Client
from sidecar.client.errors import ClientError, Refused
from sidecar.client.sidecars import find_sidecar
from sidecar.doors.actions import Json, look_up, text_at
from sidecar.doors.dispatcher import conversation_of
from sidecar.doors.outbox import DoorsOutbox, NewLetter
from sidecar.doors.settings import Webhook

log = logging.getLogger("brain.doors")

_PAUSE_SECONDS = 1.0
_CONVERSATION = conversation_of("")
_BATCH = 200
_MAX_TEXT = 20_000
#: The names that programs outside know these events by.
_NAMES = {"complete": "brain/task.completed", "error": "brain/task.failed", "step": "brain/task.progress"}


class Reports:
    """A thread of its own reads: the client blocks. It only follows a sidecar that runs, and starts none."""

    def __init__(
        self,
        outbox: DoorsOutbox,
        data_dir: Path,
        webhooks: Sequence[Webhook],
        *,
        comments: bool,
        wake: Callable[[], None],
    ) -> None:
        self._outbox = outbox
        self._data_dir = data_dir
        self._webhooks = webhooks
        self._comments = comments
        self._wake = wake
        self._uncommitted = 0
        self._ended = threading.Event()
        self._loop = asyncio.get_running_loop()

    def start(self) -> None:
        if self._comments or self._webhooks:
            threading.Thread(target=self._follow, name="reports", daemon=True).start()

    def stop(self) -> None:
        self._ended.set()

    def _follow(self) -> None:
        cursor, since = self._wait_for(self._outbox.reading(datetime.now(UTC).isoformat().replace("+00:00", "Z")))
        while not self._ended.is_set():
            try:
                client = find_sidecar(self._data_dir)
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

    def _take(self, client: Client, event: Json, cursor: str, since: str) -> None:
        """Commit events without a letter in batches: read again after a crash, they say nothing again."""
        letters = [] if text_at(event, "at") < since else self._letters(client, event)
        self._uncommitted += 1
        if not letters and self._uncommitted < _BATCH:
            return
        self._wait_for(self._outbox.add(letters, cursor))
        self._uncommitted = 0
        if letters:
            self._loop.call_soon_threadsafe(self._wake)

    def _letters(self, client: Client, event: Json) -> list[NewLetter]:
        key = f"{event['taskId']}.{event['seq']}"
        kind = event_name(event)
        letters = [
            NewLetter(
                f"{hook.name}.{key}", f"webhook:{hook.name}", json.dumps({"event": kind, "id": key, "data": event})
            )
            for hook in self._webhooks
            if {"*", kind, event["type"]} & set(hook.events)
        ]
        text = comment_of(event) if self._comments else ""
        subject = _subject(client, event["taskId"]) if text else ""
        if subject.startswith("github:"):
            letters.append(NewLetter(f"github.{key}", subject, text))
        return letters

    def _wait_for(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(60)


def _subject(client: Client, task_id: str) -> str:
    try:
        conversation = text_at(client.get(f"/api/brain/tasks/{task_id}"), "conversationId")
    except Refused:  # it was deleted
        return ""
    return conversation.removeprefix(_CONVERSATION) if conversation.startswith(_CONVERSATION) else ""


def event_name(event: Json) -> str:
    if event["type"] == "status" and event.get("status") == "queued":
        return "brain/task.requested"
    return _NAMES.get(event["type"], f"brain/{event['type']}")


def comment_of(event: Json) -> str:
    """What a person who reads the issue should hear; empty for everything else."""
    task = f"`{event['taskId']}`"
    match event["type"]:
        case "status" if event.get("status") == "queued":
            return f"Working on it as task {task}. Mention me with `stop` to cancel."
        case "complete":
            return _result(event, task)
        case "error":
            return f"Task {task} failed: {text_at(event, 'message')}"[:_MAX_TEXT]
        case "escalation":
            suggestions = look_up(event, "suggestions")
            listed = "".join(f"\n- {each}" for each in suggestions) if isinstance(suggestions, list) else ""
            return f"Task {task} needs a person: {text_at(event, 'reason')}{listed}"[:_MAX_TEXT]
        case "cancelled":
            return f"Task {task} was cancelled."
    return ""


def _result(event: Json, task: str) -> str:
    lines = [text_at(event, "result.summary") or f"Task {task} is done."]
    files = look_up(event, "result.filesModified")
    if isinstance(files, list) and files:
        lines.append("Changed: " + ", ".join(f"`{each}`" for each in files[:50]))
    checks = look_up(event, "result.verification.checks")
    for check in checks if isinstance(checks, list) else ():
        lines.append(f"- {'passed' if check.get('passed') else 'failed'}: `{text_at(check, 'command')}`")
    return "\n\n".join(lines)[:_MAX_TEXT]
