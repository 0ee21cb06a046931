"""`/hooks/NAME`: check who sent a delivery, store it, answer. What it asks for is read later, by the dispatcher."""

import json
import re
import sqlite3
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qs

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from sidecar.api.problems import answer_exception, problem, retry_later
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

#: GitHub's largest events, such as pushes of many commits, are longer; none of those asks for anything.
MAX_BODY = 4 * 1024 * 1024
#: Deliveries that may wait to be worked on.
MAX_WAITING = 5_000
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")


class _Sent(NamedTuple):
    event: str
    delivery_id: str
    subject: str
    payload: Json


class Receiver:
    def __init__(
        self, deliveries: Deliveries, config_dir: Path, environ: Mapping[str, str], wake: Callable[[], None]
    ) -> None:
        self._deliveries = deliveries
        self._config_dir = config_dir
        self._environ = environ
        self._wake = wake
        self.app = Starlette(
            routes=[Route("/hooks/{name}", self._receive, methods=["POST"])],
            exception_handlers={404: answer_exception, 405: answer_exception},
        )

    async def _receive(self, request: Request) -> Response:
        name = request.path_params["name"]
        try:
            body = await _read(request)
            if body is None:
                return problem(413, "body_too_large", f"A delivery may have at most {MAX_BODY} bytes.")
            sent = self._check(name, request.headers, body)
        except ClientDisconnect:
            return Response(status_code=400)
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
        try:
            arrival = Arrival(name, sent.delivery_id, sent.event, sent.subject, body, sent.payload)
            new = await self._deliveries.add(arrival, MAX_WAITING)
        except DeliveriesFull:
            return retry_later(429, "too_many_deliveries", "Too many deliveries wait. Send it again.", 30)
        except sqlite3.Error:
            return retry_later(503, "not_stored", "The delivery could not be stored. Send it again.", 5)
        if not new:
            return JSONResponse({"duplicate": True})
        self._wake()
        return JSONResponse({"accepted": True}, 202)

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
                event, payload = headers.get("x-github-event", "")[:100], parse_body(headers, body)
                return _Sent(event, headers.get("x-github-delivery", "")[:200], github.subject(event, payload), payload)
            case "linear":
                check_linear(secret, headers, body)
                payload = parse_body(headers, body)
                check_linear_age(payload.get("webhookTimestamp"), time.time())
                return _Sent("", headers.get("linear-delivery", "")[:200], linear.subject("", payload), payload)
            case _:
                check_slack(secret, headers, body, time.time())
                payload = parse_body(headers, body)
                return _Sent("", text_at(payload, "event_id")[:200], slack.subject("", payload), payload)

    def _check_hook(self, name: str, headers: Mapping[str, str], body: bytes) -> _Sent | None:
        hook = load_hook(self._config_dir, name) if _NAME.fullmatch(name) else None
        secret = self._environ.get(hook.secret, "") if hook is not None else ""
        if hook is None or not secret:
            return None
        check_plain(secret, headers.get(hook.header.lower(), ""), hook.prefix, body)
        payload = parse_body(headers, body)
        named = headers.get(hook.id_header.lower(), "")[:200] if hook.id_header else ""
        return _Sent("", named, hooks.subject(name, payload, hook), payload)


async def _read(request: Request) -> bytes | None:
    """The body; `None` if it is too long."""
    length = request.headers.get("content-length", "")
    if length.isdigit() and int(length) > MAX_BODY:
        return None
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BODY:
            return None
    return bytes(body)


def parse_body(headers: Mapping[str, str], body: bytes) -> Json:
    """JSON, or a form: GitHub and Slack put the JSON in `payload`, a slash command sends plain fields."""
    if "application/x-www-form-urlencoded" not in headers.get("content-type", ""):
        return _json(body)
    fields = parse_qs(body.decode("utf-8", "replace"), max_num_fields=200)
    if "payload" in fields:
        return _json(fields["payload"][0].encode())
    return {name: values[0] for name, values in fields.items()}


def _json(body: bytes) -> Json:
    payload = json.loads(body)
    if not isinstance(payload, dict):
        raise ValueError("not an object")
    return payload
