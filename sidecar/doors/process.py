"""The process behind `brain doors`: receiver, dispatcher, chats, reports and sender over one store."""

import asyncio
import logging
import os
import random
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from sidecar.api.limits import ConnectionLimits
from sidecar.api.server import QuietServer, open_socket
from sidecar.api.streams import Streams
from sidecar.client.service import BrainService
from sidecar.doors.channels import Channel, WebhookChannel
from sidecar.doors.chat.answers import ChatAnswers
from sidecar.doors.chat.channel import ChatChannel
from sidecar.doors.chat.messages import ChatMessages
from sidecar.doors.chat.port import Messenger
from sidecar.doors.deliveries import Arrival, Deliveries
from sidecar.doors.dispatcher import DeliveryDispatcher
from sidecar.doors.escalation import open_escalation
from sidecar.doors.github_pulls import github_channels, open_github
from sidecar.doors.http import DoorsHttp, NotSent
from sidecar.doors.linear import LINEAR_URL, LinearApi
from sidecar.doors.linear_channel import LinearChannel
from sidecar.doors.linear_picker import LinearPicker, PickedIssues
from sidecar.doors.outbox import DoorsOutbox, OutboxMessage
from sidecar.doors.receiver import Receiver
from sidecar.doors.reports import Reports
from sidecar.doors.settings import DoorsError, load_doors, load_webhooks
from sidecar.doors.store import FILE, DoorsStore
from sidecar.doors.work_loop import WorkLoop

_CONNECTIONS = 2_048

# Two statements instead of an upsert: the conflict policy of the statement that fires a trigger also holds inside it.
_COUNT = """
    INSERT OR IGNORE INTO counts VALUES ('{what}', {door}, {state}, 0);
    UPDATE counts SET number = number + 1 WHERE what = '{what}' AND door = {door} AND state = {state};
"""
_ARRIVED = _COUNT.format(what="delivery", door="new.door", state="'received'")
_SETTLED = _COUNT.format(what="delivery", door="new.door", state="new.state")
_SENT = _COUNT.format(what="outgoing", door="''", state="new.state")

#: After the schemas of deliveries and outbox.
COUNTS = f"""
CREATE TABLE IF NOT EXISTS counts (
    what TEXT NOT NULL, door TEXT NOT NULL, state TEXT NOT NULL, number INTEGER NOT NULL,
    PRIMARY KEY (what, door, state)
) WITHOUT ROWID;
CREATE TRIGGER IF NOT EXISTS count_arrived AFTER INSERT ON deliveries BEGIN {_ARRIVED} END;
CREATE TRIGGER IF NOT EXISTS count_settled AFTER UPDATE OF state ON deliveries WHEN new.state != old.state
    BEGIN {_SETTLED} END;
CREATE TRIGGER IF NOT EXISTS count_sent AFTER UPDATE OF state ON outbox WHEN new.state != old.state BEGIN {_SENT} END;
"""

log = logging.getLogger("brain.doors")

MAX_ATTEMPTS = 12
_LONGEST_PAUSE = 3_600.0


class Sender:
    """Sends what is in the outbox: in order to each target, again after a failure, and given up in the end."""

    def __init__(self, outbox: DoorsOutbox, channels: Sequence[Channel]) -> None:
        self._outbox = outbox
        self._channels = channels
        self.loop = WorkLoop(outbox, self._send)
        outbox.on_write, outbox.prefixes = self.loop.wake, tuple(channel.prefix for channel in channels)

    async def _send(self, outgoing: OutboxMessage) -> None:
        try:
            channel = next((each for each in self._channels if outgoing.target.startswith(each.prefix)), None)
            if channel is None:
                raise NotSent("the door that it goes through is no longer configured", None)
            await self._outbox.begin(outgoing)
            await channel.send(outgoing)
            await self._outbox.settle(outgoing, "sent")
        except NotSent as problem:
            if problem.again is None or outgoing.attempts + 1 >= MAX_ATTEMPTS:
                await self._outbox.settle(outgoing, "dead", str(problem))
                log.error("gave up on %s for %s; it is kept: %s", outgoing.key, outgoing.target, problem)
            else:
                await self._outbox.postpone(outgoing, pause_before(outgoing.attempts, problem.again), str(problem))


