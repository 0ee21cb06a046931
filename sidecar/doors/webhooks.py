"""Webhooks of your own: events of tasks, signed with a secret, sent to where `webhooks.toml` says."""

import hashlib
import hmac
import json
from collections.abc import Sequence

from sidecar.doors.actions import Json, text_at
from sidecar.doors.channels import ReportedTask
from sidecar.doors.http import DoorsHttp, NotSent
from sidecar.doors.outbox import Letter, NewLetter
from sidecar.doors.settings import Webhook
from sidecar.telemetry.correlation import HEADER

#: The names that programs outside know these events by. Events without a name here are `brain/TYPE`.
_NAMES = {"complete": "brain/task.completed", "error": "brain/task.failed", "step": "brain/task.progress"}


class WebhookChannel:
    """The receiver tells repetitions by `X-Brain-Delivery`: an answer that gets lost is followed by the same letter."""

    prefix = "webhook:"

    def __init__(self, http: DoorsHttp, webhooks: Sequence[Webhook]) -> None:
        self._http = http
        self._webhooks = {hook.name: hook for hook in webhooks}

    def write(self, event: Json, task: ReportedTask) -> list[NewLetter]:
        key, kind = f"{task.id}.{event['seq']}", event_name(event)
        wanted = [hook for hook in self._webhooks.values() if {"*", kind, event["type"]} & set(hook.events)]
        if not wanted:
            return []
        body = json.dumps({"event": kind, "id": key, HEADER: task.trace.header(key), "data": event})
        return [NewLetter(f"{hook.name}.{key}", f"{self.prefix}{hook.name}", body) for hook in wanted]

    async def send(self, letter: Letter) -> None:
        hook = self._webhooks.get(letter.target.removeprefix(self.prefix))
        if hook is None:
            raise NotSent("webhooks.toml no longer names it", None)
        body = letter.body.encode()
        signature = hmac.new(hook.secret.encode(), body, hashlib.sha256).hexdigest()
        headers = {
            "Content-Type": "application/json",
            "X-Brain-Delivery": letter.key,
            "X-Brain-Signature": f"sha256={signature}",
        }
        if trace := text_at(json.loads(letter.body), HEADER):
            headers[HEADER] = trace
        await self._http.request("POST", hook.url, headers, body)


def event_name(event: Json) -> str:
    if event["type"] == "status" and event.get("status") == "queued":
        return "brain/task.requested"
    if event["type"] == "route" and event.get("intent") == "create_project":
        return "brain/project.create"
    return _NAMES.get(event["type"], f"brain/{event['type']}")
