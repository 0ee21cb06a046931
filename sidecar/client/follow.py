"""A task's events to its end, each once and in order, across dropped streams and sidecar restarts.

And its prompts: the approvals and questions, and which of them wait for an answer.
"""

import json
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from sidecar.client.client import Client
from sidecar.client.errors import ClientError, Refused, Unreachable
from sidecar.client.sidecars import Launcher, find_sidecar

ENDED = frozenset({"completed", "failed", "cancelled", "escalated"})
#: How long to wait for a sidecar that announced its stop, and for one that died.
STOPPED_SECONDS = 3.0
DIED_SECONDS = 1.0
MAX_EMPTY_STREAMS = 20

#: A new client after a lost connection; its argument says whether the sidecar announced its stop.
Reconnect = Callable[[bool], Client]
Event = dict[str, Any]
_IDS = {"approval": "approvalId", "question": "questionId"}
_OPEN = ("requested", "asked")


class Seen(NamedTuple):
    """An event, its JSON as received, and when its stream was opened."""

    event: dict[str, Any]
    data: str
    connected_at: str = ""


class Follower:
    def __init__(self, task_id: str, reconnect: Reconnect, after: int = 0) -> None:
        self._task_id = task_id
        self._reconnect = reconnect
        self._status = ""
        self._last = after

    def events(self, client: Client, notify: Callable[[str], None]) -> Iterator[Seen]:
        empty = 0
        while True:
            before = self._last
            try:
                yield from self._one_stream(client)
                if self._status in ENDED:
                    return
            except Unreachable:
                pass
            except Refused as refusal:
                if refusal.status not in (401, 503):
                    raise
            empty = empty + 1 if self._last == before else 0
            if empty > MAX_EMPTY_STREAMS:
                raise ClientError("The sidecar accepts connections but sends no events. Run `brain doctor`.")
            notify("Lost the connection to the sidecar; reconnecting …")
            client = self._reconnect(self._status == "interrupted")

    def _one_stream(self, client: Client) -> Iterator[Seen]:
        connected_at = ""
        for message in client.stream(self._task_id, self._last):
            connected_at = connected_at or datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
            event = json.loads(message.data)
            if message.id is not None:
                self._last = int(message.id)
            if event["type"] == "status":
                self._status = event["status"]
            yield Seen(event, message.data, connected_at)


def find_again(data_dir: Path, launcher: Launcher | None, task_id: str = "") -> Reconnect:
    """Replaces a sidecar that died if there is a launcher; leaves one that was stopped alone."""

    def reconnect(stopped: bool) -> Client:
        end = time.monotonic() + (STOPPED_SECONDS if stopped or launcher is None else DIED_SECONDS)
        while time.monotonic() < end:
            time.sleep(0.05)
            client = find_sidecar(data_dir)
            if client is not None:
                return client
        if stopped or launcher is None:
            again = f"brain resume --follow {task_id[:10]}".rstrip()
            raise Unreachable(f"The sidecar was stopped. The task is saved and resumes at the next start: {again}")
        return launcher.client()

    return reconnect


def try_again(client: Client) -> Reconnect:
    """Keeps asking at the same address, with the same token."""

    def reconnect(stopped: bool) -> Client:
        end = time.monotonic() + (STOPPED_SECONDS if stopped else DIED_SECONDS)
        while True:
            try:
                client.get("/health", timeout=1)
                return client
            except Unreachable:
                if time.monotonic() > end:
                    raise
                time.sleep(0.05)

    return reconnect


def prompt_id(event: Event | None) -> str:
    """The id of an approval or a question; empty for any other event."""
    return "" if event is None else str(event.get(_IDS.get(event["type"], ""), ""))


def open_prompts(events: Iterable[Event]) -> dict[str, Event]:
    """Those without an answer by id, in the order in which they were asked last."""
    found: dict[str, Event] = {}
    for event in events:
        if name := prompt_id(event):
            found.pop(name, None)
            if event["state"] in _OPEN:
                found[name] = event
    return found
