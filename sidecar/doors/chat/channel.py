"""One chat service as a channel: messages are kept in the outbox until the service has them; progress is not.

Progress edits one message, with only the newest state and not more often than the service likes.
"""

import asyncio
import contextlib
import json
import logging
import re
import time
from collections import defaultdict
from dataclasses import asdict

from sidecar.doors.actions import Json
from sidecar.doors.channels import ReportedTask
from sidecar.doors.chat.messages import ChatMessages, Posted
from sidecar.doors.chat.port import Button, Messenger, Place
from sidecar.doors.chat.render import STATUS, STOP, Progress, Remark, cut, remarks_of
from sidecar.doors.http import NotSent
from sidecar.doors.outbox import NewMessage, OutboxMessage

log = logging.getLogger("brain.doors")

_ENDED = ("completed", "failed", "cancelled", "escalated")
_MAX_TASKS = 1_000
#: A message or thread of the service; anything else in a subject is a name of ours.
_THREAD = re.compile(r"\d+(\.\d+)?")


class ChatChannel:
    """`service` is slack or telegram; its subjects are `slack:CHAT:THREAD`."""

    def __init__(self, service: str, messenger: Messenger, messages: ChatMessages, panel_url: str = "") -> None:
        self.prefix = f"{service}:"
        self._messenger = messenger
        self._messages = messages
        self._panel_url = panel_url.rstrip("/")
        self._loop = asyncio.get_running_loop()
        self._progress: dict[str, Progress] = {}
        self._changed: dict[str, float] = {}
        self._woken = asyncio.Event()
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    # -- what is said -----------------------------------------------------------------------------------------------

    def write(self, event: Json, task: ReportedTask) -> list[NewMessage]:
        if not task.subject.startswith(self.prefix):
            return []
        self._loop.call_soon_threadsafe(self._note, task.id, task.subject, event)
        return [
            NewMessage(f"{self.prefix}{task.id}.{event['seq']}.{number}", task.subject, remark_json(task.id, remark))
            for number, remark in enumerate(remarks_of(event))
        ]

    async def send(self, outgoing: OutboxMessage) -> None:
        said = json.loads(outgoing.body)
        remark = Remark(**{**said["remark"], "buttons": [Button(*each) for each in said["remark"]["buttons"]]})
        task_id = said["task"]
        text = cut(remark.text, self._messenger.longest, self._link(task_id))
        async with self._locks[outgoing.target]:
            if remark.edits:
                await self._replace(task_id, remark.name, text)
                return
            place = await self._place(outgoing.target)
            buttons = await self._messages.draw(outgoing.target, task_id, remark.name, remark.buttons)
            message = await self._messenger.find(place, outgoing.key) if outgoing.attempts else None
            message = message or await self._messenger.post(place, text, buttons, outgoing.key)
            alias = f"{self.prefix}{place.chat}:{message}"
            await self._messages.add(task_id, remark.name, Posted(outgoing.target, message), alias, remark.question)
        if len(self._locks) > _MAX_TASKS:
            self._locks.clear()

    async def _replace(self, task_id: str, name: str, text: str) -> None:
        """Buttons go: what they asked for is decided."""
        await self._messages.close_question(task_id, name)
        posted = await (self._messages.find_status(task_id) if name == STATUS else self._messages.find(task_id, name))
        if posted is None:  # it was never posted, or is too old
            return
        try:
            await self._messenger.edit(await self._place(posted.subject), posted.message, text, ())
        except NotSent as problem:
            if problem.again is not None:
                raise  # else someone deleted it

    async def _place(self, subject: str) -> Place:
        """A slash command has no thread: our first message begins one."""
        chat, _, thread = subject.removeprefix(self.prefix).partition(":")
        if thread and not _THREAD.fullmatch(thread):
            thread = await self._messages.first_of(subject)
        return Place(chat, thread)

    def _link(self, task_id: str) -> str:
        return f"{self._panel_url}/#task={task_id}" if self._panel_url else f"brain show {task_id}"

    # -- progress ---------------------------------------------------------------------------------------------------

    def _note(self, task_id: str, subject: str, event: Json) -> None:
        if event["type"] == "status" and event["status"] in _ENDED:
            self._progress.pop(task_id, None)
            self._changed.pop(task_id, None)
            return
        progress = self._progress.setdefault(task_id, Progress(subject))
        progress.fold(event)
        if len(self._progress) > _MAX_TASKS:
            self._progress.pop(next(iter(self._progress)))
        self._changed.setdefault(task_id, time.monotonic() + self._messenger.interval)
        self._woken.set()

    async def show_progress(self) -> None:
        """Runs until it is cancelled."""
        while True:
            self._woken.clear()
            due = min(self._changed.values(), default=None)
            pause = None if due is None else max(0.0, due - time.monotonic())
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._woken.wait()
            now = time.monotonic()
            for task_id in [each for each, at in self._changed.items() if at <= now]:
                self._changed.pop(task_id, None)
                await self._show(task_id)

    async def _show(self, task_id: str) -> None:
        posted = await self._messages.find_status(task_id)
        if posted is None:
            return
        async with self._locks[posted.subject]:
            progress = self._progress.get(task_id)  # not if it ended meanwhile
            if progress is None or (text := progress.render(task_id)) == progress.shown:
                return
            stop = await self._messages.draw(posted.subject, task_id, STATUS, (STOP,))
            text = cut(text, self._messenger.longest, self._link(task_id))
            try:
                await self._messenger.edit(await self._place(posted.subject), posted.message, text, stop)
                progress.shown = text
            except NotSent as problem:
                log.debug("progress of %s isn't shown: %s", task_id, problem)
                if problem.again is not None:
                    self._changed.setdefault(task_id, time.monotonic() + problem.again)


def remark_json(task_id: str, remark: Remark) -> str:
    return json.dumps({"task": task_id, "remark": asdict(remark)}, ensure_ascii=False)
