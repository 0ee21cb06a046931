"""The process behind `brain doors`: receiver, dispatcher, reports and sender over one store."""

import asyncio
import os
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path

from sidecar.api.limits import ConnectionLimits
from sidecar.api.server import QuietServer, open_socket
from sidecar.api.streams import Streams
from sidecar.client.service import BrainService
from sidecar.doors.channels import Channel
from sidecar.doors.chat.answers import ChatAnswers
from sidecar.doors.chat.setup import open_chats
from sidecar.doors.counts import COUNTS
from sidecar.doors.deliveries import Deliveries
from sidecar.doors.dispatcher import DeliveryDispatcher
from sidecar.doors.github_api import GithubApi, GithubAuth
from sidecar.doors.github_comments import GithubComments
from sidecar.doors.http import DoorsHttp
from sidecar.doors.outbox import DoorsOutbox
from sidecar.doors.receiver import Receiver
from sidecar.doors.reports import Reports
from sidecar.doors.sender import Sender
from sidecar.doors.settings import GITHUB_URL, DoorsError, load_doors, load_webhooks
from sidecar.doors.store import DoorsStore
from sidecar.doors.webhooks import WebhookChannel

FILE = "doors.db"
_CONNECTIONS = 2_048


class DoorsProcess:
    def __init__(self, data_dir: Path, config_dir: Path, environ: Mapping[str, str]) -> None:
        load_doors(config_dir)  # a file that can't be used is said at the start, not at the first delivery
        data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._store = DoorsStore(data_dir / FILE)
        self._deliveries = Deliveries(self._store)
        outbox = DoorsOutbox(self._store)
        self._store.create(COUNTS)
        self._http = DoorsHttp()
        channels = _channels(self._http, config_dir, environ)
        self._chats = open_chats(self._store, self._deliveries, config_dir, environ, self._wake)
        channels += self._chats.channels
        if channels and find_spec("aiohttp") is None:
            raise DoorsError("To send anything, the doors need a package: pip install 'rainy-brain[doors]'")
        self._sender = Sender(outbox, channels)
        self._reports = Reports(outbox, data_dir, channels, self._sender.loop.wake)
        self._dispatcher = DeliveryDispatcher(self._deliveries, config_dir, lambda: BrainService.local(data_dir))
        self._dispatcher.chat = ChatAnswers(self._chats.messages, lambda: BrainService.local(data_dir))
        receiver = Receiver(self._deliveries, config_dir, environ, self._dispatcher.loop.wake)
        # Every peer is a stranger until its body is there; they share the limits of peers that are known elsewhere.
        limits = ConnectionLimits(lambda headers: True, connections=_CONNECTIONS)
        self._server = QuietServer(receiver.app, Streams(limit=0), 30, limits)

    def _wake(self) -> None:
        self._dispatcher.loop.wake()

    def stop(self) -> None:
        self._server.stop()

    async def run(self, host: str, port: int, on_ready: Callable[[str, int], None]) -> None:
        socket = open_socket(host, port)
        work = [asyncio.create_task(self._dispatcher.loop.run()), asyncio.create_task(self._sender.loop.run())]
        work += self._chats.start()
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
            await self._store.close()


def _channels(http: DoorsHttp, config_dir: Path, environ: Mapping[str, str]) -> list[Channel]:
    """The places that are configured, and hear of tasks."""
    channels: list[Channel] = []
    if webhooks := load_webhooks(config_dir):
        channels.append(WebhookChannel(http, webhooks))
    url = (environ.get("BRAIN_GITHUB_URL") or GITHUB_URL).rstrip("/")
    auth = GithubAuth(
        http,
        url,
        environ.get("BRAIN_GITHUB_TOKEN", ""),
        environ.get("BRAIN_GITHUB_APP_ID", ""),
        environ.get("BRAIN_GITHUB_APP_KEY_FILE", ""),
    )
    if auth.configured:
        channels.append(GithubComments(GithubApi(http, auth, url)))
    return channels
