"""The SDK's dispatcher, with a future for each call where the SDK opens a stream, a span and a clock.

Those cost as much as all that we do for a call, and we need none of them: the connection keeps the time limit, and the
caller sends its own trace. Imports the SDK, so only a connection that starts imports this.
"""

import asyncio
import math
from collections.abc import Mapping
from contextlib import AsyncExitStack
from functools import partial
from typing import Any, cast

import anyio
from mcp import Client, MCPError
from mcp.shared.dispatcher import CallOptions
from mcp.shared.jsonrpc_dispatcher import _ABANDON_WRITE_TIMEOUT, JSONRPCDispatcher, _Pending, _plan_outbound
from mcp_types import CONNECTION_CLOSED, ErrorData, JSONRPCRequest, RequestId


class CallDispatcher(JSONRPCDispatcher[Any]):  # type: ignore[misc]
    async def send_raw_request(
        self,
        method: str,
        params: Mapping[str, Any] | None,
        opts: CallOptions | None = None,
        *,
        _related_request_id: RequestId | None = None,
    ) -> dict[str, Any]:
        opts = opts or {}
        if opts.get("timeout") != math.inf or "request_id" in opts or self._closed or not self._running:
            answered: dict[str, Any] = await super().send_raw_request(
                method, params, opts, _related_request_id=_related_request_id
            )
            return answered
        plan = _plan_outbound(_related_request_id, opts)
        request_id = self._allocate_id()
        sent = dict(params or {})
        if (on_progress := opts.get("on_progress")) is not None:
            sent["_meta"] = {**(sent.get("_meta") or {}), "progressToken": request_id}
        answer = _Answer()
        self._pending[request_id] = _Pending(cast(Any, answer), cast(Any, None), on_progress)
        try:
            message = JSONRPCRequest(jsonrpc="2.0", id=request_id, method=method, params=sent)
            await self._write(message, plan.metadata)
            outcome = await answer.future
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            raise MCPError(code=CONNECTION_CLOSED, message="Connection closed") from None
        except asyncio.CancelledError:
            if plan.cancel_on_abandon:
                tell = partial(self._cancel_outbound, request_id, "caller cancelled", _related_request_id)
                name = f"cancel of request {request_id}"
                await self._final_write(tell, shield=True, timeout=_ABANDON_WRITE_TIMEOUT, describe=name)
            raise
        finally:
            self._pending.pop(request_id, None)
        if isinstance(outcome, ErrorData):
            raise MCPError(code=outcome.code, message=outcome.message, data=outcome.data)
        return outcome


class _Answer:
    """What the SDK's dispatcher asks of a stream."""

    def __init__(self) -> None:
        self.future: asyncio.Future[dict[str, Any] | ErrorData] = asyncio.get_running_loop().create_future()

    def send_nowait(self, outcome: dict[str, Any] | ErrorData) -> None:
        if not self.future.done():
            self.future.set_result(outcome)


def make_client(streams: Any, **options: Any) -> Client:
    async def connect(stack: AsyncExitStack, mode: object, raise_exceptions: bool) -> CallDispatcher:
        return CallDispatcher(*await stack.enter_async_context(streams))

    client = Client(streams, **options)
    client._connect = connect
    return client
