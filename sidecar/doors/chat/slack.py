"""Slack by its own client: messages over the Web API, deliveries over Socket Mode, which needs no public address."""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

from sidecar.doors import slack
from sidecar.doors.actions import Json, text_at
from sidecar.doors.chat.port import Drawn, Place
from sidecar.doors.deliveries import Arrival
from sidecar.doors.http import NotSent

if TYPE_CHECKING:
    import aiohttp
    from slack_sdk.socket_mode.async_client import AsyncBaseSocketModeClient
    from slack_sdk.socket_mode.request import SocketModeRequest
    from slack_sdk.web.async_client import AsyncWebClient

log = logging.getLogger("brain.doors.slack")

URL = "https://slack.com"
_SECONDS = 20.0
_PASSING = frozenset({"internal_error", "fatal_error", "service_unavailable", "request_timeout", "team_added_to_org"})
_KIND = "rainy_brain"
_LABEL = 75
_LOOKED_AT = 100


def base_url(address: str) -> str:
    address = (address or URL).rstrip("/")
    return f"{address}/" if address.endswith("/api") else f"{address}/api/"


class SlackMessenger:
    interval = 3.0
    longest = 2_900

    def __init__(self, token: str, address: str = "") -> None:
        self._token = token
        self._address = base_url(address)
        self._session: aiohttp.ClientSession | None = None

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()

    async def post(self, place: Place, text: str, buttons: Sequence[Drawn], key: str) -> str:
        answer = await self._call(
            "chat.postMessage",
            channel=place.chat,
            **({"thread_ts": place.thread} if place.thread else {}),
            **_content(text, buttons),
            unfurl_links=False,
            unfurl_media=False,
            metadata={"event_type": _KIND, "event_payload": {"key": key}},
        )
        return text_at(answer, "ts")

    async def edit(self, place: Place, message: str, text: str, buttons: Sequence[Drawn]) -> None:
        await self._call("chat.update", channel=place.chat, ts=message, **_content(text, buttons))

    async def find(self, place: Place, key: str) -> str | None:
        method = "conversations.replies" if place.thread else "conversations.history"
        where: Json = {"channel": place.chat, "limit": _LOOKED_AT, "include_all_metadata": True}
        found = await self._call(method, **where, **({"ts": place.thread} if place.thread else {}))
        for message in found.get("messages") or ():
            if text_at(message, "metadata.event_payload.key") == key:
                return text_at(message, "ts")
        return None

    async def _call(self, method: str, **arguments: Any) -> Json:
        import aiohttp
        from slack_sdk.errors import SlackApiError

        try:
            answer = await self._web().api_call(method, json=arguments)
        except SlackApiError as error:
            raise _not_sent(method, error.response) from error
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise NotSent(f"{method}: {type(error).__name__}: {error}", 1) from error
        return answer.data if isinstance(answer.data, dict) else {}

    def _web(self) -> "AsyncWebClient":
        import aiohttp
        from slack_sdk.web.async_client import AsyncWebClient

        if self._session is None:
            limits = aiohttp.ClientTimeout(total=_SECONDS)
            self._session = aiohttp.ClientSession(timeout=limits, cookie_jar=aiohttp.DummyCookieJar())
        # No handlers: the outbox tries again, and remembers it over a restart.
        return AsyncWebClient(
            self._token, base_url=self._address, session=self._session, retry_handlers=[], timeout=int(_SECONDS)
        )


def _not_sent(method: str, response: Any) -> NotSent:
    code = str(response.get("error", "")) if isinstance(response.data, dict) else ""
    status = int(response.status_code or 0)
    why = f"{method} was answered {code or status}"
    if status == 429 or code == "ratelimited":
        named = str(response.headers.get("Retry-After", "30"))
        return NotSent(why, float(named[:6]) if named.isdigit() else 30.0, 429)
    return NotSent(why, 1.0 if status >= 500 or code in _PASSING else None, status)


def _content(text: str, buttons: Sequence[Drawn]) -> Json:
    """Plain text in a block isn't interpreted; `text` is for notifications, and escaped."""
    blocks: list[Json] = [{"type": "section", "text": {"type": "plain_text", "text": text, "emoji": False}}]
    if buttons:
        drawn = [
            {
                "type": "button",
                "action_id": f"brain-{number}",
                "text": {"type": "plain_text", "text": label[:_LABEL], "emoji": False},
                "value": token,
            }
            for number, (label, token) in enumerate(buttons)
        ]
        blocks.append({"type": "actions", "elements": drawn})
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return {"text": escaped, "blocks": blocks}


class SlackSocket:
    """Receives deliveries until it is cancelled. Each is stored, then acknowledged: Slack repeats the others."""

    def __init__(
        self,
        app_token: str,
        address: str,
        keep: Callable[[Arrival], Awaitable[bool]],
        is_known: Callable[[str], bool],
    ) -> None:
        self._app_token = app_token
        self._address = base_url(address)
        self._keep = keep
        self._is_known = is_known

    async def run(self) -> None:
        from slack_sdk.socket_mode.aiohttp import SocketModeClient
        from slack_sdk.web.async_client import AsyncWebClient

        client = SocketModeClient(
            self._app_token, web_client=AsyncWebClient(base_url=self._address, logger=log), logger=log
        )
        client.socket_mode_request_listeners.append(self._receive)
        try:
            await client.connect()  # type: ignore[no-untyped-call]
            log.info("connected to Slack")
            await asyncio.Event().wait()  # it reconnects by itself
        finally:
            await client.close()  # type: ignore[no-untyped-call]

    async def _receive(self, client: "AsyncBaseSocketModeClient", request: "SocketModeRequest") -> None:
        from slack_sdk.socket_mode.response import SocketModeResponse

        payload: Json = dict(request.payload)
        is_command = request.type == "slash_commands"
        if not self._is_known(slack.person(payload)):
            # Strangers can't fill the store.
            response = {"text": "You may not give this bot tasks."} if is_command else None
            await client.send_socket_mode_response(SocketModeResponse(request.envelope_id, response))
            return
        named = text_at(payload, "event_id") or request.envelope_id
        text = json.dumps(payload, sort_keys=True)
        # If it can't be stored this raises, and the envelope stays unacknowledged.
        await self._keep(Arrival("slack", named, "", slack.subject("", payload), text.encode(), text))
        response = {"text": "Working on it."} if is_command else None
        await client.send_socket_mode_response(SocketModeResponse(request.envelope_id, response))
