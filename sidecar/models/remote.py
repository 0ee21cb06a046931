"""What every model behind an SDK shares: it is limited, it does not raise, and its tokens have a price."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Iterator, Sequence
from typing import Protocol

from sidecar.models.characters import Characters, mended_reply
from sidecar.models.discretion import Discretion, Shown
from sidecar.models.history import encoded
from sidecar.models.limits import Length, Limits, timed
from sidecar.models.port import Delta, Failure, Reply, Request, Stop
from sidecar.models.prices import Price
from sidecar.wire.base import JsonObject
from sidecar.wire.tasks import Usage
from sidecar.wire.tools import ToolInfo


class Dialect(Protocol):
    """One provider's way of saying it. `parts` may raise whatever its SDK raises.

    While something comes that is not to be shown, such as a call's arguments, an empty delta is a sign of life.
    """

    def parts(self, request: Request) -> AsyncGenerator[Delta | Reply, None]: ...


class Remote:
    """`dialect` loads the SDK if it is the first to need it; `at_hand` says whether it is there already."""

    def __init__(
        self,
        provider: str,
        name: str,
        dialect: Callable[[], Dialect],
        limits: Limits,
        at_hand: Callable[[], bool] = lambda: True,
        holds: Callable[[], int | None] = lambda: None,
        discretion: Discretion | None = None,
    ) -> None:
        self.provider = provider
        self.name = name
        self._make = dialect
        self._at_hand = at_hand
        self._holds = holds
        self._discretion = discretion or Discretion()
        self._limits = limits
        self._dialect: Dialect | None = None

    @property
    def context_size(self) -> int | None:
        """How many tokens it holds, if anybody knows."""
        return self._holds()

    async def stream(self, request: Request) -> AsyncIterator[Delta | Reply]:
        try:
            if self._dialect is None:
                # An SDK takes half a second to load, in which everything else goes on.
                self._dialect = self._make() if self._at_hand() else await asyncio.to_thread(self._make)
            length, characters, shown = Length(self._limits), Characters(), Shown(self._discretion)
            async for part in timed(self._dialect.parts(request), self._limits):
                if isinstance(part, Reply):
                    for last in shown.rest():
                        yield last
                    yield self._discretion.reply(mended_reply(part))
                    continue
                length.add(part.text)
                said = shown.part(characters.whole(part))
                if said.text:
                    yield said
        except Exception as error:
            from sidecar.models.failures import failure_of  # many patterns, that a start need not wait for

            failure = failure_of(error, self.provider, self.name)
            yield self._discretion.reply(Reply(stop=Stop.FAILED, failure=failure))


def lively(deltas: Iterable[Delta]) -> Iterator[Delta]:
    """What came at once: all that is to be shown, or else one sign of life."""
    alive = shown = False
    for delta in deltas:
        alive = True
        if delta.text:
            shown = True
            yield delta
    if alive and not shown:
        yield Delta("")


class Words:
    """What was said and thought so far. It is joined when it is asked for: else it would be copied with every word."""

    def __init__(self) -> None:
        self._said: list[str] = []
        self._thought: list[str] = []

    @property
    def text(self) -> str:
        return "".join(self._said)

    @property
    def thinking(self) -> str:
        return "".join(self._thought)


class Head:
    """The part of a request that stays the same from turn to turn, written once."""

    def __init__(self) -> None:
        self._of: tuple[str, Sequence[ToolInfo]] | None = None
        self._written = b""

    def written(self, request: Request, fields: "HeadFields") -> bytes:
        of = (request.system, request.tools)
        if self._of is None or self._of[1] is not of[1] or self._of[0] != of[0]:
            # Without the closing brace: the messages follow.
            self._written = encoded(fields(request))[:-1]
            self._of = of
        return self._written


class HeadFields(Protocol):
    def __call__(self, request: Request) -> JsonObject: ...


def cut(what: str) -> Reply:
    failure = Failure(code="stream_cut", message=f"The reply of {what} broke off before its end.")
    return Reply(stop=Stop.FAILED, failure=failure)


def too_long(usage: Usage, text: str = "", thinking: str = "") -> Reply:
    """Cut off by the limit of tokens: whatever calls it had begun are not known to be whole."""
    message = "The model's reply was cut off at its limit of tokens. Ask for less at once, or raise model_reply_tokens."
    failure = Failure(code="reply_too_long", message=message, retry=False)
    return Reply(text=text, thinking=thinking, stop=Stop.LENGTH, usage=usage, failure=failure)


def no_room(model: str, usage: Usage) -> Reply:
    message = f"The conversation fills all that {model} can hold. Choose a model that holds more, and resume."
    return Reply(stop=Stop.FAILED, usage=usage, failure=Failure(code="context_overflow", message=message, retry=False))


def declined(provider: str, usage: Usage, why: str, text: str = "") -> Reply:
    message = f"{provider} declined to answer{f' ({why})' if why else ''}. Say it differently, or choose another model."
    failure = Failure(code="model_declined", message=message, retry=False)
    return Reply(text=text, stop=Stop.DECLINED, usage=usage, failure=failure)


def counted(price: Price | None, *, read: int, written: int, cached: int, cache_writes: int = 0) -> Usage:
    """`read` counts all that was read, `cached` and `cache_writes` the parts of it that have a price of their own."""
    # Some servers say less than nothing where they do not know.
    read, written, cached, cache_writes = (max(0, count) for count in (read, written, cached, cache_writes))
    if cached + cache_writes > read:
        # Some servers count what was cached apart from what was read.
        read += cached + cache_writes
    cost = price.cost(read - cached - cache_writes, written, cached, cache_writes) if price else 0.0
    return Usage(input_tokens=read, output_tokens=written, cached_tokens=cached, cost_usd=cost)
