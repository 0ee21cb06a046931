"""A task's events to its end, each once and in order, across dropped streams and sidecar restarts."""

import json
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from sidecar.commands.client import Client
from sidecar.commands.errors import EXIT_NO_SIDECAR, CommandFailed, Refused, Unreachable
from sidecar.commands.sidecars import Launcher, find_sidecar
from sidecar.commands.text import short

ENDED = frozenset({"completed", "failed", "cancelled", "escalated"})
#: How long to wait for a sidecar that announced its stop, and for one that died.
STOPPED_SECONDS = 3.0
DIED_SECONDS = 1.0
MAX_EMPTY_STREAMS = 20


class Seen(NamedTuple):
    """An event, its JSON as received, and when its stream was opened."""

    event: dict[str, Any]
    data: str
    connected_at: str = ""


class Follower:
    def __init__(self, task_id: str, data_dir: Path, launcher: Launcher | None) -> None:
        self._task_id = task_id
        self._data_dir = data_dir
        #: Replaces a sidecar that died; `None` for read-only watching.
        self._launcher = launcher
        self._status = ""
        self._last = 0

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
                raise CommandFailed("The sidecar accepts connections but sends no events. Run `brain doctor`.")
            notify("Lost the connection to the sidecar; reconnecting …")
            client = self._reconnect()

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

    def _reconnect(self) -> Client:
        """Replace a sidecar that died; leave one that was stopped alone."""
        stopped = self._status == "interrupted"
        end = time.monotonic() + (STOPPED_SECONDS if stopped or self._launcher is None else DIED_SECONDS)
        while time.monotonic() < end:
            time.sleep(0.05)
            client = find_sidecar(self._data_dir)
            if client is not None:
                return client
        if stopped or self._launcher is None:
            raise CommandFailed(
                "The sidecar was stopped. The task is saved and resumes at the next start: "
                f"brain resume --follow {short(self._task_id)}",
                EXIT_NO_SIDECAR,
            )
        return self._launcher.client()
