"""Carries out what stored deliveries ask for: those of one subject in order, different subjects in parallel."""

import asyncio
import json
import logging
from collections.abc import Callable
from pathlib import Path

from sidecar.client.errors import ClientError, Refused
from sidecar.client.service import BrainService
from sidecar.doors import github, hooks, linear, slack, telegram
from sidecar.doors.actions import Action, Ignore, Json, Press, Reply, StartTask, StopTask
from sidecar.doors.chat.answers import ChatAnswers, People, Settled
from sidecar.doors.deliveries import Deliveries, Delivery
from sidecar.doors.settings import DoorsError, load_doors, load_hook
from sidecar.doors.work_loop import WorkLoop
from sidecar.telemetry.correlation import bind, trace_of

log = logging.getLogger("brain.doors")

#: About two hours in all; then the delivery is dead, and kept.
MAX_ATTEMPTS = 30
_LONGEST_PAUSE = 300.0
#: Someone else wrote the text, and nobody watches: it consents to nothing, and nothing waits.
_OPTIONS = {"author": "other", "unattended": True}


def conversation_of(subject: str) -> str:
    """The task itself says what it is about, so that reports find it whatever this process had time to note."""
    return f"door:{subject}"


class DeliveryDispatcher:
    """`connect` finds or starts the sidecar; it blocks, so it runs in a thread."""

    def __init__(self, deliveries: Deliveries, config_dir: Path, connect: Callable[[], BrainService]) -> None:
        self._deliveries = deliveries
        self._config_dir = config_dir
        self._connect = connect
        #: Set if a chat is configured.
        self.chat: ChatAnswers | None = None
        self.loop = WorkLoop(deliveries, self._work_on)

    async def _work_on(self, delivery: Delivery) -> None:
        with bind(trace_of(delivery.key), delivery=delivery.key):
            await self._act_on(delivery)

    async def _act_on(self, delivery: Delivery) -> None:
        try:
            action = self._read(delivery)
            await self._carry_out(delivery, action)
        except Refused as refusal:
            if refusal.status in (401, 409, 429, 503):
                await self._later(delivery, str(refusal))
            else:
                await self._deliveries.settle(delivery, "dead", str(refusal))
                log.warning("delivery %d from %s is refused: %s", delivery.id, delivery.door, refusal)
        except (ClientError, DoorsError, OSError) as error:
            await self._later(delivery, str(error))

    async def _later(self, delivery: Delivery, why: str) -> None:
        if delivery.attempts + 1 >= MAX_ATTEMPTS:
            await self._deliveries.settle(delivery, "dead", why)
            log.error("gave up on delivery %d from %s; it is kept: %s", delivery.id, delivery.door, why)
            return
        pause = min(_LONGEST_PAUSE, 2.0 ** min(delivery.attempts, 10))
        log.warning("delivery %d from %s waits %.0f s: %s", delivery.id, delivery.door, pause, why)
        await self._deliveries.postpone(delivery, pause, why)

    def _read(self, delivery: Delivery) -> Action:
        payload: Json = json.loads(delivery.payload)
        doors = load_doors(self._config_dir)
        match delivery.door:
            case "github":
                return github.read_event(delivery.event, payload, doors.github)
            case "linear":
                return linear.read_event(delivery.event, payload, doors.linear)
            case "slack":
                return slack.read_event(delivery.event, payload, doors.slack)
            case "telegram":
                return telegram.read_event(payload, doors.telegram)
            case name:
                hook = load_hook(self._config_dir, name)
                return hooks.read_event(payload, hook) if hook else Ignore("its file was removed")

    async def _carry_out(self, delivery: Delivery, action: Action) -> None:
        task_id = await self._deliveries.task_of(delivery.subject)
        match action:
            case Ignore(why):
                await self._deliveries.settle(delivery, "ignored", why)
            case StopTask():
                if task_id is not None:
                    await asyncio.to_thread(self._stop, task_id)
                await self._deliveries.settle(delivery, "done", "stopped", task_id)
            case Press() | Reply():
                settled = await self._answer(delivery, action, task_id)
                await self._deliveries.settle(delivery, *settled, task_id)
            case StartTask() if task_id is None:
                started = await asyncio.to_thread(self._start, delivery, action)
                await self._deliveries.settle(delivery, "done", "started", started)
            case StartTask(further=further):
                if further:
                    await asyncio.to_thread(self._say, task_id, further, delivery.key)
                await self._deliveries.settle(delivery, "done" if further else "ignored", "has a task", task_id)

    async def _answer(self, delivery: Delivery, action: Press | Reply, task_id: str | None) -> Settled:
        if self.chat is None:
            return Settled("ignored", "no chat is configured")
        doors = load_doors(self._config_dir)
        door = doors.slack if delivery.door == "slack" else doors.telegram
        people = People(door.allow, door.decide)
        if isinstance(action, Press):
            return await self.chat.press(action, people)
        return await self.chat.reply(action, task_id, people, delivery.key)

    def _start(self, delivery: Delivery, action: StartTask) -> str:
        """The delivery's key gives the same task again if this process died before it noted the task."""
        options = {**_OPTIONS, **action.options, "conversationId": conversation_of(delivery.subject)}
        return self._connect().execute(action.text, workspace=action.workspace, key=delivery.key, **options).id

    def _say(self, task_id: str, text: str, key: str) -> None:
        self._connect().task(task_id).message(text, key=key)

    def _stop(self, task_id: str) -> None:
        try:
            self._connect().task(task_id).cancel()
        except Refused as refusal:
            if refusal.status != 409:  # it has ended
                raise
