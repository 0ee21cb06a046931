"""Reaches a person: a chain of places with waits, until someone acknowledges or the task goes on by itself."""

import asyncio
import json
import logging
import time
from collections.abc import Callable, Coroutine, Sequence
from datetime import datetime
from typing import Any

from sidecar.doors.actions import Json, text_at
from sidecar.doors.alerts import Alert, Alerts, parse_quiet
from sidecar.doors.channels import ReportedTask
from sidecar.doors.chat.channel import remark_json
from sidecar.doors.chat.port import Button
from sidecar.doors.chat.render import Remark, escalation_remark
from sidecar.doors.outbox import DoorsOutbox, NewMessage, OutboxMessage
from sidecar.doors.settings import Doors, EscalationStep
from sidecar.doors.store import DoorsStore
from sidecar.doors.work_loop import WorkLoop

log = logging.getLogger("brain.doors")

_TITLES = {"waiting": "A task waits for you", "failed": "A task failed", "escalated": "A task needs you"}
_OVER = ("queued", "running", "completed", "cancelling", "cancelled")
_MAX_TEXT = 4_000
_MAIL_AFTER = 300.0


class Escalation:
    """A channel whose messages become alerts, so that they are kept in one commit with how far events were read."""

    prefix = "alert:"

    def __init__(
        self,
        alerts: Alerts,
        outbox: DoorsOutbox,
        chain: Sequence[EscalationStep],
        kinds: Sequence[str],
        show: Callable[[str, str], Coroutine[Any, Any, None]],
        panel_url: str = "",
    ) -> None:
        self._alerts = alerts
        self._outbox = outbox
        self._chain = chain
        self._kinds = kinds
        #: Shows title and text on the desktop.
        self._show = show
        self._shown: set[asyncio.Task[None]] = set()
        self._panel_url = panel_url.rstrip("/")
        self.loop = WorkLoop(alerts, self._take_step)

    def write(self, event: Json, task: ReportedTask) -> list[NewMessage]:
        status = text_at(event, "status") if event["type"] == "status" else ""
        kind = "escalated" if event["type"] == "escalation" else status
        if kind in self._kinds and (kind != "escalated" or event["type"] == "escalation"):
            text = text_at(event, "reason")[:_MAX_TEXT]
            suggestions = [" ".join(str(each).split()) for each in event.get("suggestions") or []]
            body = {"kind": kind, "text": text, "suggestions": suggestions, "at": event["at"]}
        elif status in _OVER:
            body = {"over": status, "at": event["at"]}
        else:
            return []
        return [NewMessage(f"alert.{task.id}.{event['seq']}", f"{self.prefix}{task.id}", json.dumps(body))]

    async def send(self, outgoing: OutboxMessage) -> None:
        said, task_id = json.loads(outgoing.body), outgoing.target.removeprefix(self.prefix)
        at = datetime.fromisoformat(said["at"]).timestamp()
        if "over" in said:
            ended = await self._alerts.end("settled", said["over"], task_id=task_id, before=at)
            await self._tell_ended(ended, f"Settled: task {task_id} is {said['over']}.")
            return
        suggestions = "\n".join(said["suggestions"])
        await self._alerts.open(Alert(outgoing.key, task_id, said["kind"], said["text"], suggestions, at), time.time())
        self.loop.wake()

    async def acknowledge(self, key: str, person: str) -> bool:
        """False if someone else was faster, or the task went on."""
        ended = await self._alerts.end("acknowledged", person, key=key)
        await self._tell_ended(ended, f"{person} is on it.")
        return bool(ended)

    async def _take_step(self, alert: Alert) -> None:
        now = time.time()
        number, at = self._alerts.upcoming(alert, now)
        if at > now:
            await self._alerts.postpone(alert, at)
            return
        alert, step = alert._replace(step=number), self._chain[number]
        title, text = _TITLES[alert.kind], self._describe(alert)
        log.info("task %s: %s, notified %s", alert.task_id, alert.kind, step.channel)
        if step.channel == "desktop":
            # Once at most: if it isn't seen, the next step follows.
            await self._alerts.advance(alert, now)
            shown = asyncio.create_task(self._show(title, text))  # it may wait for a click
            self._shown.add(shown)
            shown.add_done_callback(self._shown.discard)
            return
        # The message's key is the step's: a crash between the two writes it once.
        await self._outbox.write(self._message(alert, step, title, text))
        await self._alerts.advance(alert, now)

    def _message(self, alert: Alert, step: EscalationStep, title: str, text: str) -> NewMessage:
        key = f"{alert.key}.step{alert.step}"
        if step.is_chat:
            button = Button("I'm on it", "acknowledge", alert.key)
            suggestions = alert.suggestions.splitlines()
            remark = escalation_remark(key, f"{title}: {text}", suggestions, (button,))
            return NewMessage(key, f"{step.channel}:", remark_json(alert.task_id, remark))
        body = {"event": "brain/task.alert", "id": key, "title": title, "text": text, "taskId": alert.task_id}
        return NewMessage(key, step.channel, json.dumps({**body, "kind": alert.kind}, ensure_ascii=False))

    async def _tell_ended(self, alerts: Sequence[Alert], text: str) -> None:
        messages = [
            NewMessage(
                f"{alert.key}.ended{number}",
                f"{step.channel}:",
                remark_json(alert.task_id, Remark(f"{alert.key}.step{number}", text, edits=True)),
            )
            for alert in alerts
            for number, step in enumerate(self._chain[: alert.step])
            if step.is_chat
        ]
        if messages:
            await self._outbox.write(*messages)

    def _describe(self, alert: Alert) -> str:
        link = f"{self._panel_url}/#task={alert.task_id}" if self._panel_url else f"brain show {alert.task_id}"
        return f"{alert.text or alert.kind}\n{link}"


def open_escalation(store: DoorsStore, outbox: DoorsOutbox, doors: Doors, *, has_mail: bool) -> Escalation | None:
    """The chain of doors.toml; without one, a mail after five minutes, if mail is configured."""
    rules = doors.escalation
    chain = rules.chain or ([EscalationStep(channel="mail", after=_MAIL_AFTER)] if has_mail else [])
    if not chain:
        return None
    chain = sorted(chain, key=lambda step: step.after)
    alerts = Alerts(store, chain, parse_quiet(rules.quiet))
    return Escalation(alerts, outbox, chain, rules.on, _show_on_desktop, doors.panel_url)


async def _show_on_desktop(title: str, text: str) -> None:
    from sidecar.telemetry.notifier import find_notifier

    if (notifier := find_notifier()) is not None:
        await notifier.notify(title, text)
