"""A model's reply, heard to its end."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass

from sidecar.models.port import Delta, Failure, Reply, Stop


@dataclass(frozen=True, slots=True)
class CollectedReply:
    """A reply, and what the person had said just before it was asked for."""

    messages: Sequence[str]
    reply: Reply


async def collect(
    stream: AsyncIterator[Delta | Reply], show: Callable[[Delta], None], cut: Callable[[str], None] = lambda text: None
) -> Reply:
    """The whole reply. A stream that ends without one was cut: nothing of it is acted upon.

    Whoever stops listening in the middle leaves words behind that somebody may have read, and so does a reply that
    failed on its way: they go to `cut`.
    """
    failure = Failure(code="stream_cut", message="The model's reply broke off before its end.")
    reply = Reply(stop=Stop.FAILED, failure=failure)
    words: list[str] = []
    try:
        async for part in stream:
            if isinstance(part, Reply):
                # Nothing comes after it, but the stream is heard to its end: then it has nothing left to tidy up.
                reply = part
                continue
            if part.kind == "text":
                if part.anew:
                    words.clear()
                words.append(part.text)
            show(part)
    except asyncio.CancelledError:
        cut("".join(words))
        raise
    if reply.stop is Stop.FAILED and not reply.text:
        cut("".join(words))
    return reply
