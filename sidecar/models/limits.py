"""What a reply may take: time without a word, time in all, and length. A stream that never ends is ended here."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass
from typing import TypeVar

from sidecar.models.errors import Unusable
from sidecar.models.port import Failure, ModelTurn, Reply, Request, Stop, ToolTurn

T = TypeVar("T")

#: A word is a few characters: whoever sends more than this has not kept to the limit of tokens it was given.
CHARACTERS_A_TOKEN = 12
#: How often the very same calls may bring the very same results before it is called a loop.
SAME_AGAIN = 5


@dataclass(frozen=True, slots=True)
class Limits:
    #: Without a word in between; a keep-alive is no word.
    idle_seconds: float = 120.0
    #: From the request to the last word.
    reply_seconds: float = 900.0
    reply_tokens: int = 16_000
    #: Before the first word; a local server may read a long prompt for minutes.
    first_seconds: float = 120.0


async def timed(parts: AsyncGenerator[T, None], limits: Limits) -> AsyncIterator[T]:
    watch = _Watch(limits)
    async with aclosing(parts):
        try:
            while True:
                try:
                    watch.wait()
                    part = await anext(parts)
                except StopAsyncIteration:
                    return
                except asyncio.CancelledError:
                    watch.raise_if_overdue()
                    raise
                watch.heard()
                yield part
        finally:
            watch.end()


class _Watch:
    """Interrupts a wait that takes too long. One timer for a whole reply: a stream of many small words pays nothing."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.current_task()
        self._end = self._loop.time() + limits.reply_seconds
        self._patience = limits.first_seconds
        self._waiting = False
        self._overdue: Failure | None = None
        self._since = self._loop.time()
        self._timer = self._loop.call_at(self._until, self._look)

    def wait(self) -> None:
        self._waiting = True
        self._since = self._loop.time()

    def heard(self) -> None:
        self._waiting = False
        self._patience = self._limits.idle_seconds

    def end(self) -> None:
        self._waiting = False
        self._timer.cancel()

    def raise_if_overdue(self) -> None:
        self._waiting = False
        if self._overdue is not None and self._task is not None and self._task.uncancel() == 0:
            raise Unusable(self._overdue) from None

    @property
    def _until(self) -> float:
        return min(self._since + self._patience, self._end)

    def _look(self) -> None:
        now = self._loop.time()
        if now < self._until or not self._waiting:
            # Words came meanwhile, or whoever hears them is still at it.
            self._timer = self._loop.call_at(max(self._until, now + 0.1), self._look)
        elif self._task is not None:
            self._overdue = _too_slow(self._limits, self._patience, over=now >= self._end)
            self._task.cancel()


class Length:
    """How much was said. Whoever goes on past what was agreed on is interrupted."""

    def __init__(self, limits: Limits) -> None:
        self._most = limits.reply_tokens * CHARACTERS_A_TOKEN
        self._said = 0

    def add(self, text: str) -> None:
        # What is not shown counts as well: a sign of life, again and again, is no reply either.
        self._said += len(text) or 1
        if self._said > self._most:
            message = f"The model went on for more than {self._most:,} characters, past the limit that it was given."
            raise Unusable(Failure(code="reply_too_long", message=message, retry=False))


def flaw(reply: Reply, request: Request) -> Failure | None:
    """Why a reply that came whole is of no use: it says nothing, or it goes round in circles."""
    if reply.stop is Stop.END and not reply.text.strip() and not reply.calls:
        return Failure(code="empty_reply", message="The model answered with nothing.")
    if reply.stop is Stop.TOOL_USE and _goes_in_circles(reply, request):
        message = (
            f"The model asked for the same thing {SAME_AGAIN} times, and got the same answer each time. "
            "Send it a message that says what to do instead, or choose another model, and resume."
        )
        return Failure(code="repeats_itself", message=message, retry=False)
    return None


def _goes_in_circles(reply: Reply, request: Request) -> bool:
    wanted = [(call.tool, call.args) for call in reply.calls]
    turns = request.history[-2 * (SAME_AGAIN - 1) :]
    asked = [turn for turn in turns if isinstance(turn, ModelTurn)]
    answered = [turn for turn in turns if isinstance(turn, ToolTurn)]
    if len(asked) < SAME_AGAIN - 1 or len(answered) < SAME_AGAIN - 1:
        return False
    if any([(call.tool, call.args) for call in turn.calls] != wanted for turn in reversed(asked)):
        return False
    said = [[result.content for result in turn.returns] for turn in answered]
    return all(each == said[0] for each in said)


def _too_slow(limits: Limits, patience: float, *, over: bool) -> Failure:
    if over:
        message = f"The model's reply was not complete after {limits.reply_seconds:g} seconds."
        return Failure(code="model_too_slow", message=message, retry=False)
    return Failure(code="model_silent", message=f"The model said nothing for {patience:g} seconds.")
