"""A task's events to their end, each once and in order, also when the stream drops or the sidecar is started again."""

import json
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from sidecar.commands.client import Client
from sidecar.commands.endings import short
from sidecar.commands.errors import CommandFailed, Refused, Unreachable
from sidecar.commands.exits import EXIT_NO_SIDECAR
from sidecar.commands.sidecars import Workplace, running
from sidecar.commands.story import ENDED

#: How long a sidecar that said it was stopping may take to come back, and how long one that died without a word.
RETURN_SECONDS = 3.0
SILENT_SECONDS = 1.0
EMPTY_STREAMS = 20


class Seen(NamedTuple):
    """An event, its JSON as it came, and when the stream was opened on which it came."""

    event: dict[str, Any]
    data: str
    connected_at: str = ""


class Follower:
    def __init__(self, task_id: str, data_dir: Path, workplace: Workplace | None) -> None:
        self._task_id = task_id
        self._data_dir = data_dir
        #: Where a sidecar that died is replaced; none if we only look.
        self._workplace = workplace
        self._status = ""
        self._last = 0

    def events(self, client: Client, told: Callable[[str], None]) -> Iterator[Seen]:
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
            if empty > EMPTY_STREAMS:
                raise CommandFailed("The sidecar takes the connection but tells nothing; `brain doctor` says more.")
            told("The connection to the sidecar was lost; waiting for it to come back …")
            client = self._again()

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

    def _again(self) -> Client:
        """A sidecar that was stopped is left stopped, unless somebody starts it; one that died is started again."""
        stopped = self._status == "interrupted"
        end = time.monotonic() + (RETURN_SECONDS if stopped or self._workplace is None else SILENT_SECONDS)
        while time.monotonic() < end:
            time.sleep(0.05)
            client = running(self._data_dir)
            if client is not None:
                return client
        if stopped or self._workplace is None:
            raise CommandFailed(
                "The sidecar was stopped. The task is kept as it is, and goes on at the next start: "
                f"brain resume --follow {short(self._task_id)}",
                EXIT_NO_SIDECAR,
            )
        return self._workplace.client()
