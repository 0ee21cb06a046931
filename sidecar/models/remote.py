"""Common base of all models behind an SDK: limits, failures as data, prices."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Iterator, Sequence
from typing import Protocol

from sidecar.models.encoding import encode_json
from sidecar.models.errors import Failure
from sidecar.models.limits import LengthLimit, Limits, timed
from sidecar.models.port import Capabilities, Delta, Reply, Request, Stop
from sidecar.models.prices import Price
from sidecar.models.sanitize import KeyRedactor, RedactedStream, SurrogateBuffer, fix_reply
from sidecar.wire.base import JsonObject
from sidecar.wire.tasks import Usage
from sidecar.wire.tools import ToolInfo


class Dialect(Protocol):
    """One provider's format. `parts` may raise whatever the SDK raises.

    Yields an empty delta for pieces that aren't shown, such as a call's arguments, to keep the idle timer alive.
    """

    def parts(self, request: Request) -> AsyncGenerator[Delta | Reply, None]: ...


class Remote:
    """`dialect` loads the SDK on first use; `loaded` says whether that is done already."""

    def __init__(
        self,
        provider: str,
        name: str,
        dialect: Callable[[], Dialect],
        limits: Limits,
        loaded: Callable[[], bool] = lambda: True,
        context_size: Callable[[], int | None] = lambda: None,
        key_redactor: KeyRedactor | None = None,
    ) -> None:
        self.provider = provider
        self.name = name
        self._make = dialect
        self._loaded = loaded
        self._find_context_size = context_size
        self._key_redactor = key_redactor or KeyRedactor()
        self.limits = limits
        self._dialect: Dialect | None = None

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(context_tokens=self._find_context_size())

    async def stream(self, request: Request) -> AsyncIterator[Delta | Reply]:
        try:
            if self._dialect is None:
                # Loading an SDK takes half a second; don't block the loop.
                self._dialect = self._make() if self._loaded() else await asyncio.to_thread(self._make)
            length, characters, shown = LengthLimit(self.limits), SurrogateBuffer(), RedactedStream(self._key_redactor)
            async for part in timed(self._dialect.parts(request), self.limits):
                if isinstance(part, Reply):
                    for last in shown.rest():
                        yield last
                    yield self._key_redactor.reply(fix_reply(part))
                    continue
                length.add(part.text)
                delta = shown.part(characters.whole(part))
                if delta.text:
                    yield delta
        except Exception as error:
            from sidecar.models.failures import to_failure  # compiles many patterns; keep it out of the start

            failure = to_failure(error, self.provider, self.name)
            yield self._key_redactor.reply(Reply(stop=Stop.FAILED, failure=failure))


def visible_deltas(deltas: Iterable[Delta]) -> Iterator[Delta]:
    """The deltas with text, or one empty delta if there are none."""
    alive = shown = False
    for delta in deltas:
        alive = True
        if delta.text:
            shown = True
            yield delta
    if alive and not shown:
        yield Delta("")


class ReplyText:
    """Text and thinking as lists of pieces, joined on demand to avoid quadratic copying."""

    def __init__(self) -> None:
        self._text: list[str] = []
        self._thinking: list[str] = []

    @property
    def text(self) -> str:
        return "".join(self._text)

    @property
    def thinking(self) -> str:
        return "".join(self._thinking)


class RequestPrefix:
    """The part of the request body that stays the same from turn to turn, encoded once."""

    def __init__(self) -> None:
        self._of: tuple[str, Sequence[ToolInfo]] | None = None
        self._written = b""

    def render(self, request: Request, fields: "PrefixFields") -> bytes:
        of = (request.system, request.tools)
        if self._of is None or self._of[1] is not of[1] or self._of[0] != of[0]:
            # Without the closing brace: the messages follow.
            self._written = encode_json(fields(request))[:-1]
            self._of = of
        return self._written


class PrefixFields(Protocol):
    def __call__(self, request: Request) -> JsonObject: ...


def cut_reply(what: str) -> Reply:
    failure = Failure(code="stream_cut", message=f"The reply of {what} ended early.")
    return Reply(stop=Stop.FAILED, failure=failure)


def length_reply(usage: Usage, text: str = "", thinking: str = "") -> Reply:
    """A reply cut off at its token limit; its calls may be incomplete."""
    message = "The model's reply was cut off at its token limit. Ask for less at once, or raise model_reply_tokens."
    failure = Failure(code="reply_too_long", message=message, retry=False)
    return Reply(text=text, thinking=thinking, stop=Stop.LENGTH, usage=usage, failure=failure)


def overflow_reply(model: str, usage: Usage) -> Reply:
    message = f"The conversation fills the context window of {model}. Choose a model with a larger one, and resume."
    return Reply(stop=Stop.FAILED, usage=usage, failure=Failure(code="context_overflow", message=message, retry=False))


def declined_reply(provider: str, usage: Usage, why: str, text: str = "") -> Reply:
    message = f"{provider} declined to answer{f' ({why})' if why else ''}. Rephrase the task, or choose another model."
    failure = Failure(code="model_declined", message=message, retry=False)
    return Reply(text=text, stop=Stop.DECLINED, usage=usage, failure=failure)


def count_usage(price: Price | None, *, read: int, written: int, cached: int, cache_writes: int = 0) -> Usage:
    """`read` counts all input tokens; `cached` and `cache_writes` are parts of it with their own price."""
    # Some servers report negative counts for unknown.
    read, written, cached, cache_writes = (max(0, count) for count in (read, written, cached, cache_writes))
    if cached + cache_writes > read:
        # Some servers exclude cached tokens from the input count.
        read += cached + cache_writes
    cost = price.cost(read - cached - cache_writes, written, cached, cache_writes) if price else 0.0
    return Usage(input_tokens=read, output_tokens=written, cached_tokens=cached, cost_usd=cost)
