"""Limits on a reply: idle time, total time, length, and the size of what a server sends."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

from sidecar.models.errors import Failure, ModelFailed
from sidecar.models.port import ModelTurn, Reply, Request, Stop, ToolTurn

#: More than the largest call that still gets an error message.
MAX_BYTES = 24_000_000


def endless_error() -> ModelFailed:
    message = f"The server sent more than {MAX_BYTES:,} bytes without end."
    return ModelFailed(Failure(code="reply_too_long", message=message, retry=False))


async def bound_errors(response: Any) -> None:
    """A `response` hook for httpx clients: caps error bodies, which the SDKs read whole."""
    if not response.is_success:
        kind: Any = type(response.stream)
        response.stream = _bounded(kind)(response.stream)


@cache
def _bounded(kind: Any) -> Any:
    # The library accepts only its own stream class.
    library: Any = next(each for each in kind.__mro__ if each.__name__ == "AsyncByteStream")

    class Bounded(library):  # type: ignore[misc]
        def __init__(self, stream: Any) -> None:
            self._stream = stream

        async def __aiter__(self) -> AsyncIterator[bytes]:
            length = 0
            async with aclosing(self._stream.__aiter__()) as pieces:
                async for piece in pieces:
                    length += len(piece)
                    if length > MAX_BYTES:
                        raise endless_error()
                    yield piece

        async def aclose(self) -> None:
            await self._stream.aclose()

    return Bounded


T = TypeVar("T")

#: A server that sends more characters per token ignores the token limit.
CHARACTERS_PER_TOKEN = 12
#: Identical calls with identical results count as a loop after this many.
MAX_REPEATS = 5


@dataclass(frozen=True, slots=True)
class Limits:
    #: Between two pieces; keep-alives don't count.
    idle_seconds: float = 120.0
    #: For the whole reply.
    reply_seconds: float = 900.0
    reply_tokens: int = 16_000
    #: Before the first piece; a local server may read a long prompt for minutes.
    first_seconds: float = 120.0
    #: How much a model that reasons should think: low, medium, high; empty for its own default.
    effort: str = ""


async def timed(parts: AsyncGenerator[T, None], limits: Limits) -> AsyncIterator[T]:
    watch = _Watchdog(limits)
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
                watch.received()
                yield part
        finally:
            watch.end()


class _Watchdog:
    """Interrupts a wait that takes too long. Uses one timer per reply, so small deltas cost nothing."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.current_task()
        self._end = self._loop.time() + limits.reply_seconds
        self._timeout = limits.first_seconds
        self._waiting = False
        self._overdue: Failure | None = None
        self._since = self._loop.time()
        self._timer = self._loop.call_at(self._seconds_until, self._check)

    def wait(self) -> None:
        self._waiting = True
        self._since = self._loop.time()

    def received(self) -> None:
        self._waiting = False
        self._timeout = self._limits.idle_seconds

    def end(self) -> None:
        self._waiting = False
        self._timer.cancel()

    def raise_if_overdue(self) -> None:
        self._waiting = False
        if self._overdue is not None and self._task is not None and self._task.uncancel() == 0:
            raise ModelFailed(self._overdue) from None

    @property
    def _seconds_until(self) -> float:
        return min(self._since + self._timeout, self._end)

    def _check(self) -> None:
        now = self._loop.time()
        if now < self._seconds_until or not self._waiting:
            # A piece arrived meanwhile, or the consumer is still busy with one.
            self._timer = self._loop.call_at(max(self._seconds_until, now + 0.1), self._check)
        elif self._task is not None:
            self._overdue = _timeout_failure(self._limits, self._timeout, over=now >= self._end)
            self._task.cancel()


class LengthLimit:
    """Stops a reply that runs past its token limit."""

    def __init__(self, limits: Limits) -> None:
        self._max_characters = limits.reply_tokens * CHARACTERS_PER_TOKEN
        self._count = 0

    def add(self, text: str) -> None:
        # Empty deltas count, too: endless keep-alives are not a reply.
        self._count += len(text) or 1
        if self._count > self._max_characters:
            message = f"The model went on for more than {self._max_characters:,} characters, past its token limit."
            raise ModelFailed(Failure(code="reply_too_long", message=message, retry=False))


def find_flaw(reply: Reply, request: Request) -> Failure | None:
    """Why a complete reply is useless: it is empty, or it repeats itself."""
    if reply.stop is Stop.END and not reply.text.strip() and not reply.calls:
        return Failure(code="empty_reply", message="The model gave an empty answer.")
    if reply.stop is Stop.TOOL_USE and _repeats(reply, request):
        message = (
            f"The model made the same call {MAX_REPEATS} times with the same result. "
            "Send a message that says what to do instead, or choose another model, and resume."
        )
        return Failure(code="repeats_itself", message=message, retry=False)
    return None


def _repeats(reply: Reply, request: Request) -> bool:
    wanted = [(call.tool, call.args) for call in reply.calls]
    turns = request.history[-2 * (MAX_REPEATS - 1) :]
    model_turns = [turn for turn in turns if isinstance(turn, ModelTurn)]
    tool_turns = [turn for turn in turns if isinstance(turn, ToolTurn)]
    if len(model_turns) < MAX_REPEATS - 1 or len(tool_turns) < MAX_REPEATS - 1:
        return False
    if any([(call.tool, call.args) for call in turn.calls] != wanted for turn in reversed(model_turns)):
        return False
    contents = [[result.content for result in turn.returns] for turn in tool_turns]
    return all(each == contents[0] for each in contents)


def _timeout_failure(limits: Limits, timeout: float, *, over: bool) -> Failure:
    if over:
        message = f"The model's reply was not complete after {limits.reply_seconds:g} seconds."
        return Failure(code="model_too_slow", message=message, retry=False)
    return Failure(code="model_silent", message=f"The model sent nothing for {timeout:g} seconds.")
