"""Carries out what people do in a chat: press a button, reply in a thread. Who may is decided here, each time."""

import asyncio
from collections.abc import Awaitable, Callable, Collection
from typing import NamedTuple

from sidecar.client.errors import Refused
from sidecar.client.service import BrainService, Decision, TaskHandle
from sidecar.doors.actions import Press, Reply
from sidecar.doors.chat.messages import ChatMessages, StoredButton, chat_of


class People(NamedTuple):
    """Ids of a chat service: `allow` may start, steer and stop tasks; `decide` may also approve and answer."""

    allow: Collection[str]
    decide: Collection[str]

    def may_steer(self, person: str) -> bool:
        return person in self.allow or person in self.decide


class Settled(NamedTuple):
    """How a delivery ends: `done` or `ignored`, and why."""

    state: str
    note: str


class ChatAnswers:
    def __init__(self, messages: ChatMessages, connect: Callable[[], BrainService]) -> None:
        self._messages = messages
        self._connect = connect
        #: Ends an alert, once; set if there is a chain of places to tell.
        self.acknowledge: Callable[[str, str], Awaitable[bool]] | None = None

    async def press(self, press: Press, people: People) -> Settled:
        button = await self._messages.pressed(press.token)
        if button is None or chat_of(button.subject) != press.chat:
            return Settled("ignored", "no such button in that chat")
        if button.verb == "acknowledge" and self.acknowledge is not None and people.may_steer(press.person):
            first = await self.acknowledge(button.item, press.person)
            return Settled("done" if first else "ignored", f"acknowledged by {press.person}" if first else "too late")
        if press.person not in people.decide and not (button.verb == "stop" and press.person in people.allow):
            return Settled("ignored", f"{press.person} may not decide")
        return await self._once(lambda task: _carry_out(task, button, press.token), button.task_id, press.person)

    async def reply(self, reply: Reply, task_id: str | None, people: People, key: str) -> Settled:
        if task_id is None:
            return Settled("ignored", "no task is discussed there")
        if not people.may_steer(reply.person):
            return Settled("ignored", f"{reply.person} may not steer")
        if reply.text.lower() in ("stop", "cancel", "kill"):
            return await self._once(lambda task: task.cancel(), task_id, reply.person)
        question = await self._messages.open_question(task_id)
        if question and reply.person in people.decide:
            return await self._once(lambda task: task.answer(question, reply.text), task_id, reply.person)
        return await self._once(lambda task: task.message(reply.text, key=key, author="other"), task_id, reply.person)

    async def _once(self, act: Callable[[TaskHandle], None], task_id: str, person: str) -> Settled:
        """The sidecar takes each answer once; a later one finds it answered, or the task ended."""
        try:
            await asyncio.to_thread(lambda: act(self._connect().task(task_id)))
        except Refused as refusal:
            if refusal.status not in (404, 409):
                raise
            return Settled("ignored", f"{person} came too late: {refusal}")
        return Settled("done", f"by {person}")


def _carry_out(task: TaskHandle, button: StoredButton, token: str) -> None:
    match button.verb:
        case "allow" | "deny":
            decision: Decision = "allow" if button.verb == "allow" else "deny"
            task.approve(button.item, decision, "task" if button.choice == "task" else "once")
        case "answer":
            task.answer(button.item, button.choice)
        case "say":
            task.message(button.choice, key=f"button-{token}", author="other")
        case "stop":
            task.cancel()
