"""Live text of a task for readers in other processes.

A process with readers of a task says so to all; the one that runs the task sends its live text to that process alone,
several times a second. It may lose some: then the rest of that message stays away, and the stored event has all of it.
"""

import asyncio
import json
import logging
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from pydantic import TypeAdapter, ValidationError

from sidecar.journal.errors import JournalError
from sidecar.journal.port import StoredEvent
from sidecar.journal.postgres.connection import LOST
from sidecar.wire.events import AnyEvent, DeltaEvent, Event, MessageEvent, ToolEvent, ToolOutputEvent

log = logging.getLogger(__name__)

#: How often a process says what its readers follow, and how long the others remember it.
ASK_SECONDS = 10.0
FORGET_SECONDS = 25.0
BATCH_SECONDS = 0.1
#: A notification holds 8,000 bytes. What a process sends to another at once has a limit, too.
PAYLOAD_BYTES = 7_000
BATCH_BYTES = 64 * 1024
MAX_FOLLOWED = 10_000
_PIECE = 1_000
_NAMES = 100
#: How many of the last stored events are looked through for messages that are complete.
_RECENT = 64

Live = DeltaEvent | ToolOutputEvent
Send = Callable[[str, str], Awaitable[None]]
_EVENT: TypeAdapter[Event] = TypeAdapter(AnyEvent)


@dataclass(slots=True)
class _Followed:
    """A task with readers here: how many, what they got of it, and which messages and calls are complete."""

    readers: int = 0
    seq: int = 0
    complete: set[str] = field(default_factory=set)
    #: Whether live text came from elsewhere.
    relayed: bool = False


