"""The turns of a task's agents, as its log keeps them: a turn that is recorded is not asked for again."""

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from sidecar.engine.state import RecordKind, TurnRecord
from sidecar.engine.steps import CallKey, StepKey
from sidecar.models.port import Delta, Reply
from sidecar.wire.events import DeltaEvent, Event, MessageEvent

if TYPE_CHECKING:
    from sidecar.engine.budget import Budget
    from sidecar.engine.inbox import Inbox
    from sidecar.engine.task_log import TaskLog

#: A longer thought is cut in the task's events.
MAX_THINKING = 100_000


class Turns:
    def __init__(self, log: "TaskLog", budget: "Budget", inbox: "Inbox", goes_on_later: Callable[[], bool]) -> None:
        self._log = log
        self._budget = budget
        self._inbox = inbox
        #: Whether the task goes on at the next start, which asks again for a reply that is cut off now.
        self._goes_on_later = goes_on_later
        #: Where agents were stopped in an earlier run of the task, which you have resumed since.
        self._resumed = frozenset(log.state.stopped)
        self._branches: dict[StepKey, int] = {}
        #: When each turn that is being written began to think, and when it last did.
        self._thought: dict[StepKey, tuple[float, float]] = {}

    def find(self, key: StepKey) -> TurnRecord | None:
        turn = self._log.state.turns.get(key)
        if turn is not None:
            self._branches[key] = turn.branch
        return turn

    async def begin(self) -> None:
        """Return when the task may ask a model: within its budget, and not far ahead of the disk."""
        await self._budget.check()
        await self._log.wait_for_disk()

    def record(
        self,
        key: StepKey,
        agent: str,
        reply: Reply,
        read: Sequence[str],
        room: int | None,
        instructions: Sequence[str] = (),
        apart: bool = False,
        window: int | None = None,
        model: str = "",
    ) -> TurnRecord:
        """A failed reply is no checkpoint: a retry asks again. `window` is the model's, in tokens."""
        log = self._log
        turn = TurnRecord(
            heard=list(read),
            reply=reply,
            branch=log.state.branch,
            room=room,
            instructions=list(instructions) or None,
            apart=apart or None,
        )
        events: list[Event] = []
        if reply.text or reply.thinking:
            events.append(self._message(key, agent, reply.text, reply.thinking))
        self._budget.add(reply.usage)
        if any(vars(reply.usage).values()):
            events.append(self._budget.event(reply.usage, window, model, agent))
        records = []
        if turn.is_complete:
            log.state.turns[key] = turn
            records.append(log.record(RecordKind.TURN, key, turn.to_json()))
        # Its calls are written after it, and no call acts before its intent record is on disk.
        log.enqueue(*events, records=records, taken=True)
        self._branches[key] = turn.branch
        return turn

    def show(self, key: StepKey, agent: str, delta: Delta) -> None:
        """Show a part of a reply to current readers."""
        whole = True if delta.anew else None
        if delta.kind == "thinking":
            now = time.monotonic()
            self._thought[key] = self._thought.get(key, (now, now))[0], now
        self._log.live(
            DeltaEvent(
                message_id=str(key), role="assistant", agent=agent, text=delta.text, kind=delta.kind, whole=whole
            )
        )

    def keep_partial(self, key: StepKey, agent: str, text: str) -> None:
        """Keep the text of a reply that was cut off, since a reader may have seen it. It is no turn."""
        if text.strip() and not self._goes_on_later():
            self._log.enqueue(self._message(key, agent, text))

    def stop(self, key: StepKey) -> None:
        """The agent was stopped before it finished. If you resume the task, it takes this turn."""
        if key not in self._log.state.stopped:
            self._log.enqueue(records=[self._log.record(RecordKind.STOPPED, key, "")])

    def was_resumed_at(self, key: StepKey) -> bool:
        return key in self._resumed

    def call_id(self, key: StepKey, number: int) -> str:
        """The id of a turn's call: the same in every run of the task, another one on another branch.

        If a rewind lies between a turn and its calls, their outcomes don't count, and they are made again.
        """
        branch, current = self._branches.get(key, 0), self._log.state.branch
        call = str(CallKey(self._log.task_id, key, str(number), branch))
        if branch == current or call in self._log.state.outcomes:
            return call
        return str(CallKey(self._log.task_id, key, str(number), current))

    def _message(self, key: StepKey, agent: str, text: str, thinking: str = "") -> MessageEvent:
        began, ended = self._thought.pop(key, (0.0, 0.0))
        return MessageEvent(
            message_id=str(key),
            role="assistant",
            agent=agent,
            text=text,
            thinking=thinking[:MAX_THINKING] or None,
            thinking_ms=round((ended - began) * 1_000) if thinking and began else None,
        )
