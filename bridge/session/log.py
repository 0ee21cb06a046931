"""What a shell answered, by call id: it is asked again after a reconnect, and must not act again."""

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass

MOST_ANSWERS = 1_000
MOST_BYTES = 64 * 1024 * 1024
#: The ids of answers that were dropped are kept for longer: to answer "I no longer know" is better than to act twice.
MOST_DROPPED = 20_000
#: The mark of a call that was called off before it came: whatever it would have been, it is not run.
CALLED_OFF = 0


@dataclass(slots=True)
class Entry:
    #: What tells the call from another one that was given the same id by mistake.
    mark: int
    #: The frame that answered it; nothing while it runs.
    answer: str | None = None


class ResultLog:
    def __init__(self, most: int = MOST_ANSWERS, most_bytes: int = MOST_BYTES) -> None:
        self._most = most
        self._most_bytes = most_bytes
        self._entries: OrderedDict[str, Entry] = OrderedDict()
        self._dropped: OrderedDict[str, None] = OrderedDict()
        self._running = 0
        self._bytes = 0

    @property
    def running(self) -> int:
        return self._running

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def get(self, call_id: str) -> Entry | None:
        return self._entries.get(call_id)

    def dropped(self, call_id: str) -> bool:
        return call_id in self._dropped

    def begin(self, call_id: str, mark: int) -> None:
        self._entries[call_id] = Entry(mark)
        self._running += 1

    def answer(self, call_id: str, text: str) -> bool:
        """False if the call is not one that runs: it has its answer, and keeps it."""
        entry = self._entries.get(call_id)
        if entry is None or entry.answer is not None:
            return False
        entry.answer = text
        self._running -= 1
        self._bytes += len(text)
        self._entries.move_to_end(call_id)
        while len(self._entries) - self._running > self._most or self._bytes > self._most_bytes:
            self._drop_oldest()
        return True

    def _drop_oldest(self) -> None:
        call_id = next(call_id for call_id, entry in self._entries.items() if entry.answer is not None)
        self._bytes -= len(self._entries.pop(call_id).answer or "")
        self._dropped[call_id] = None
        if len(self._dropped) > MOST_DROPPED:
            self._dropped.popitem(last=False)
