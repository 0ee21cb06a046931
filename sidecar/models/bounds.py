"""What a server sends has an end. A reply is counted where it is read; why there is none, the SDKs read as a whole,
however much it is: a server that never ends it would bring everything else to a stop."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from functools import cache
from typing import Any

from sidecar.models.errors import Unusable
from sidecar.models.port import Failure

#: More than the longest call that is still answered with a reason.
MOST_BYTES = 24_000_000


def endless() -> Unusable:
    message = f"The server sent more than {MOST_BYTES:,} bytes at a stretch, and did not come to an end."
    return Unusable(Failure(code="reply_too_long", message=message, retry=False))


async def bounded(response: Any) -> None:
    """For the `response` hook of an HTTP client, whichever of the two libraries its SDK stands on."""
    if not response.is_success:
        kind: Any = type(response.stream)
        response.stream = _bounded(kind)(response.stream)


@cache
def _bounded(kind: Any) -> Any:
    # Nothing but a stream of the library's own is listened to.
    library: Any = next(each for each in kind.__mro__ if each.__name__ == "AsyncByteStream")

    class Bounded(library):  # type: ignore[misc]
        def __init__(self, stream: Any) -> None:
            self._stream = stream

        async def __aiter__(self) -> AsyncIterator[bytes]:
            length = 0
            async with aclosing(self._stream.__aiter__()) as pieces:
                async for piece in pieces:
                    length += len(piece)
                    if length > MOST_BYTES:
                        raise endless()
                    yield piece

        async def aclose(self) -> None:
            await self._stream.aclose()

    return Bounded
