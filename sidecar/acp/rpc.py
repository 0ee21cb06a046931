"""JSON-RPC 2.0 without I/O: lines in, effects out. Each side may call the other.

RpcError        an error answer of ours; `code` is JSON-RPC's or ACP's
└── Cancelled   the client cancelled this request
"""

import json
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]
RequestId = int | str

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
REQUEST_CANCELLED = -32800
NOT_FOUND = -32002

CANCEL_REQUEST = "$/cancel_request"


class RpcError(Exception):
    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class Cancelled(RpcError):
    def __init__(self) -> None:
        super().__init__(REQUEST_CANCELLED, "The request was cancelled.")


@dataclass(frozen=True, slots=True)
class Invoke:
    """Run a method of ours; `id` is None for a notification."""

    id: RequestId | None
    method: str
    params: Json


@dataclass(frozen=True, slots=True)
class Resolve:
    """The answer to a request of ours: a result, or an error."""

    id: RequestId
    result: Any = None
    error: RpcError | None = None


@dataclass(frozen=True, slots=True)
class CancelInvoke:
    """Stop a method that runs for this request."""

    id: RequestId


@dataclass(frozen=True, slots=True)
class Outgoing:
    line: str


Effect = Invoke | Resolve | CancelInvoke | Outgoing


class RpcSession:
    """Remembers which requests of ours are open; answers what isn't JSON-RPC by itself."""

    def __init__(self) -> None:
        self._last = 0
        self._open: set[RequestId] = set()

    def request(self, method: str, params: Json) -> tuple[RequestId, str]:
        self._last += 1
        self._open.add(self._last)
        return self._last, _encode(id=self._last, method=method, params=params)

    def withdraw(self, request_id: RequestId) -> str | None:
        """Tell the client that this request is no longer awaited; None if it was answered."""
        if request_id not in self._open:
            return None
        self._open.discard(request_id)
        return _encode(method=CANCEL_REQUEST, params={"requestId": request_id})

    def receive(self, line: str) -> Effect | None:
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            return Outgoing(failure(None, RpcError(PARSE_ERROR, "This line is not JSON.")))
        if not isinstance(message, dict):
            return Outgoing(failure(None, RpcError(INVALID_REQUEST, "A message is a JSON object.")))
        if "method" in message:
            return self._call(message)
        return self._answer(message)

    def _call(self, message: Json) -> Effect | None:
        method, params, request_id = message["method"], message.get("params") or {}, message.get("id")
        if not isinstance(method, str) or not isinstance(params, dict) or not isinstance(request_id, int | str | None):
            return Outgoing(failure(None, RpcError(INVALID_REQUEST, "A call has a method, params and an id.")))
        if method == CANCEL_REQUEST:
            cancelled = params.get("requestId")
            return CancelInvoke(cancelled) if isinstance(cancelled, int | str) else None
        return Invoke(request_id, method, params)

    def _answer(self, message: Json) -> Effect | None:
        request_id = message.get("id")
        if request_id not in self._open:
            return None  # a late answer to a request that we withdrew
        self._open.discard(request_id)
        if isinstance(error := message.get("error"), dict):
            code, text = error.get("code"), error.get("message")
            return Resolve(request_id, error=RpcError(code if isinstance(code, int) else INTERNAL_ERROR, str(text)))
        return Resolve(request_id, message.get("result"))


def notification(method: str, params: Json) -> str:
    return _encode(method=method, params=params)


def success(request_id: RequestId, result: object) -> str:
    return _encode(id=request_id, result=result)


def failure(request_id: RequestId | None, error: RpcError) -> str:
    return _encode(id=request_id, error={"code": error.code, "message": str(error)})


def _encode(**message: object) -> str:
    return json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False, separators=(",", ":"))
