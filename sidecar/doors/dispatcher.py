"""Carries out what stored deliveries ask for: those of one subject in order, different subjects in parallel."""

import asyncio
import json
import logging
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from sidecar.client.errors import ClientError, Refused
from sidecar.client.follow import open_prompts, prompt_id
from sidecar.client.service import BrainService, Decision
from sidecar.doors import github, hooks, linear, slack, telegram
from sidecar.doors.actions import (
    Action,
    EndWork,
    Ignore,
    Json,
    Press,
    Reply,
    StartSchedule,
    StartTask,
    Steer,
    StopTask,
    list_at,
    text_at,
)
from sidecar.doors.chat.answers import ChatAnswers, People, Settled
from sidecar.doors.deliveries import Deliveries, Delivery
from sidecar.doors.github_pulls import GithubPulls
from sidecar.doors.http import NotSent
from sidecar.doors.linear_channel import first_thought
from sidecar.doors.outbox import DoorsOutbox, NewMessage
from sidecar.doors.settings import DoorsError, load_doors, load_hook
from sidecar.doors.work_loop import WorkLoop
from sidecar.telemetry.correlation import bind, trace_of
from sidecar.telemetry.logs import ACTIVITY

_YES = frozenset(("allow", "yes", "y", "ok", "approve", "approved"))
_NO = frozenset(("deny", "no", "n", "reject", "denied"))

log = logging.getLogger("brain.doors")
activity = logging.getLogger(ACTIVITY)
#: About two hours in all; then the delivery is dead, and kept.
MAX_ATTEMPTS = 30
_LONGEST_PAUSE = 300.0
#: Approvals that people answer through the door that the task came from.
_ASKING = ("ask", "edits")


def say(service: BrainService, task_id: str, text: str, key: str) -> None:
    """Answer what the task waits for, if the text is an answer to it; else send it as a message."""
    task = service.task(task_id)
    if task.state()["status"] == "waiting":
        asked = waiting_for(service.stored_events(task_id))
        try:
            if asked is not None and asked["type"] == "approval" and (decision := decide(text)) is not None:
                task.approve(prompt_id(asked), decision)
                return
            if asked is not None and asked["type"] == "question" and (answer := choose(asked, text)):
                task.answer(prompt_id(asked), answer)
                return
        except Refused as refusal:
            if refusal.status == 409:  # answered meanwhile, perhaps by this delivery before a crash
                return
            raise
    task.message(text, key=key, author="other")


def waiting_for(events: Sequence[Json]) -> Json | None:
    """The newest approval or question without an answer."""
    return next(reversed(open_prompts(events).values()), None)


def decide(text: str) -> Decision | None:
    """What the whole text says; anything longer than one word decides nothing."""
    word = text.strip().strip("`.!").lower()
    return "allow" if word in _YES else "deny" if word in _NO else None


def choose(question: Json, text: str) -> str:
    """One of its choices, whatever the case of its letters, or nothing; any text where it has none."""
    choices, said = list_at(question, "choices"), text.strip()
    if not choices:
        return said
    return next((str(each) for each in choices if str(each).lower() == said.lower()), "")


def conversation_of(subject: str) -> str:
    """The task itself says what it is about, so that reports find it whatever this process had time to note."""
    return f"door:{subject}"


def read_payload(text: str) -> Json:
    """JSON can hold lone surrogates, which neither a store nor a request takes: they become question marks."""
    payload: Json = json.loads(text)
    if "\\ud" in text.lower():
        payload = json.loads(json.dumps(payload, ensure_ascii=False).encode("utf-8", "replace"))
    return payload


