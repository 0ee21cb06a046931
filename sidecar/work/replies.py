"""Collects a model's streamed reply."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass

from sidecar.engine.state import UserMessage
from sidecar.models.errors import Failure
from sidecar.models.port import Delta, Reply, Stop


@dataclass(frozen=True, slots=True)
class CollectedReply:
    """A reply, and the messages that you sent just before the model was asked."""

    messages: Sequence[UserMessage]
    reply: Reply
    #: The limit, in tokens, that the history had; a resumed task leaves out the same.
    room: int | None = None


async def collect(
    stream: AsyncIterator[Delta | Reply],
    show: Callable[[Delta], None],
    keep_partial: Callable[[str], None] = lambda text: None,
) -> Reply:
    """Returns the whole reply. A stream that ends without one was cut off, and nothing in it is acted upon.

    If the reply fails or its reader is cancelled, the text so far goes to `keep_partial`: you may have read it.
    """
    reply: Reply | None = None
    texts: list[str] = []
    try:
        async for part in stream:
            if isinstance(part, Reply):
                # Nothing follows, but reading to the end lets the stream clean up.
                reply = part
                continue
            if part.kind == "text":
                if part.anew:
                    texts.clear()
                texts.append(part.text)
            show(part)
    except asyncio.CancelledError:
        keep_partial("".join(texts))
        raise
    if reply is None:
        failure = Failure(code="stream_cut", message="The model's reply broke off before its end.")
        reply = Reply(stop=Stop.FAILED, failure=failure)
    if reply.stop is Stop.FAILED and not reply.text:
        keep_partial("".join(texts))
    return reply
