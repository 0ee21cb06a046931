"""The chats that are configured: their channels, and what runs as long as the process does."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from sidecar.doors.chat.channel import ChatChannel
from sidecar.doors.chat.messages import ChatMessages
from sidecar.doors.chat.port import Messenger
from sidecar.doors.deliveries import Arrival, Deliveries
from sidecar.doors.settings import DoorsError, load_doors
from sidecar.doors.store import DoorsStore


@dataclass(slots=True)
class Chats:
    messages: ChatMessages
    panel_url: str
    channels: list[ChatChannel] = field(default_factory=list)
    loops: list[Callable[[], Coroutine[Any, Any, None]]] = field(default_factory=list)
    _messengers: list[Messenger] = field(default_factory=list)

    def add(self, service: str, messenger: Messenger) -> None:
        channel = ChatChannel(service, messenger, self.messages, self.panel_url)
        self.channels.append(channel)
        self.loops.append(channel.show_progress)
        self._messengers.append(messenger)

    def start(self) -> list["asyncio.Task[None]"]:
        return [asyncio.create_task(run()) for run in self.loops]

    async def close(self) -> None:
        for messenger in self._messengers:
            await messenger.close()


class Inbox(NamedTuple):
    """Keeps what someone known sent."""

    keep: Callable[[Arrival], Awaitable[bool]]
    is_known: Callable[[str], bool]


def open_chats(
    store: DoorsStore,
    deliveries: Deliveries,
    config_dir: Path,
    environ: Mapping[str, str],
    wake: Callable[[], None],
) -> Chats:
    chats = Chats(ChatMessages(store), load_doors(config_dir).panel_url)

    async def keep(arrival: Arrival) -> bool:
        new = await deliveries.add(arrival)
        wake()
        return new

    if environ.get("BRAIN_SLACK_BOT_TOKEN"):
        _need("slack_sdk", "doors")
        _open_slack(chats, environ, Inbox(keep, _known(config_dir, "slack")))
    if environ.get("BRAIN_TELEGRAM_TOKEN"):
        _need("telegram", "telegram")
        _open_telegram(chats, environ, Inbox(keep, _known(config_dir, "telegram")))
    return chats


def _open_slack(chats: Chats, environ: Mapping[str, str], inbox: Inbox) -> None:
    from sidecar.doors.chat.slack import SlackMessenger, SlackSocket

    address = environ.get("BRAIN_SLACK_URL", "")
    chats.add("slack", SlackMessenger(environ["BRAIN_SLACK_BOT_TOKEN"], address))
    if app_token := environ.get("BRAIN_SLACK_APP_TOKEN", ""):
        chats.loops.append(SlackSocket(app_token, address, *inbox).run)


def _open_telegram(chats: Chats, environ: Mapping[str, str], inbox: Inbox) -> None:
    from sidecar.doors.chat.telegram import TelegramMessenger, TelegramPoll, open_bot

    connection = open_bot(environ["BRAIN_TELEGRAM_TOKEN"], environ.get("BRAIN_TELEGRAM_URL", ""))
    chats.add("telegram", TelegramMessenger(connection))
    chats.loops.append(TelegramPoll(connection.bot, *inbox).run)


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
