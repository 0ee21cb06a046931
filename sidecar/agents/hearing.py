"""A model's reply, heard to its end."""

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass

from sidecar.models.port import Delta, Failure, Reply, Stop


@dataclass(frozen=True, slots=True)
class Heard:
    """A reply, and what the person had said just before it was asked for."""

    messages: Sequence[str]
    reply: Reply


async def collect(stream: AsyncIterator[Delta | Reply], show: Callable[[Delta], None]) -> Reply:
    """The whole reply. A stream that ends without one was cut: nothing of it is acted upon."""
    failure = Failure(code="stream_cut", message="The model's reply broke off before its end.")
    reply = Reply(stop=Stop.FAILED, failure=failure)
    async for part in stream:
        if isinstance(part, Reply):
            # Nothing comes after it, but the stream is heard to its end: then it has nothing left to tidy up.
            reply = part
        else:
            show(part)
    return reply
