"""`/mcp`: streamable HTTP for MCP clients, in both eras. The guard has checked host, origin and token before."""

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

if TYPE_CHECKING:
    from sidecar.client.service import BrainService

_MAX_SESSIONS = 64
_IDLE_SECONDS = 1_800.0
_START_SECONDS = 30.0


class McpEndpoint:
    """Built at the first request: most sidecars never get one. `url` is where our own API answers."""

    def __init__(self, url: str, max_body: int) -> None:
        self._url = url
        self._max_body = max_body
        self._manager: Any = None
        self._starting: asyncio.Task[None] | None = None
        self._ready = asyncio.Event()
        self._closing = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._starting is None:
            self._starting = asyncio.create_task(self._run(), name="mcp-endpoint")
        waiting = asyncio.create_task(self._ready.wait())
        await asyncio.wait((waiting, self._starting), timeout=_START_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        if self._manager is None or self._closing.is_set():
            await PlainTextResponse("The MCP server is not available.", 503)(scope, receive, send)
            return
        # The HTTP parser keeps blanks around a value, which are no part of it.
        headers = [(name, value.strip(b" \t")) for name, value in scope["headers"]]
        await self._manager.handle_request({**scope, "headers": headers}, receive, send)

    async def close(self) -> None:
        self._closing.set()
        if self._starting is not None:
            await asyncio.wait((self._starting,))

    async def _run(self) -> None:
        """One task enters and leaves the session manager, as it demands."""
        manager = await asyncio.to_thread(self._build)
        async with manager.run():
            self._manager = manager
            self._ready.set()
            await self._closing.wait()
            self._manager = None

    def _build(self) -> Any:
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        from sidecar.mcp.server import build_server

        server = build_server(self._connect)
        return StreamableHTTPSessionManager(
            server._lowlevel_server,
            session_idle_timeout=_IDLE_SECONDS,
            max_sessions=_MAX_SESSIONS,
            max_request_body_size=self._max_body,
        )

    async def _connect(self, headers: Mapping[str, str] | None) -> "BrainService":
        """With the token of the caller, so that no one may do more here than there."""
        from sidecar.client.service import BrainService

        token = str((headers or {}).get("authorization", "")).removeprefix("Bearer ").strip()
        return BrainService(self._url, token)
