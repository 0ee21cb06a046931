"""Approvals and questions: ask you and wait, with the task's clock paused and its slot free for another task."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Literal

from sidecar.engine.state import RecordKind
from sidecar.journal.port import Record
from sidecar.wire.events import ApprovalEvent, QuestionEvent, StatusEvent
from sidecar.wire.tasks import Status
from tools.ledger import ApprovalPrompt, Question

if TYPE_CHECKING:
    from sidecar.engine.inbox import Inbox
    from sidecar.engine.task_log import TaskLog

_ACTIVE = frozenset({Status.RUNNING, Status.WAITING})


class Clock:
    """The time limits of a task and of its parts. They pause together while the task waits for you."""

    def __init__(self) -> None:
        self._limits: set[asyncio.Timeout] = set()
        #: How many seconds each paused limit has left.
        self._left: dict[asyncio.Timeout, float] = {}

    @asynccontextmanager
    async def limit(self, seconds: float | None) -> AsyncIterator[None]:
        """Raises `TimeoutError` after that time; pauses don't count."""
        async with asyncio.timeout(seconds) as limit:
            self._limits.add(limit)
            try:
                yield
            finally:
                self._limits.discard(limit)
                self._left.pop(limit, None)

    def pause(self) -> None:
        now = asyncio.get_running_loop().time()
        for limit in self._limits:
            if (ends := limit.when()) is not None and limit not in self._left:
                self._left[limit] = ends - now
                limit.reschedule(None)

    def resume(self) -> None:
        now = asyncio.get_running_loop().time()
        for limit, seconds in self._left.items():
            limit.reschedule(now + seconds)
        self._left.clear()


class Slots:
    """How many more tasks may run. A task that waits for you gives its slot to another."""

    def __init__(self, free: int, wake: Callable[[], None]) -> None:
        #: Below zero while tasks that waited go on beside those that took their slots.
        self.free = free
        self._wake = wake

    @property
    def available(self) -> bool:
        return self.free > 0

    def enter(self) -> None:
        self.free -= 1

    def leave(self) -> None:
        self.free += 1
        self._wake()


class Waits:
    """While a task waits for you, its status is `waiting`, its clock is paused and its slot is free."""

    def __init__(self, log: "TaskLog", slots: Slots, clock: Clock) -> None:
        self._log = log
        self._slots = slots
        self._clock = clock
        self._waiting = 0
        self._asking = 0

    @asynccontextmanager
    async def wait(self, reason: str) -> AsyncIterator[None]:
        """Parallel steps may wait at the same time: the first one pauses the clock, the last one resumes it."""
        await self._log.compare_and_set(StatusEvent(status=Status.WAITING, reason=reason), when=_ACTIVE)
        self._asking += 1
        try:
            with self.step_aside():
                yield
        finally:
            self._asking -= 1
        if not self._asking:
            await self._log.compare_and_set(StatusEvent(status=Status.RUNNING), when=_ACTIVE)

    @contextmanager
    def step_aside(self) -> Iterator[None]:
        """Leave slot and clock to other tasks, such as the parts of this one that it waits for."""
        self._waiting += 1
        if self._waiting == 1:
            self._slots.leave()
            self._clock.pause()
        try:
            yield
        finally:
            self._waiting -= 1
            if not self._waiting:
                self._slots.enter()
                self._clock.resume()


class Approvals:
    def __init__(self, log: "TaskLog", inbox: "Inbox", waits: Waits) -> None:
        self._log = log
        self._inbox = inbox
        self._waits = waits

    async def ask(self, prompt: ApprovalPrompt) -> Literal["allow", "deny"]:
        state = self._log.state
        prompt = self._distinct(prompt)
        approval = _approval_event(prompt)
        if (decision := self._standing_decision(approval)) is not None:
            return decision
        if prompt.id not in state.answers:
            if prompt.id not in state.approvals:
                record = Record(RecordKind.APPROVAL, prompt.id, approval.to_json())
                await self._log.append(approval, records=[record])
            else:
                await self._log.append()
            async with self._waits.wait(f"Waiting for your approval: {prompt.action}"):
                while prompt.id not in state.answers:
                    await self._inbox.wait()
        return state.answers[prompt.id].decision

    def _distinct(self, prompt: ApprovalPrompt) -> ApprovalPrompt:
        """The same call, but bound to something else, is another question: the earlier answer doesn't count."""
        asked = self._log.state.approvals.get(prompt.id)
        if asked is None or asked.binding == (prompt.binding or None):
            return prompt
        return prompt._replace(id=f"{prompt.id}:{prompt.binding[:12]}")

    def _standing_decision(self, approval: ApprovalEvent) -> Literal["allow", "deny"] | None:
        """Your answer for the whole task to exactly this act; a denial wins.

        An allowance for the workspace isn't looked up here: policy does that, and asks again once you revoke it.
        """
        state = self._log.state
        decisions = {
            answer.decision
            for key, answer in state.answers.items()
            if key in state.approvals
            and answer.scope != "once"
            and not (answer.scope == "workspace" and answer.decision == "allow" and approval.binding)
            and _act(state.approvals[key]) == _act(approval)
        }
        return "deny" if "deny" in decisions else "allow" if decisions else None


def _approval_event(prompt: ApprovalPrompt) -> ApprovalEvent:
    return ApprovalEvent(
        approval_id=prompt.id,
        call_id=prompt.call_id,
        tool=prompt.tool,
        action=prompt.action,
        argv=list(prompt.argv) if prompt.argv is not None else None,
        cwd=prompt.cwd,
        diff=prompt.diff,
        omitted_lines=prompt.omitted_lines or None,
        since=prompt.since,
        environment=list(prompt.environment) if prompt.environment is not None else None,
        binding=prompt.binding or None,
        why=prompt.why,
        state="requested",
    )


def _act(approval: ApprovalEvent) -> tuple[object, ...]:
    if approval.binding:
        return (approval.binding,)
    return approval.action, approval.argv, approval.cwd, approval.diff


class Questions:
    """A task that may not wait (`can_ask`) takes a question's safe choice at once."""

    def __init__(self, log: "TaskLog", inbox: "Inbox", waits: Waits, *, can_ask: bool) -> None:
        self._log = log
        self._inbox = inbox
        self._waits = waits
        self._can_ask = can_ask

    async def ask(self, question: Question) -> str:
        """The answer, which is durable when this returns."""
        state, asked = self._log.state, _event(question)
        events, records = [], []
        if question.id not in state.questions:
            events.append(asked)
            records.append(Record(RecordKind.QUESTION, question.id, asked.to_json()))
        if question.id not in state.question_answers and not self._can_ask:
            answered = answered_event(asked, question.safe, by="policy")
            events.append(answered)
            records.append(Record(RecordKind.QUESTION_ANSWER, question.id, answered.to_json()))
        await self._log.append(*events, records=records)
        if question.id not in state.question_answers:
            async with self._waits.wait(f"Waiting for your answer: {question.text}"):
                while question.id not in state.question_answers:
                    await self._inbox.wait()
        return state.question_answers[question.id]


def answered_event(asked: QuestionEvent, answer: str, by: str | None = None) -> QuestionEvent:
    return asked.model_copy(update={"state": "answered", "answer": answer, "by": by})


def _event(question: Question) -> QuestionEvent:
    return QuestionEvent(
        question_id=question.id, text=question.text, choices=list(question.choices) or None, state="asked"
    )