class DeliveryDispatcher:
    """`connect` finds or starts the sidecar; it blocks, so it runs in a thread."""

    def __init__(
        self,
        deliveries: Deliveries,
        config_dir: Path,
        connect: Callable[[], BrainService],
        github: GithubPulls | None = None,
        outbox: DoorsOutbox | None = None,
    ) -> None:
        self._deliveries = deliveries
        self._github = github
        self._outbox = outbox
        self._config_dir = config_dir
        self._connect = connect
        #: Set if a chat is configured.
        self.chat: ChatAnswers | None = None
        self.loop = WorkLoop(deliveries, self._work_on)

    async def _work_on(self, delivery: Delivery) -> None:
        began = time.monotonic()
        with bind(trace_of(delivery.key, delivery.trace), delivery=delivery.key):
            await self._act_on(delivery)
            taken = round((time.monotonic() - began) * 1000, 2)
            fields = {"door": delivery.door, "event": delivery.event, "durationMs": taken}
            activity.info("delivery", extra={"fields": fields})

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
        except NotSent as refusal:
            await self._later(delivery, str(refusal))
        except (ClientError, DoorsError, OSError) as error:
            await self._later(delivery, str(error))
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            # A fault of ours, or a form that no sender has; one delivery must not end the doors.
            log.exception("delivery %d from %s can't be worked on; it is kept", delivery.id, delivery.door)
            await self._deliveries.settle(delivery, "dead", f"{type(error).__name__}: {error}")

    async def _later(self, delivery: Delivery, why: str) -> None:
        if delivery.attempts + 1 >= MAX_ATTEMPTS:
            await self._deliveries.settle(delivery, "dead", why)
            log.error("gave up on delivery %d from %s; it is kept: %s", delivery.id, delivery.door, why)
            return
        pause = min(_LONGEST_PAUSE, 2.0 ** min(delivery.attempts, 10))
        log.warning("delivery %d from %s waits %.0f s: %s", delivery.id, delivery.door, pause, why)
        await self._deliveries.postpone(delivery, pause, why)

    def _read(self, delivery: Delivery) -> Action:
        payload = read_payload(delivery.payload)
        doors = load_doors(self._config_dir)
        match delivery.door:
            case "github":
                return github.read_event(delivery.event, payload, doors.github)
            case "linear":
                repositories = {path: name for name, path in doors.github.repositories.items()}
                return linear.read_event(delivery.event, payload, doors.linear, repositories)
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
            case StartSchedule(name):
                started = await asyncio.to_thread(self._start_schedule, name, delivery.key)
                await self._deliveries.settle(delivery, "done", f"started schedule {name}", started)
            case StopTask():
                if task_id is not None:
                    await asyncio.to_thread(self._stop, task_id)
                await self._deliveries.settle(delivery, "done", "stopped", task_id)
            case Press() | Reply():
                settled = await self._answer(delivery, action, task_id)
                await self._deliveries.settle(delivery, *settled, task_id)
            case StartTask(pull=int()) if self._github is None:
                await self._deliveries.settle(delivery, "ignored", "reviews need a token for GitHub, and pull_requests")
            case StartTask() if task_id is None:
                if delivery.door == "linear" and self._outbox is not None:
                    await self._outbox.offer(first_thought(delivery.subject, delivery.key))
                workspace = await self._workspace(delivery, action)
                started = await asyncio.to_thread(self._start, delivery, action, workspace)
                await self._deliveries.settle(delivery, "done", "started", started)
            case StartTask(further=further) | Steer(text=further) if task_id is not None and further:
                if isinstance(action, Steer) and (why := await self._refusal(delivery, action)):
                    await self._deliveries.settle(delivery, "ignored", why, task_id)
                    return
                await self._workspace_again(delivery.subject)
                await asyncio.to_thread(self._say, delivery, task_id, further)
                await self._deliveries.settle(delivery, "done", "has a task", task_id)
            case StartTask() | Steer():
                await self._deliveries.settle(
                    delivery, "ignored", "no message to send, or no task to send it to", task_id
                )
            case EndWork(merged):
                await self._end_work(delivery, merged)

    async def _answer(self, delivery: Delivery, action: Press | Reply, task_id: str | None) -> Settled:
        if self.chat is None:
            return Settled("ignored", "no chat is configured")
        doors = load_doors(self._config_dir)
        door = doors.slack if delivery.door == "slack" else doors.telegram
        people = People(door.allow, door.decide)
        if isinstance(action, Press):
            return await self.chat.press(action, people)
        return await self.chat.reply(action, task_id, people, delivery.key)

    async def _workspace(self, delivery: Delivery, action: StartTask) -> str:
        """A clone where pull requests are wanted, else the workspace itself."""
        if self._github is None or not action.repository:
            return action.workspace
        return (await self._github.prepare(delivery.subject, action)).directory

    async def _workspace_again(self, subject: str) -> None:
        if self._github is not None:
            await self._github.prepare_again(subject)

    async def _refusal(self, delivery: Delivery, steer: Steer) -> str:
        """Why this may not steer the task; empty if it may."""
        work = await self._github.works.find(delivery.subject) if self._github else None
        if steer.head and (work is None or work.head != steer.head):
            return "not about the commit that we pushed last"
        if (
            steer.once
            and self._github
            and not await self._github.works.mark_once(delivery.subject, steer.once, delivery.key)
        ):
            return "one attempt was made"
        return ""

    async def _end_work(self, delivery: Delivery, merged: bool) -> None:
        work = await self._github.works.find(delivery.subject) if self._github else None
        if work is None or not work.branch or self._github is None:
            await self._deliveries.settle(delivery, "ignored", "not a pull request of ours")
            return
        task_id = await self._deliveries.task_of(delivery.subject)
        if task_id is not None:
            await asyncio.to_thread(self._stop, task_id)
        if merged and self._outbox is not None and delivery.subject.startswith("linear:"):
            await self._outbox.offer(NewMessage(f"linear.{delivery.key}", delivery.subject, '{"merged": true}'))
        await self._deliveries.forget(delivery.subject)
        await self._github.works.forget(delivery.subject)
        await self._deliveries.settle(delivery, "done", "merged" if merged else "closed")

    def _start(self, delivery: Delivery, action: StartTask, workspace: str) -> str:
        """The delivery's key gives the same task again if this process died before it noted the task."""
        # Someone else wrote the text, so it consents to nothing. Nothing waits unless the door asks.
        asks = action.options.get("approvals") in _ASKING
        given = {"author": "other", "unattended": not asks, **action.options}
        options = {**given, "conversationId": conversation_of(delivery.subject)}
        return self._connect().execute(action.text, workspace=workspace, key=delivery.key, **options).id

    def _start_schedule(self, name: str, key: str) -> str:
        """Refused while it runs or has spent its budget; then the delivery waits, like any that can't act yet."""
        answer = self._connect().post(f"/api/brain/schedules/{name}/start", {}, headers={"Idempotency-Key": key})
        return text_at(answer, "taskId")

    def _say(self, delivery: Delivery, task_id: str, text: str) -> None:
        """In a session of Linear, people who may steer may also answer what the task asks."""
        if delivery.door == "linear":
            say(self._connect(), task_id, text, delivery.key)
        else:
            self._connect().task(task_id).message(text, key=delivery.key, author="other")

    def _stop(self, task_id: str) -> None:
        try:
            self._connect().task(task_id).cancel()
        except Refused as refusal:
            if refusal.status != 409:  # it has ended
                raise
