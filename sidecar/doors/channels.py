"""The port of services that are notified of tasks: GitHub, Linear, webhooks of your own.

`Reports` asks each channel what an event means for it, and keeps its messages in the outbox; `Sender` hands each one
back to the channel whose prefix its target has.
"""

import hashlib
import hmac
import json
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple, Protocol

from sidecar.doors.actions import Json, text_at
from sidecar.doors.http import DoorsHttp, NotSent
from sidecar.doors.outbox import NewMessage, OutboxMessage
from sidecar.doors.settings import Webhook
from sidecar.telemetry.correlation import HEADER, Trace, trace_of

#: The stored events of a task.
TaskEvents = Callable[[str], Awaitable[Sequence[Json]]]
#: The names of events in webhooks. Events without a name here are `brain/TYPE`.
_NAMES = {"complete": "brain/task.completed", "error": "brain/task.failed", "step": "brain/task.progress"}


class TaskOrigin(NamedTuple):
    subject: str
    #: Of the request that began it.
    traceparent: str = ""


class ReportedTask:
    """What a channel may ask about the task of an event. Looked up when it is first asked, then remembered."""

    def __init__(self, task_id: str, look_up: Callable[[], TaskOrigin]) -> None:
        self.id = task_id
        self._look_up = look_up

    @property
    def subject(self) -> str:
        """What the task is about, such as an issue; empty if no door started it."""
        return self._look_up().subject

    @property
    def trace(self) -> Trace:
        return trace_of(self.id, self._look_up().traceparent)


class Channel(Protocol):
    #: The prefix of its messages' targets.
    prefix: str

    def write(self, event: Json, task: ReportedTask) -> Sequence[NewMessage]:
        """What to say about a durable event, most often nothing. Called in a thread; it must not wait."""

    async def send(self, outgoing: OutboxMessage) -> None:
        """Send it, or raise `NotSent`. If `outgoing.attempts` isn't 0, look first: one may have succeeded."""


class WebhookChannel:
    """The receiver tells repetitions by `X-Brain-Delivery`: if an answer gets lost, the same message follows."""

    prefix = "webhook:"

    def __init__(self, http: DoorsHttp, webhooks: Sequence[Webhook]) -> None:
        self._http = http
        self._webhooks = {hook.name: hook for hook in webhooks}

    def write(self, event: Json, task: ReportedTask) -> list[NewMessage]:
        key, kind = f"{task.id}.{event['seq']}", event_name(event)
        wanted = [hook for hook in self._webhooks.values() if {"*", kind, event["type"]} & set(hook.events)]
        if not wanted:
            return []
        body = json.dumps({"event": kind, "id": key, HEADER: task.trace.header(key), "data": event})
        return [NewMessage(f"{hook.name}.{key}", f"{self.prefix}{hook.name}", body) for hook in wanted]

    async def send(self, outgoing: OutboxMessage) -> None:
        hook = self._webhooks.get(outgoing.target.removeprefix(self.prefix))
        if hook is None:
            raise NotSent("webhooks.toml no longer names it", None)
        body = outgoing.body.encode()
        signature = hmac.new(hook.secret.encode(), body, hashlib.sha256).hexdigest()
        headers = {
            "Content-Type": "application/json",
            "X-Brain-Delivery": outgoing.key,
            "X-Brain-Signature": f"sha256={signature}",
        }
        if trace := text_at(json.loads(outgoing.body), HEADER):
            headers[HEADER] = trace
        await self._http.request("POST", hook.url, headers, body)


def event_name(event: Json) -> str:
    if event["type"] == "status" and event.get("status") == "queued":
        return "brain/task.requested"
    if event["type"] == "route" and event.get("intent") == "create_project":
        return "brain/project.create"
    return _NAMES.get(event["type"], f"brain/{event['type']}")
