"""Sends what is in the outbox: in order to each target, again after a failure, and given up in the end."""

import logging
import random
from collections.abc import Sequence

from sidecar.doors.channels import Channel
from sidecar.doors.http import NotSent
from sidecar.doors.outbox import DoorsOutbox, Letter
from sidecar.doors.work_loop import WorkLoop

log = logging.getLogger("brain.doors")

MAX_ATTEMPTS = 12
_LONGEST_PAUSE = 3_600.0


class Sender:
    def __init__(self, outbox: DoorsOutbox, channels: Sequence[Channel]) -> None:
        self._outbox = outbox
        self._channels = channels
        self.loop = WorkLoop(outbox, self._send)
        outbox.on_write, outbox.prefixes = self.loop.wake, tuple(channel.prefix for channel in channels)

    async def _send(self, letter: Letter) -> None:
        try:
            channel = next((each for each in self._channels if letter.target.startswith(each.prefix)), None)
            if channel is None:
                raise NotSent("the door that it goes through is no longer configured", None)
            await self._outbox.begin(letter)
            await channel.send(letter)
            await self._outbox.settle(letter, "sent")
        except NotSent as problem:
            if problem.again is None or letter.attempts + 1 >= MAX_ATTEMPTS:
                await self._outbox.settle(letter, "dead", str(problem))
                log.error("gave up on %s for %s; it is kept: %s", letter.key, letter.target, problem)
            else:
                await self._outbox.postpone(letter, pause_before(letter.attempts, problem.again), str(problem))


def pause_before(attempts: int, asked: float) -> float:
    """Twice as long each time, never shorter than the server asks, and not at the same moment for all letters."""
    pause = min(_LONGEST_PAUSE, max(asked, 2.0 ** min(attempts, 20)))
    return pause * random.uniform(1.0, 1.25)  # noqa: S311 - spreads attempts, guards nothing