def pause_before(attempts: int, asked: float) -> float:
    """Twice as long each time, never shorter than the server asks, and not at the same moment for all messages."""
    pause = min(_LONGEST_PAUSE, max(asked, 2.0 ** min(attempts, 20)))
    return pause * random.uniform(1.0, 1.25)  # noqa: S311 - spreads attempts, guards nothing


class DoorsProcess:
    def __init__(self, data_dir: Path, config_dir: Path, environ: Mapping[str, str]) -> None:
        doors = load_doors(config_dir)  # a file that can't be used is said at the start, not at the first delivery
        data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._store = DoorsStore(data_dir / FILE)
        self._deliveries = Deliveries(self._store)
        outbox = DoorsOutbox(self._store)
        self._store.create(COUNTS)

        def connect() -> BrainService:
            return BrainService.local(data_dir)

        self._http = DoorsHttp()
        api, self._github = open_github(self._http, self._store, doors.github, data_dir, environ)
        channels: list[Channel] = []
        if webhooks := load_webhooks(config_dir):
            channels.append(WebhookChannel(self._http, webhooks))
        if api is not None:
            channels += github_channels(api, self._github, outbox, connect)
        linear = None
        if token := environ.get("BRAIN_LINEAR_TOKEN", ""):
            linear = LinearApi(self._http, token, environ.get("BRAIN_LINEAR_URL") or LINEAR_URL)
            channels.append(LinearChannel(linear))
        self._chats = open_chats(self._store, self._deliveries, config_dir, environ, self._wake)
        channels += self._chats.channels
        mail = bool(environ.get("BRAIN_SMTP_URL") and environ.get("BRAIN_MAIL_TO"))
        if mail:
            from sidecar.doors.mail import open_mail

            channels.append(open_mail(environ))
        self._escalation = open_escalation(self._store, outbox, doors, has_mail=mail)
        channels += [self._escalation] if self._escalation else []
        if channels and find_spec("aiohttp") is None:
            raise DoorsError("To send anything, the doors need a package: pip install 'rainy-brain[doors]'")
        self._sender = Sender(outbox, channels)
        self._reports = Reports(outbox, self._deliveries, data_dir, channels)
        self._dispatcher = DeliveryDispatcher(self._deliveries, config_dir, connect, self._github, outbox)
        self._dispatcher.chat = ChatAnswers(self._chats.messages, connect)
        if self._escalation is not None:
            self._dispatcher.chat.acknowledge = self._escalation.acknowledge
        wake = self._dispatcher.loop.wake
        self._picker = None
        if linear is not None and doors.linear.pick is not None:
            self._picker = LinearPicker(
                linear, doors.linear.pick, self._deliveries, PickedIssues(self._store), connect, wake
            )
        receiver = Receiver(self._deliveries, config_dir, environ, wake)
        self._dispatcher.loop.idle = receiver.all_answered
        # Every peer is a stranger until its body is there; they share the limits of peers that are known elsewhere.
        limits = ConnectionLimits(lambda headers: True, strangers=_CONNECTIONS, connections=_CONNECTIONS)
        self._server = QuietServer(receiver, Streams(limit=0), 30, limits)

    def _wake(self) -> None:
        self._dispatcher.loop.wake()

    def stop(self) -> None:
        self._server.stop()

    async def run(self, host: str, port: int, on_ready: Callable[[str, int], None]) -> None:
        socket = open_socket(host, port)
        work = [asyncio.create_task(self._dispatcher.loop.run()), asyncio.create_task(self._sender.loop.run())]
        work += self._chats.start()
        if self._picker is not None:
            work.append(asyncio.create_task(self._picker.run()))
        if self._escalation is not None:
            work.append(asyncio.create_task(self._escalation.loop.run()))
        self._reports.start()
        serving = asyncio.create_task(self._server.serve([socket]))
        try:
            await self._server.listening.wait()
            on_ready(f"http://{host}:{socket.getsockname()[1]}", os.getpid())
            await asyncio.wait({*work, serving}, return_when=asyncio.FIRST_COMPLETED)
            for each in work:
                if each.done():
                    each.result()
        finally:
            self._server.stop()
            await serving
            self._reports.stop()
            for each in work:
                each.cancel()
            await asyncio.gather(*work, return_exceptions=True)
            await self._chats.close()
            await self._http.close()
            if self._github is not None:
                await self._github.works.close()
            await self._store.close()


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
