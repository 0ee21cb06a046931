"""Your messages to a task at work: which ones its agents have read, and which ones are still being written."""

import asyncio
import secrets
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sidecar.engine.state import RecordKind, UserMessage
from sidecar.journal.port import Record

if TYPE_CHECKING:
    from sidecar.engine.task_log import TaskLog


class Inbox:
    def __init__(self, log: "TaskLog") -> None:
        self._log = log
        state = log.state
        #: Messages that earlier rounds read, or that later ones were opened with.
        self._of_earlier_rounds = {each for message in state.messages for each in message.of or ()}
        for key, turn in state.turns.items():
            if key.round != state.current_round:
                self._of_earlier_rounds.update(turn.heard)
        self._read: set[str] = set()
        self._being_written = 0
        #: Set whenever something arrives from outside: a message, or the answer to an approval.
        self.arrived = asyncio.Event()

    def deliver(self, record: Record) -> None:
        """A record that was written from outside."""
        self._log.state.take(record)
        self.arrived.set()

    def catch_up(self, records: Sequence[Record]) -> None:
        """Deliver what other processes wrote: messages, answers, and what you decided about changes."""
        state = self._log.state
        messages = {message.id for message in state.messages}
        for record in records:
            match record.kind:
                case RecordKind.MESSAGE:
                    known = record.key in messages
                case RecordKind.ANSWER:
                    known = record.key in state.answers
                case RecordKind.QUESTION_ANSWER:
                    known = record.key in state.question_answers
                case RecordKind.REVOKED | RecordKind.HUNK:
                    known = False
                case _:
                    known = True
            if not known:
                self.deliver(record)

    async def wait(self) -> None:
        """Return when something has arrived since the last call."""
        self.arrived.clear()
        await self.arrived.wait()

    def messages(self) -> list[UserMessage]:
        """This round's messages, except the one that opened it."""
        earlier = self._of_earlier_rounds
        return [message for message in self._log.state.messages if not message.opens and message.id not in earlier]

    def unread(self, read: Collection[str]) -> list[UserMessage]:
        return [message for message in self.messages() if message.id not in read]

    def mark_read(self, ids: Collection[str]) -> list[UserMessage]:
        """The messages with these ids, which count as read from now on."""
        self._read.update(ids)
        messages = {message.id: message for message in self._log.state.messages}
        return [messages[each] for each in ids]

    @contextmanager
    def expect(self) -> Iterator[None]:
        """A message is being written; the task doesn't end before it has arrived."""
        self._log.flush()
        self._being_written += 1
        try:
            yield
        finally:
            self._being_written -= 1
            self.arrived.set()

    async def settle(self) -> None:
        """Return when no message is being written."""
        while self._being_written:
            await self.wait()

    async def open_round(self, done: Record, late: Sequence[UserMessage]) -> None:
        """Messages that came too late for this round open the next one."""
        text, of = "\n\n".join(message.text for message in late), [message.id for message in late]
        attached = [each for message in late for each in message.attachments or ()]
        opening = UserMessage(
            id=f"m_{secrets.token_hex(8)}",
            text=text,
            opens=True,
            of=of,
            attachments=attached or None,
            by_other=any(message.by_other for message in late) or None,
        )
        await self._log.append(records=[done, Record(RecordKind.MESSAGE, opening.id, opening.to_json())])
        self._of_earlier_rounds |= {*of, *self._read}
