"""The streamable HTTP transport, with answers of bounded size."""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from tools.mcp.entry import ServerEntry
from tools.mcp.stdio import MAX_MESSAGE

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams

#: Bytes of one answer that streams events.
_MAX_STREAM = 4 * MAX_MESSAGE
_CONNECT_SECONDS = 5.0


class HttpPeer:
    """A server that is no process of ours; we only see when it last sent something."""

    closed_because = ""
    error_output = ""

    def __init__(self) -> None:
        self.last_heard = time.monotonic()
        self.ended = asyncio.Event()

    def processor_seconds(self) -> float:
        return 0.0


@asynccontextmanager
async def http_streams(
    entry: ServerEntry, auth: Any = None, peer: HttpPeer | None = None
) -> "AsyncGenerator[TransportStreams, None]":
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    limits = httpx2.Timeout(30.0, connect=_CONNECT_SECONDS, read=entry.timeout + 30.0)
    bounded = _bounded_transport(peer or HttpPeer())
    async with (
        httpx2.AsyncClient(headers=dict(entry.headers), timeout=limits, auth=auth, transport=bounded) as client,
        streamable_http_client(entry.url, http_client=client, max_sse_event_size=MAX_MESSAGE) as streams,
    ):
        yield streams


def _bounded_transport(peer: HttpPeer) -> Any:
    import httpx2

    class BoundedBody(httpx2.AsyncHTTPTransport):  # type: ignore[misc]
        async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
            response = await super().handle_async_request(request)
            peer.last_heard = time.monotonic()
            streams = response.headers.get("content-type", "").startswith("text/event-stream")
            response.stream = CountedStream(response.stream, _MAX_STREAM if streams else MAX_MESSAGE)
            return response

    class CountedStream(httpx2.AsyncByteStream):  # type: ignore[misc]
        def __init__(self, stream: Any, most: int) -> None:
            self._stream = stream
            self._most = most

        async def __aiter__(self) -> AsyncIterator[bytes]:
            left = self._most
            async for chunk in self._stream:
                left -= len(chunk)
                peer.last_heard = time.monotonic()
                if left < 0:
                    raise httpx2.ReadError(f"the answer has more than {self._most // 2**20} MiB")
                yield chunk

        async def aclose(self) -> None:
            await self._stream.aclose()

    return BoundedBody()
