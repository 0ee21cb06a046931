"""The port of chat services: Slack as npm `emulate` plays it, and a Telegram server of ours; by their real clients."""

import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from sidecar.doors.chat.port import Drawn, Messenger, Place
from sidecar.doors.chat.slack import SlackMessenger
from sidecar.doors.chat.telegram import TelegramMessenger, open_bot
from sidecar.doors.http import NotSent
from tests.e2e.chats import TelegramServer
from tests.support.emulate import emulated


class Service(NamedTuple):
    messenger: Messenger
    chat: str
    #: Where nobody may post.
    closed: str
    finds: bool


@pytest.fixture(scope="module")
def slack_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    place: Path = tmp_path_factory.mktemp("slack")
    config = {"tokens": {"xoxb-test": {"login": "U000000001", "scopes": ["chat:write"]}}, "slack": {}}
    with emulated(place, "slack", json.dumps(config)) as [url]:
        yield url


@pytest.fixture(params=["slack", "telegram"])
async def service(request: pytest.FixtureRequest) -> AsyncIterator[Service]:
    if request.param == "slack":
        slack = SlackMessenger("xoxb-test", request.getfixturevalue("slack_url"))
        yield Service(slack, "C000000001", "C999999999", finds=True)
        await slack.close()
        return
    server = TelegramServer()
    with server.running():
        telegram = TelegramMessenger(open_bot(server.token, server.url))
        yield Service(telegram, "7", "13", finds=False)
        await telegram.close()


BUTTONS = [Drawn("Allow <once>", "0" * 32), Drawn("Deny", "1" * 32)]


async def test_a_message_is_posted_answered_and_edited(service: Service) -> None:
    messenger, place = service.messenger, Place(service.chat)
    first = await messenger.post(place, "a < b & c <!channel>", BUTTONS, "key-1")
    second = await messenger.post(Place(service.chat, first), "x" * messenger.longest, (), "key-2")
    assert first and second and first != second
    await messenger.edit(place, first, "decided", ())
    await messenger.edit(place, first, "decided", ())


async def test_a_message_whose_answer_got_lost_is_found_where_the_service_can(service: Service) -> None:
    messenger, place = service.messenger, Place(service.chat)
    first = await messenger.post(place, "once", (), "key-3")
    second = await messenger.post(Place(service.chat, first), "twice", (), "key-4")
    assert await messenger.find(place, "key-3") == (first if service.finds else None)
    assert await messenger.find(Place(service.chat, first), "key-4") == (second if service.finds else None)
    assert await messenger.find(place, "key-never") is None


async def test_what_can_never_be_posted_is_refused_for_good(service: Service) -> None:
    with pytest.raises(NotSent) as refusal:
        await service.messenger.post(Place(service.closed), "x", (), "key-5")
    assert refusal.value.again is None
