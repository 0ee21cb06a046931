"""Chat services of our own: Slack with Socket Mode, and Telegram's Bot API, as far as their clients ask."""

import asyncio
import json
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from aiohttp import WSMsgType, web

from tests.waiting import SECONDS, until_true, wait_until

Json = dict[str, Any]


class ChatServer:
    """Runs in a thread of its own; `posts` and `edits` are what bots sent."""

    def __init__(self) -> None:
        self.posts: list[Json] = []
        self.edits: list[Json] = []
        self.calls: list[str] = []
        #: Answers to give instead, in order: status, headers, body.
        self.refusals: list[tuple[int, Json, Json]] = []
        #: Whether to answer at all; a post that isn't answered happened all the same.
        self.drop_answers = 0
        self.url = ""
        self._loop = asyncio.new_event_loop()
        self._serial = 0

    def next_number(self) -> int:
        self._serial += 1
        return self._serial

    def app(self) -> web.Application:
        raise NotImplementedError

    def call(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(SECONDS)

    @contextmanager
    def running(self) -> Iterator[None]:
        async def start() -> web.AppRunner:
            runner = web.AppRunner(self.app(), shutdown_timeout=1)
            await runner.setup()
            site = web.TCPSite(runner, "127.0.0.1", 0)
            await site.start()
            port = runner.addresses[0][1]
            self.url = f"http://127.0.0.1:{port}"
            return runner

        thread = threading.Thread(target=self._loop.run_forever)
        thread.start()
        runner = self.call(start())
        try:
            yield
        finally:
            self.call(runner.cleanup())
            self._loop.call_soon_threadsafe(self._loop.stop)
            thread.join()
            self._loop.close()

    def wait_for(self, found: Callable[[], Any], what: str) -> Any:
        wait_until(found, what=what)
        return found()

    def post_with(self, words: str) -> Json | None:
        return next((post for post in self.posts if words in text_of(post)), None)

    def edit_with(self, words: str) -> Json | None:
        return next((edit for edit in self.edits if words in text_of(edit)), None)

    async def refuse(self) -> web.Response | None:
        if not self.refusals:
            return None
        status, headers, body = self.refusals.pop(0)
        return web.json_response(body, status=status, headers=headers)


def text_of(message: Json) -> str:
    blocks = message.get("blocks")
    return str(blocks[0]["text"]["text"] if blocks else message["text"])


class SlackServer(ChatServer):
    def __init__(self) -> None:
        super().__init__()
        self.acknowledged: dict[str, Json] = {}
        self.tokens: set[str] = set()
        self._sockets: set[web.WebSocketResponse] = set()

    def app(self) -> web.Application:
        app = web.Application()
        app.router.add_post("/api/{method}", self._web)
        app.router.add_get("/socket", self._socket)
        return app

    async def _web(self, request: web.Request) -> web.StreamResponse:
        method = request.match_info["method"]
        self.calls.append(method)
        self.tokens.add(request.headers.get("Authorization", ""))
        if method == "apps.connections.open":
            return web.json_response({"ok": True, "url": f"{self.url.replace('http', 'ws')}/socket"})
        if (refusal := await self.refuse()) is not None:
            return refusal
        sent: Json = await request.json()
        match method:
            case "chat.postMessage":
                ts = f"1700000000.{self.next_number():06d}"
                self.posts.append({**sent, "ts": ts})
                if self.drop_answers:
                    self.drop_answers -= 1
                    assert request.transport
                    request.transport.close()
                return web.json_response({"ok": True, "ts": ts, "channel": sent["channel"]})
            case "chat.update":
                self.edits.append(sent)
                return web.json_response({"ok": True, "ts": sent["ts"]})
            case "conversations.history" | "conversations.replies":
                mine = [post for post in self.posts if post["channel"] == sent["channel"]]
                return web.json_response({"ok": True, "messages": mine})
        return web.json_response({"ok": False, "error": "unknown_method"})

    async def _socket(self, request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        await socket.send_json({"type": "hello", "num_connections": 1})
        self._sockets.add(socket)
        async for message in socket:
            if message.type == WSMsgType.TEXT:
                answer = json.loads(message.data)
                self.acknowledged[answer["envelope_id"]] = answer
        self._sockets.discard(socket)
        return socket

    def deliver(self, kind: str, payload: Json, envelope: str = "") -> str:
        """Sends an envelope and waits until it is acknowledged."""
        envelope = envelope or f"e{self.next_number()}"
        self.acknowledged.pop(envelope, None)
        wait_until(lambda: self._sockets, what="the socket")
        frame = {"type": kind, "envelope_id": envelope, "payload": payload, "accepts_response_payload": True}
        self.call(self._send(frame))
        wait_until(lambda: envelope in self.acknowledged, what="the acknowledgement")
        return envelope

    async def _send(self, frame: Json) -> None:
        for socket in list(self._sockets):
            await socket.send_json(frame)

    def command(self, text: str, person: str = "U1", channel: str = "C1", **more: Any) -> str:
        trigger = f"t{self.next_number()}"
        payload = {"command": "/brain", "text": text, "user_id": person, "channel_id": channel, "trigger_id": trigger}
        return self.deliver("slash_commands", payload, **more)

    def say(self, text: str, thread: str, person: str = "U1", channel: str = "C1") -> str:
        event = {"type": "message", "user": person, "channel": channel, "text": text, "thread_ts": thread}
        event["ts"] = f"1700000001.{self.next_number():06d}"
        return self.deliver("events_api", {"type": "event_callback", "event_id": f"E{event['ts']}", "event": event})

    def press(self, label: str, post: Json, person: str = "U1", channel: str = "C1") -> str:
        (button,) = [each for each in post["blocks"][1]["elements"] if each["text"]["text"] == label]
        return self.press_token(button["value"], person, channel)

    def press_token(self, token: str, person: str, channel: str) -> str:
        action = {"type": "button", "value": token, "action_ts": str(self.next_number())}
        payload = {"type": "block_actions", "user": {"id": person}, "channel": {"id": channel}, "actions": [action]}
        return self.deliver("interactive", payload)


class TelegramServer(ChatServer):
    token = "4711:telegram-canary-token"

    def __init__(self) -> None:
        super().__init__()
        self.updates: list[Json] = []
        self.confirmed = 0

    def app(self) -> web.Application:
        app = web.Application()
        app.router.add_post("/bot{token}/{method}", self._method)
        return app

    async def _method(self, request: web.Request) -> web.StreamResponse:
        assert request.match_info["token"] == self.token
        method = request.match_info["method"]
        self.calls.append(method)
        sent: Json = dict(await request.post()) if request.can_read_body else {}
        if method == "getUpdates":
            return await self._updates(int(sent.get("offset", 0)))
        if (refusal := await self.refuse()) is not None:
            return refusal
        if "reply_markup" in sent:
            sent["reply_markup"] = json.loads(sent["reply_markup"])
        match method:
            case "sendMessage" if sent["chat_id"] == "13":
                error = {"ok": False, "error_code": 403, "description": "Forbidden: bot was blocked by the user"}
                return web.json_response(error, status=403)
            case "sendMessage":
                number = 1_000 + self.next_number()
                self.posts.append({**sent, "message_id": number})
                return _ok(_message(sent, number))
            case "editMessageText":
                self.edits.append(sent)
                return _ok(_message(sent, int(sent["message_id"])))
        return _ok(True)

    async def _updates(self, offset: int) -> web.Response:
        self.confirmed = max(self.confirmed, offset)

        def due() -> list[dict[str, Any]]:
            return [update for update in self.updates if update["update_id"] >= max(offset, 1)]

        with suppress(TimeoutError):
            await until_true(due, seconds=2)
        return _ok(due()[:100])

    def deliver(self, **update: Any) -> int:
        """Adds an update and waits until it is confirmed."""
        number = self.next_number()
        self.updates.append({"update_id": number, **update})
        wait_until(lambda: self.confirmed > number, what="the confirmation")
        return number

    def say(self, text: str, person: int = 7, chat: int = 7, reply_to: int | None = None, kind: str = "private") -> int:
        number = self.next_number()
        message = {
            "message_id": number,
            "date": 1_700_000_000,
            "chat": {"id": chat, "type": kind},
            "from": {"id": person, "is_bot": False, "first_name": "x"},
            "text": text,
        }
        if reply_to is not None:
            message["reply_to_message"] = {
                "message_id": reply_to,
                "date": 1_700_000_000,
                "chat": {"id": chat, "type": kind},
            }
        self.deliver(message=message)
        return number

    def press(self, label: str, post: Json, person: int = 7, chat: int = 7) -> int:
        rows = post["reply_markup"]["inline_keyboard"]
        (button,) = [each for row in rows for each in row if each["text"] == label]
        return self.press_token(button["callback_data"], post["message_id"], person, chat)

    def press_token(self, token: str, message: int, person: int, chat: int) -> int:
        return self.deliver(
            callback_query={
                "id": str(self.next_number()),
                "chat_instance": "1",
                "from": {"id": person, "is_bot": False, "first_name": "x"},
                "message": {"message_id": message, "date": 1_700_000_000, "chat": {"id": chat, "type": "private"}},
                "data": token,
            }
        )


def _ok(result: Any) -> web.Response:
    return web.json_response({"ok": True, "result": result})


def _message(sent: Json, number: int) -> Json:
    return {
        "message_id": number,
        "date": 1_700_000_000,
        "chat": {"id": int(sent["chat_id"]), "type": "private"},
        "text": sent["text"],
    }