class LiveRelay:
    """`show` offers an event to the readers here; `stored` and `drop` end live text; `so_far` is what there is here."""

    def __init__(
        self,
        schema: str,
        node: str,
        send: Send,
        show: Callable[[str, Event], None],
        stored: Callable[[str, Event], None],
        drop: Callable[[str], None],
        so_far: Callable[[str], Sequence[Event]],
    ) -> None:
        self._node = node
        self._prefix = f"brain_live_{schema}_"
        self.asking = f"brain_follow_{schema}"
        self.own = self._prefix + node
        self._send = send
        self._show = show
        self._stored = stored
        self._drop = drop
        self._so_far = so_far
        self._followed: dict[str, _Followed] = {}
        #: By task, the other processes that have readers of it, and until when.
        self._wanted: dict[str, dict[str, float]] = {}
        self._waiting: dict[str, list[tuple[str, Live]]] = {}
        self._broken: set[tuple[str, str, str]] = set()
        self._sending: asyncio.Task[None] | None = None
        self._repeating: asyncio.Task[None] | None = None

    # -- the process with readers ------------------------------------------------------------------------------------

    @contextmanager
    def following(self, task_id: str) -> Iterator[None]:
        followed = self._followed.get(task_id)
        if followed is None:
            followed = self._followed[task_id] = _Followed()
            self._ask_soon()
        followed.readers += 1
        try:
            yield
        finally:
            followed.readers -= 1
            if not followed.readers:
                del self._followed[task_id]
                if followed.relayed:
                    # The next reader gets it anew from the process that runs the task.
                    self._drop(task_id)

    def seen(self, task_id: str, events: Sequence[StoredEvent]) -> None:
        """Readers here got these stored events: live text that they contain is over."""
        followed = self._followed.get(task_id)
        if followed is None or not events:
            return
        # A later reader gets earlier events again, which end nothing that began since.
        fresh = [event for event in events[-_RECENT:] if (event.seq or 0) > followed.seq]
        followed.seq = max(followed.seq, events[-1].seq or 0)
        for event in fresh:
            if event.type in ("message", "tool", "retry", "status"):
                with suppress(ValidationError):
                    parsed = _EVENT.validate_json(event.data)
                    self._stored(task_id, parsed)
                    if (name := _completed(parsed)) is not None:
                        followed.complete.add(name)

    def _ask_soon(self) -> None:
        if self._repeating is not None:
            self._repeating.cancel()
        self._repeating = asyncio.create_task(self._ask_forever(), name="live-asking")

    async def _ask_forever(self) -> None:
        while self._followed:
            names = list(self._followed)[:MAX_FOLLOWED]
            for start in range(0, len(names), _NAMES):
                await self._try(self.asking, json.dumps([self._node, names[start : start + _NAMES]]))
            await asyncio.sleep(ASK_SECONDS)

    # -- the process that runs the task ------------------------------------------------------------------------------

    def wanted(self, task_id: str) -> bool:
        return task_id in self._wanted and bool(self._nodes(task_id))

    def offer(self, task_id: str, event: Event) -> None:
        """A live event of a task that runs here."""
        if isinstance(event, Live) and task_id in self._wanted:
            for node in self._nodes(task_id):
                self._enqueue(node, task_id, event)

    def written(self, task_id: str, events: Sequence[Event]) -> None:
        """What these events contain needn't be sent live any more."""
        done = {name for event in events if (name := _completed(event)) is not None} if self._waiting else set()
        if done:
            for node, waiting in self._waiting.items():
                self._waiting[node] = [each for each in waiting if each[0] != task_id or _name(each[1]) not in done]

    def _nodes(self, task_id: str) -> list[str]:
        now = time.monotonic()
        nodes = {node: until for node, until in self._wanted.get(task_id, {}).items() if until > now}
        if nodes:
            self._wanted[task_id] = nodes
        else:
            self._wanted.pop(task_id, None)
        return list(nodes)

    def _enqueue(self, node: str, task_id: str, event: Live) -> None:
        waiting = self._waiting.setdefault(node, [])
        if waiting and (joined := _joined(waiting[-1], task_id, event)) is not None:
            waiting[-1] = task_id, joined
        else:
            waiting.append((task_id, event))
        if self._sending is None or self._sending.done():
            self._sending = asyncio.create_task(self._send_soon(), name="live-sending")

    async def _send_soon(self) -> None:
        while any(self._waiting.values()):
            await asyncio.sleep(BATCH_SECONDS)
            waiting, self._waiting = self._waiting, {}
            for node, events in waiting.items():
                for payload in self._payloads(node, events):
                    await self._try(self._prefix + node, payload)

    def _payloads(self, node: str, events: Sequence[tuple[str, Live]]) -> Iterator[str]:
        room = BATCH_BYTES
        payload: list[str] = []
        size = 0
        for task_id, event in events:
            key = (node, task_id, _name(event))
            if key in self._broken and not event.whole:
                continue
            self._broken.discard(key)
            for piece in _pieces(task_id, event):
                length = len(piece.encode()) + 1
                room -= length
                if room < 0:
                    # A hole in the text would be worse than its end: the stored event brings it all.
                    if len(self._broken) > MAX_FOLLOWED:
                        self._broken.clear()
                    self._broken.add(key)
                    break
                if size + length > PAYLOAD_BYTES:
                    yield f"[{','.join(payload)}]"
                    payload, size = [], 0
                payload.append(piece)
                size += length
        if payload:
            yield f"[{','.join(payload)}]"

    # -- both --------------------------------------------------------------------------------------------------------

    def heard(self, channel: str, payload: str) -> None:
        try:
            if channel == self.asking:
                self._heard_asking(*json.loads(payload))
                return
            for task_id, data in json.loads(payload):
                self._heard_live(task_id, data)
        except (ValueError, TypeError) as error:
            log.debug("A notification made no sense: %s", error)

    def _heard_asking(self, node: str, task_ids: Sequence[str]) -> None:
        if node == self._node:
            return
        until = time.monotonic() + FORGET_SECONDS
        if len(self._wanted) > MAX_FOLLOWED:
            self._wanted.clear()
        for task_id in task_ids:
            known = self._wanted.setdefault(task_id, {})
            if known.get(node, 0.0) < time.monotonic():
                for event in self._so_far(task_id):
                    if isinstance(event, Live):
                        self._enqueue(node, task_id, event)
            known[node] = until

    def _heard_live(self, task_id: str, data: object) -> None:
        followed = self._followed.get(task_id)
        if followed is None:
            return
        event = _EVENT.validate_python(data)
        if isinstance(event, Live) and _name(event) not in followed.complete:
            followed.relayed = True
            self._show(task_id, event)

    async def _try(self, channel: str, payload: str) -> None:
        with suppress(JournalError, *LOST):
            await self._send(channel, payload)

    async def close(self) -> None:
        for task in (self._sending, self._repeating):
            if task is not None:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)


def _name(event: Live) -> str:
    return event.message_id if isinstance(event, DeltaEvent) else event.call_id


def _completed(event: Event) -> str | None:
    """The message or call whose live text ends with this stored event."""
    if isinstance(event, MessageEvent):
        return event.message_id
    if isinstance(event, ToolEvent) and event.status not in ("pending", "running"):
        return event.call_id
    return None


def _joined(last: tuple[str, Live], task_id: str, event: Live) -> Live | None:
    """Both texts as one event, if they belong together."""
    before = last[1]
    if last[0] != task_id or event.whole or len(before.text) > _PIECE:
        return None
    joined: Live = before.model_copy(update={"text": before.text + event.text})
    return joined if joined == event.model_copy(update={"text": joined.text, "whole": before.whole}) else None


def _pieces(task_id: str, event: Live) -> Iterator[str]:
    """As JSON, each small enough for a notification."""
    for start in range(0, max(len(event.text), 1), _PIECE):
        part = event.model_copy(
            update={"text": event.text[start : start + _PIECE], "whole": event.whole if start == 0 else None}
        )
        yield f"[{json.dumps(task_id)},{part.to_json()}]"
