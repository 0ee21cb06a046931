"""Checks Host, Origin, token, media type and size of every request before anything else sees it."""

import asyncio
import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from urllib.parse import parse_qs

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sidecar.api.identity import OWNER, Authenticate, Identity
from sidecar.api.problems import BodyTooLarge, problem

log = logging.getLogger(__name__)

BRIDGE_PATH = "/api/brain/bridge"
#: How often a stream's token is checked again.
REVOKED_SECONDS = 1.0
_OPEN_PATHS = frozenset({"/api/brain/session", "/api/brain/session/challenge", "/api/brain/session/proof"})
_WITH_BODY = frozenset({"POST", "PUT", "PATCH"})

_SCRIPTS = "script-src 'self'"
SECURITY_HEADERS = {
    "Content-Security-Policy": (
        f"default-src 'none'; {_SCRIPTS}; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'"
    ),
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class Guard:
    def __init__(
        self,
        app: ASGIApp,
        *,
        authenticate: Authenticate,
        redeem_ticket: Callable[[str], bool],
        hosts: Collection[str],
        origins: Collection[str],
        max_body: int,
        script_hash: str = "",
        scheme: str = "http",
    ) -> None:
        self._app = app
        self._authenticate = authenticate
        self._redeem_ticket = redeem_ticket
        self._hosts = frozenset(hosts)
        self._own = frozenset(f"{scheme}://{host}" for host in hosts)
        self._others = frozenset(origins)
        # An allowed origin, such as an editor's webview, may also show the panel in a frame.
        frames = " ".join(["frame-ancestors 'self'", *sorted(self._others)])
        scripts = f"script-src 'self' {script_hash}".rstrip()
        policy = f"{SECURITY_HEADERS['Content-Security-Policy'].replace(_SCRIPTS, scripts)}; {frames}"
        self._headers = _encode({**SECURITY_HEADERS, "Content-Security-Policy": policy})
        self._max_body = max_body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        origin = headers.get("origin")
        guarded = _WithHeaders(send, [*self._headers, *_encode(self._cors(origin))])
        answer = self._refusal(scope, headers, origin)
        if answer is not None:
            await answer(scope, receive, guarded)
        elif scope["type"] == "http" and scope["method"] == "GET" and _is_named(scope["identity"]):
            await self._while_allowed(scope, receive, guarded, headers)
        elif scope["type"] == "http":
            await self._app(scope, _Limited(receive, self._max_body), guarded)
        else:
            await self._app(scope, receive, send)

    async def _while_allowed(self, scope: Scope, receive: Receive, send: "_WithHeaders", headers: Headers) -> None:
        """End a stream whose token was revoked."""
        answering = asyncio.ensure_future(self._app(scope, _Limited(receive, self._max_body), send))
        try:
            while not (await asyncio.wait({answering}, timeout=REVOKED_SECONDS))[0]:
                if self._authenticate(headers.raw) != scope["identity"]:
                    log.info("Closed a stream of %s, whose token no longer works.", scope["identity"].name)
                    answering.cancel()
                    await asyncio.wait({answering})
                    await send({"type": "http.response.body", "body": b"", "more_body": False})
                    return
            await answering
        finally:
            answering.cancel()

    def _refusal(self, scope: Scope, headers: Headers, origin: str | None) -> Response | None:
        hosts = headers.getlist("host")
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            return problem(400, "bad_host", "The Host header doesn't name this sidecar.")
        if origin is not None and origin not in self._own and origin not in self._others:
            return problem(
                403,
                "bad_origin",
                f"Pages from {origin[:200]} may not call this sidecar. Allow them with `allowed_origins`.",
            )
        if scope["type"] == "http" and scope["method"] == "OPTIONS" and origin in self._others:
            return Response(status_code=204)
        # The routes decide by it what a named token may do.
        identity = scope["identity"] = self._authenticate(headers.raw)
        if _is_named(identity) and scope["path"] == BRIDGE_PATH:
            return problem(403, "not_allowed", "A shell connects with the sidecar's own token.")
        if _needs_token(scope["path"]) and not (identity or self._has_ticket(scope)):
            detail = "Send Authorization: Bearer TOKEN; the token file in the data directory holds the token."
            return problem(401, "unauthenticated", detail, headers={"WWW-Authenticate": "Bearer"})
        if scope["type"] == "http" and scope["method"] in _WITH_BODY:
            return self._body_refusal(headers)
        return None

    def _has_ticket(self, scope: Scope) -> bool:
        if scope["type"] != "websocket" or scope["path"] != BRIDGE_PATH:
            return False
        given = parse_qs(scope["query_string"].decode("latin-1")).get("ticket", [])
        return len(given) == 1 and self._redeem_ticket(given[0])

    def _body_refusal(self, headers: Headers) -> Response | None:
        length = headers.get("content-length", "0")
        if length.isdigit() and int(length) > self._max_body:
            return problem(413, "body_too_large", f"The body may be at most {self._max_body} bytes (`max_body_bytes`).")
        has_body = length != "0" or "transfer-encoding" in headers
        media_type = headers.get("content-type", "").partition(";")[0].strip().lower()
        # Some clients name a media type (aiohttp, `curl -d ''`) although they send nothing.
        if has_body and media_type != "application/json":
            return problem(415, "not_json", "The body must be JSON, sent as Content-Type: application/json.")
        return None

    def _cors(self, origin: str | None) -> dict[str, str]:
        if origin is None or origin not in self._others:
            return {}
        return {
            "Access-Control-Allow-Origin": origin,
            "Access-Control-Allow-Headers": "Authorization, Content-Type, Idempotency-Key, Last-Event-ID, traceparent",
            "Access-Control-Allow-Methods": "GET, POST, PUT, PATCH, DELETE",
            "Vary": "Origin",
        }


def _is_named(identity: Identity | None) -> bool:
    return identity is not None and identity != OWNER


def _needs_token(path: str) -> bool:
    return (path.startswith(("/api/", "/mcp/")) or path in ("/metrics", "/mcp")) and path not in _OPEN_PATHS


class _Limited:
    """Counts a body that comes without a length."""

    def __init__(self, receive: Receive, limit: int) -> None:
        self._receive = receive
        self._left = limit

    async def __call__(self) -> Message:
        message = await self._receive()
        self._left -= len(message.get("body", b""))
        if self._left < 0:
            raise BodyTooLarge
        return message


class _WithHeaders:
    def __init__(self, send: Send, headers: Sequence[tuple[bytes, bytes]]) -> None:
        self._send = send
        self._headers = headers

    async def __call__(self, message: Message) -> None:
        if message["type"] in ("http.response.start", "websocket.http.response.start"):
            headers = list(message.get("headers", ()))
            given = {name for name, _ in headers}
            message["headers"] = headers + [header for header in self._headers if header[0] not in given]
        await self._send(message)


def _encode(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.lower().encode(), value.encode("latin-1")) for name, value in headers.items()]
