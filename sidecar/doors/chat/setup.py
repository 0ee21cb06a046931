"""The chats that are configured: their channels, and what runs as long as the process does."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

from sidecar.doors.chat.channel import ChatChannel
from sidecar.doors.chat.messages import ChatMessages
from sidecar.doors.deliveries import Arrival, Deliveries
from sidecar.doors.settings import DoorsError, load_doors
from sidecar.doors.store import DoorsStore


class _Closable(Protocol):
    async def close(self) -> None: ...


@dataclass(slots=True)
class Chats:
    messages: ChatMessages
    channels: list[ChatChannel] = field(default_factory=list)
    loops: list[Callable[[], Coroutine[Any, Any, None]]] = field(default_factory=list)
    _messengers: list[_Closable] = field(default_factory=list)

    def add(self, channel: ChatChannel, messenger: _Closable) -> None:
        self.channels.append(channel)
        self.loops.append(channel.show_progress)
        self._messengers.append(messenger)

    def start(self) -> list["asyncio.Task[None]"]:
        return [asyncio.create_task(run()) for run in self.loops]

    async def close(self) -> None:
        for messenger in self._messengers:
            await messenger.close()


def open_chats(
    store: DoorsStore,
    deliveries: Deliveries,
    config_dir: Path,
    environ: Mapping[str, str],
    wake: Callable[[], None],
) -> Chats:
    doors, chats = load_doors(config_dir), Chats(ChatMessages(store))

    async def keep(arrival: Arrival) -> bool:
        new = await deliveries.add(arrival)
        wake()
        return new

    if token := environ.get("BRAIN_SLACK_BOT_TOKEN", ""):
        _need("slack_sdk", "doors")
        _open_slack(chats, token, environ, doors.panel_url, keep, _known(config_dir, "slack"))
    if token := environ.get("BRAIN_TELEGRAM_TOKEN", ""):
        _need("telegram", "telegram")
        _open_telegram(chats, token, environ, doors.panel_url, keep, _known(config_dir, "telegram"))
    return chats


def _open_slack(
    chats: Chats,
    token: str,
    environ: Mapping[str, str],
    panel_url: str,
    keep: Callable[[Arrival], Awaitable[bool]],
    is_known: Callable[[str], bool],
) -> None:
    from sidecar.doors.chat.slack import SlackMessenger, SlackSocket

    address = environ.get("BRAIN_SLACK_URL", "")
    messenger = SlackMessenger(token, address)
    chats.add(ChatChannel("slack", messenger, chats.messages, panel_url), messenger)
    if app_token := environ.get("BRAIN_SLACK_APP_TOKEN", ""):
        chats.loops.append(SlackSocket(app_token, address, keep, is_known).run)


def _open_telegram(
    chats: Chats,
    token: str,
    environ: Mapping[str, str],
    panel_url: str,
    keep: Callable[[Arrival], Awaitable[bool]],
    is_known: Callable[[str], bool],
) -> None:
    from sidecar.doors.chat.telegram import TelegramMessenger, TelegramPoll, open_bot

    bot = open_bot(token, environ.get("BRAIN_TELEGRAM_URL", ""))
    messenger = TelegramMessenger(bot)
    chats.add(ChatChannel("telegram", messenger, chats.messages, panel_url), messenger)
    chats.loops.append(TelegramPoll(bot, keep, is_known).run)


def _known(config_dir: Path, service: str) -> Callable[[str], bool]:
    """Reads the file each time, so that a change needs no restart."""

    def is_known(person: str) -> bool:
        try:
            doors = load_doors(config_dir)
        except DoorsError:
            return False
        door = doors.slack if service == "slack" else doors.telegram
        return bool(person) and (person in door.allow or person in door.decide)

    return is_known


def _need(package: str, extra: str) -> None:
    if find_spec(package) is None:
        raise DoorsError(f"This door needs a package: pip install 'rainy-brain[{extra}]'")
