"""`/hooks/NAME`: check who sent a delivery, store it, answer. What it asks for is read later, by the dispatcher.

It has no router and no middleware: they cost more than everything that is done here.
"""

import asyncio
import json
import re
import sqlite3
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qs

from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocketClose

from sidecar.api.problems import problem, retry_later
from sidecar.doors import github, hooks, linear, slack
from sidecar.doors.actions import Json, text_at
from sidecar.doors.deliveries import Arrival, Deliveries, DeliveriesFull
from sidecar.doors.settings import DoorsError, load_hook, secret_of
from sidecar.doors.signatures import (
    BadSignature,
    check_github,
    check_linear,
    check_linear_age,
    check_plain,
    check_slack,
)
from sidecar.telemetry.correlation import HEADER

#: GitHub's largest events, such as pushes of many commits, are longer; none of those asks for anything.
MAX_BODY = 4 * 1024 * 1024
#: No delivery waits longer to be worked on because others arrive.
_LONGEST_WAIT = 1.0
_PREFIX = "/hooks/"
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_ACCEPTED = JSONResponse({"accepted": True}, 202)
_DUPLICATE = JSONResponse({"duplicate": True})


class _Sent(NamedTuple):
    event: str
    delivery_id: str
    subject: str
    payload: Json
    text: str


class _Disconnected(Exception):
    pass


class Receiver:
    """An ASGI application."""

    def __init__(
        self, deliveries: Deliveries, config_dir: Path, environ: Mapping[str, str], wake: Callable[[], None]
    ) -> None:
        self._deliveries = deliveries
        self._config_dir = config_dir
        self._environ = environ
        self._wake = wake
        #: Deliveries that have no answer yet.
        self._open = 0
        self._answered = asyncio.Event()
        self._answered.set()

    async def all_answered(self) -> None:
        """Returns when every delivery that arrived is answered, at the latest after a second."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_LONGEST_WAIT):
                await self._answered.wait()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await WebSocketClose()(scope, receive, send)
            return
        self._open += 1
        self._answered.clear()
        try:
            with suppress(_Disconnected):
                answer = await self._receive(scope, receive)
                await answer(scope, receive, send)
        finally:
            self._open -= 1
            if not self._open:
                self._answered.set()

    async def _receive(self, scope: Scope, receive: Receive) -> Response:
        name = scope["path"].removeprefix(_PREFIX)
        if name == scope["path"] or not _NAME.fullmatch(name):
            return problem(404, "not_found", "Only POST /hooks/NAME is served here.")
        if scope["method"] != "POST":
            return problem(405, "method_not_allowed", "A hook takes only POST.", headers={"Allow": "POST"})
        headers = {key.decode("latin-1"): value.decode("latin-1") for key, value in scope["headers"]}
        body = await _read(headers, receive)
        if body is None:
            return problem(413, "body_too_large", f"A delivery may have at most {MAX_BODY} bytes.")
        try:
            sent = self._check(name, headers, body)
        except BadSignature as error:
            return problem(401, "bad_signature", str(error))
        except (ValueError, RecursionError):
            return problem(400, "not_json", "The delivery is signed, but its body is not a JSON object.")
        except DoorsError:
            # The message names a file of this machine, which is nothing for the sender.
            return retry_later(503, "door_misconfigured", "This hook's file can't be used; `brain doors` logs why.", 60)
        if sent is None:
            return problem(404, "unknown_hook", "There is no such hook here, or it has no secret.")
        if name == "slack" and text_at(sent.payload, "type") == "url_verification":
            return JSONResponse({"challenge": text_at(sent.payload, "challenge")[:500]})
        trace = headers.get(HEADER, "")
        return await self._store(Arrival(name, sent.delivery_id, sent.event, sent.subject, body, sent.text, trace))

    async def _store(self, arrival: Arrival) -> Response:
        try:
            new = await self._deliveries.add(arrival)
        except DeliveriesFull:
            return retry_later(429, "too_many_deliveries", "Too many deliveries wait. Send it again.", 30)
        except sqlite3.Error:
            return retry_later(503, "not_stored", "The delivery could not be stored. Send it again.", 5)
        if not new:
            return _DUPLICATE
        self._wake()
        return _ACCEPTED

    def _check(self, name: str, headers: Mapping[str, str], body: bytes) -> _Sent | None:
        """What was sent; `None` if this door is closed. Nothing of the body is believed before its signature."""
        if name not in ("github", "linear", "slack"):
            return self._check_hook(name, headers, body)
        secret = secret_of(self._environ, name)
        if not secret:
            return None
        match name:
            case "github":
                check_github(secret, headers, body)
                event, (payload, text) = headers.get("x-github-event", "")[:100], parse_body(headers, body)
                named = headers.get("x-github-delivery", "")[:200]
                return _Sent(event, named, github.subject(event, payload), payload, text)
            case "linear":
                check_linear(secret, headers, body)
                payload, text = parse_body(headers, body)
                check_linear_age(payload.get("webhookTimestamp"), time.time())
                return _Sent("", headers.get("linear-delivery", "")[:200], linear.subject("", payload), payload, text)
            case _:
                check_slack(secret, headers, body, time.time())
                payload, text = parse_body(headers, body)
                return _Sent("", text_at(payload, "event_id")[:200], slack.subject("", payload), payload, text)

    def _check_hook(self, name: str, headers: Mapping[str, str], body: bytes) -> _Sent | None:
        hook = load_hook(self._config_dir, name)
        secret = self._environ.get(hook.secret, "") if hook is not None else ""
        if hook is None or not secret:
            return None
        check_plain(secret, headers.get(hook.header.lower(), ""), hook.prefix, body)
        payload, text = parse_body(headers, body)
        named = headers.get(hook.id_header.lower(), "")[:200] if hook.id_header else ""
        return _Sent("", named, hooks.subject(name, payload, hook), payload, text)


async def _read(headers: Mapping[str, str], receive: Receive) -> bytes | None:
    """The body; `None` if it is too long."""
    length = headers.get("content-length", "")
    if length.isdigit() and int(length) > MAX_BODY:
        return None
    body, more = bytearray(), True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise _Disconnected
        body += message.get("body", b"")
        if len(body) > MAX_BODY:
            return None
        more = message.get("more_body", False)
    return bytes(body)


def parse_body(headers: Mapping[str, str], body: bytes) -> tuple[Json, str]:
    """The JSON, parsed and as text. A form of GitHub or Slack has it in `payload`, a slash command plain fields."""
    text = body.decode("utf-8-sig")
    if "application/x-www-form-urlencoded" in headers.get("content-type", ""):
        fields = parse_qs(text, max_num_fields=200)
        if "payload" not in fields:
            plain = {name: values[0] for name, values in fields.items()}
            return plain, json.dumps(plain)
        text = fields["payload"][0]
    payload = json.loads(text)
    if not isinstance(payload, dict):
        raise ValueError("not an object")
    return payload, text
