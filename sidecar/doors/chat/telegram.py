"""Telegram by python-telegram-bot: messages, and deliveries by long polling, which needs no public address."""

import asyncio
import json
import logging
import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from sidecar.doors import telegram as door
from sidecar.doors.actions import Json, text_at
from sidecar.doors.chat.port import Drawn, Place
from sidecar.doors.deliveries import Arrival, DeliveriesFull
from sidecar.doors.http import NotSent

if TYPE_CHECKING:
    from telegram import Bot, InlineKeyboardMarkup
    from telegram.request import HTTPXRequest

log = logging.getLogger("brain.doors.telegram")

T = TypeVar("T")
URL = "https://api.telegram.org"
POLL_SECONDS = 30
_LONGEST_PAUSE = 60.0
#: Not sooner: someone else polls with the same token.
_CONFLICT_PAUSE = 30.0
_FULL_PAUSE = 5.0


class Connection(NamedTuple):
    """A bot that wasn't initialized closes nothing, and initializing it would need the network."""

    bot: "Bot"
    requests: "Sequence[HTTPXRequest]"

    async def close(self) -> None:
        for request in self.requests:
            await request.shutdown()


def open_bot(token: str, address: str = "") -> Connection:
    from telegram import Bot
    from telegram.request import HTTPXRequest

    base = (address or URL).rstrip("/").removesuffix("/bot")
    options: dict[str, Any] = {"httpx_kwargs": {"trust_env": False}}
    sending, polling = HTTPXRequest(**options), HTTPXRequest(**options, read_timeout=POLL_SECONDS + 10)
    bot = Bot(token, f"{base}/bot", f"{base}/file/bot", request=sending, get_updates_request=polling)
    return Connection(bot, (sending, polling))


class TelegramMessenger:
    #: Groups take about twenty messages and edits a minute.
    interval = 4.0
    longest = 4_000

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._bot = connection.bot

    async def post(self, place: Place, text: str, buttons: Sequence[Drawn], key: str) -> str:
        from telegram import LinkPreviewOptions, ReplyParameters

        answers = ReplyParameters(int(place.thread), allow_sending_without_reply=True) if place.thread else None
        sent = await _call(
            self._bot.send_message(
                place.chat,
                text,
                reply_markup=_keyboard(buttons),
                reply_parameters=answers,
                link_preview_options=LinkPreviewOptions(is_disabled=True),
            )
        )
        return str(sent.message_id)

    async def edit(self, place: Place, message: str, text: str, buttons: Sequence[Drawn]) -> None:
        try:
            await _call(self._bot.edit_message_text(text, place.chat, int(message), reply_markup=_keyboard(buttons)))
        except NotSent as problem:
            if "not modified" not in str(problem).lower():
                raise

    async def find(self, place: Place, key: str) -> str | None:
        """A bot can't read what it sent: a lost answer may cost a second message. Its buttons act once all the same."""
        return None

    async def close(self) -> None:
        await self._connection.close()


class TelegramPoll:
    """Receives deliveries until it is cancelled. Updates are confirmed by the next poll, once they are stored."""

    def __init__(self, bot: "Bot", keep: Callable[[Arrival], Awaitable[bool]], is_known: Callable[[str], bool]) -> None:
        self._bot = bot
        self._keep = keep
        self._is_known = is_known

    async def run(self) -> None:
        offset, failures = None, 0
        while True:
            try:
                offset = await self._poll(offset)
                failures = 0
            except NotSent as problem:
                if problem.again is None:
                    log.error("Telegram refuses the token: %s. Set BRAIN_TELEGRAM_TOKEN and start again.", problem)
                    await asyncio.Event().wait()
                failures += 1
                pause = min(_LONGEST_PAUSE, max(problem.again or 0, 2.0 ** min(failures, 6)))
                log.warning("no updates from Telegram; trying again in %.0f s: %s", pause, problem)
                await asyncio.sleep(pause)

    async def _poll(self, offset: int | None) -> int | None:
        updates = await _call(
            self._bot.get_updates(offset, timeout=POLL_SECONDS, allowed_updates=["message", "callback_query"])
        )
        for update in updates:
            payload: Json = update.to_dict()
            if self._is_known(door.person(payload)):  # strangers can't fill the store
                await self._store(str(update.update_id), payload)
            if pressed := text_at(payload, "callback_query.id"):
                await self._stop_spinner(pressed)
            offset = update.update_id + 1
        return offset

    async def _store(self, update_id: str, payload: Json) -> None:
        text = json.dumps(payload, sort_keys=True)
        try:
            await self._keep(Arrival("telegram", update_id, "", door.subject(payload), text.encode(), text))
        except (DeliveriesFull, sqlite3.Error) as error:
            # Unconfirmed, so Telegram sends it again.
            raise NotSent(f"an update can't be stored: {error or 'too many wait'}", _FULL_PAUSE) from error

    async def _stop_spinner(self, pressed: str) -> None:
        try:
            await _call(self._bot.answer_callback_query(pressed))
        except NotSent as problem:
            log.debug("%s", problem)


async def _call(work: Awaitable[T]) -> T:
    from telegram.error import BadRequest, Conflict, Forbidden, InvalidToken, NetworkError, RetryAfter, TelegramError

    try:
        return await work
    except RetryAfter as error:
        asked = error.retry_after
        raise NotSent(str(error), asked.total_seconds() if isinstance(asked, timedelta) else asked, 429) from error
    except Conflict as error:
        raise NotSent(str(error), _CONFLICT_PAUSE, 409) from error
    except (BadRequest, Forbidden, InvalidToken) as error:  # BadRequest is a NetworkError, too
        raise NotSent(str(error), None, 400) from error
    except NetworkError as error:
        raise NotSent(f"{type(error).__name__}: {error}", 1) from error
    except TelegramError as error:
        raise NotSent(str(error), None) from error


def _keyboard(buttons: Sequence[Drawn]) -> "InlineKeyboardMarkup | None":
    from telegram import InlineKeyboardButton, InlineKeyboardMarkup

    rows = [[InlineKeyboardButton(label, callback_data=token)] for label, token in buttons]
    return InlineKeyboardMarkup(rows) if rows else None
