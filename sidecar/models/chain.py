"""The models of a role in order: retry a model a few times, then fall back to the next.

All models get the same history, each in its provider's format. A failed reply never runs a tool.
"""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from sidecar.models.errors import Failure
from sidecar.models.limits import find_flaw
from sidecar.models.port import Capabilities, Delta, Model, Reply, Request, Stop, Switch
from sidecar.models.prices import add_usage
from sidecar.wire.tasks import Usage

FAILURES = 3
REST_SECONDS = 30.0


class Breaker:
    """Skips a model for a while after repeated failures, for all tasks."""

    def __init__(self) -> None:
        self._failures = 0
        self._open_until = 0.0

    @property
    def open(self) -> bool:
        return time.monotonic() < self._open_until

    def failed(self) -> None:
        self._failures += 1
        if self._failures >= FAILURES:
            self._open_until = time.monotonic() + REST_SECONDS

    def answered(self) -> None:
        self._failures = 0
        self._open_until = 0.0


ATTEMPTS = 3
FIRST_PAUSE = 0.5
#: The longest total wait for one model; longer for the last one, which has no fallback. Most rate limits count by the
#: minute.
MAX_PAUSE = 20.0
MAX_LAST_PAUSE = 65.0


@dataclass(slots=True)
class Link:
    model: Model
    breaker: Breaker = field(default_factory=Breaker)
    #: It failed for good: a bad key, an unknown model, a refusal. Don't ask it again.
    out: bool = False

    @property
    def name(self) -> str:
        return f"{self.model.provider}/{self.model.name}"


class Chain:
    def __init__(self, links: Sequence[Link], notify: Callable[[Switch], None]) -> None:
        self.links = links
        self._notify = notify
        self._current = links[0]

    @property
    def provider(self) -> str:
        return self._current.model.provider

    @property
    def name(self) -> str:
        return self._current.model.name

    @property
    def capabilities(self) -> Capabilities:
        """Those of the current model, with the smallest context, so that any fallback can take the request."""
        sizes = [link.model.capabilities.context_tokens for link in self.links]
        smallest = min((size for size in sizes if size), default=None)
        return self._current.model.capabilities._replace(context_tokens=smallest)

    async def stream(self, request: Request) -> AsyncIterator[Delta | Reply]:
        none = Failure(code="no_model", message="No model is configured.", retry=False)
        reply = Reply(stop=Stop.FAILED, failure=none)
        shown: set[Literal["text", "thinking"]] = set()
        spent = Usage()
        candidates = self._candidates()
        for link in candidates:
            timeout = MAX_PAUSE if link is not candidates[-1] else MAX_LAST_PAUSE
            # A paused model gets one request, to find out whether it is back.
            attempts = 1 if link.breaker.open and len(candidates) > 1 else ATTEMPTS
            self._switch_to(link, reply.failure)
            for attempt in range(1, attempts + 1):
                for kind in shown:
                    yield Delta("", kind, anew=True)
                shown.clear()
                async for part in link.model.stream(request):
                    if isinstance(part, Reply):
                        # A failed reply costs money, too.
                        spent = add_usage(spent, part.usage)
                        reply = _check(part, request).model_copy(update={"usage": spent})
                    else:
                        shown.add(part.kind)
                        yield part
                if reply.failure is None or reply.stop is Stop.LENGTH:
                    link.breaker.answered()
                    yield reply
                    return
                if not reply.failure.retry:
                    link.out = True
                    break
                link.breaker.failed()
                pause = _pause(attempt, reply.failure)
                if attempt == attempts or pause > timeout:
                    break
                self._notify(_retry_notice(link, reply.failure, pause, attempt))
                await asyncio.sleep(pause)
                timeout -= pause
        yield _last_failure(reply, len(self.links))

    def _candidates(self) -> Sequence[Link]:
        """The models to try in order; those with an open breaker last, before the request fails."""
        usable = [link for link in self.links if not link.out] or list(self.links)
        return sorted(usable, key=lambda link: link.breaker.open)

    def _switch_to(self, link: Link, failure: Failure | None) -> None:
        if link is self._current:
            return
        before, self._current = self._current, link
        back = self.links.index(link) < self.links.index(before)
        reason = "The first choice is available again." if back else failure.message if failure else "It failed before."
        if not back and failure is not None and failure.code == "no_model":
            reason = f"{before.name} failed recently and is paused."
        self._notify(Switch(link.model.provider, link.model.name, reason, before.name))


def _check(reply: Reply, request: Request) -> Reply:
    found = None if reply.failure else find_flaw(reply, request)
    return reply if found is None else reply.model_copy(update={"stop": Stop.FAILED, "failure": found, "calls": []})


def _pause(attempt: int, failure: Failure) -> float:
    """The provider's own wait if it names one, else exponential; with jitter."""
    jitter = random.uniform(0.5, 1.0)  # noqa: S311 - not a secret
    if failure.retry_after is not None:
        return failure.retry_after + FIRST_PAUSE * jitter
    return FIRST_PAUSE * float(2 ** (attempt - 1)) * jitter


def _retry_notice(link: Link, failure: Failure, pause: float, attempt: int) -> Switch:
    reason = f"{failure.message} Retrying in {pause:.1f} s (attempt {attempt + 1} of {ATTEMPTS})."
    return Switch(link.model.provider, link.model.name, reason)


def _last_failure(reply: Reply, models: int) -> Reply:
    """The failure of the last model, marked as final."""
    failure = reply.failure or Failure(code="no_model", message="No model is configured.")
    tried = f" {models} models were tried." if models > 1 else ""
    wait = f" It asks to wait {failure.retry_after:.0f} s." if failure.retry_after else ""
    later = "" if "resume" in failure.message else " Finished work is kept; resume the task to try again."
    last = failure.model_copy(update={"retry": False, "message": f"{failure.message}{wait}{tried}{later}"})
    return reply.model_copy(update={"failure": last})
