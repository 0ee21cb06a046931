"""The models of a role: whoever cannot answer is asked again a few times, then the next takes over.

The history is the same for all of them; each says it in its provider's words. Nothing of a reply that failed is acted
upon, so that no tool runs because of it, and none runs twice.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from sidecar.models.breaker import Breaker
from sidecar.models.limits import flaw
from sidecar.models.port import Delta, Failure, Model, Reply, Request, Stop, Switch
from sidecar.models.prices import together
from sidecar.wire.tasks import Usage

ATTEMPTS = 3
FIRST_PAUSE = 0.5
#: Whoever asks for longer pauses than this, one after the other, is not waited for; the last one a little more, because
#: nobody else is there. Most limits are counted by the minute.
LONGEST_PAUSE = 20.0
LAST_PAUSE = 65.0


@dataclass(slots=True)
class Link:
    model: Model
    breaker: Breaker = field(default_factory=Breaker)
    #: It said that it cannot do this at all: a bad key, no such model, a refusal. Said once, and not asked for again.
    out: bool = False

    @property
    def name(self) -> str:
        return f"{self.model.provider}/{self.model.name}"


class Chain:
    def __init__(self, links: Sequence[Link], tell: Callable[[Switch], None]) -> None:
        self._links = links
        self._tell = tell
        self._at_work = links[0]

    @property
    def provider(self) -> str:
        return self._at_work.model.provider

    @property
    def name(self) -> str:
        return self._at_work.model.name

    @property
    def context_size(self) -> int | None:
        """What each of them holds, so that whoever takes over can be given the same."""
        sizes = [getattr(link.model, "context_size", None) for link in self._links]
        return min((size for size in sizes if size), default=None)

    async def stream(self, request: Request) -> AsyncIterator[Delta | Reply]:
        reply = Reply(stop=Stop.FAILED, failure=Failure(code="no_model", message="There is no model.", retry=False))
        shown: set[Literal["text", "thinking"]] = set()
        spent = Usage()
        candidates = self._candidates()
        for link in candidates:
            patience = LONGEST_PAUSE if link is not candidates[-1] else LAST_PAUSE
            self._hand_over(link, reply.failure)
            for attempt in range(1, ATTEMPTS + 1):
                for kind in shown:
                    yield Delta("", kind, anew=True)
                shown.clear()
                async for part in link.model.stream(request):
                    if isinstance(part, Reply):
                        # What a reply cost that is of no use is paid for all the same.
                        spent = together(spent, part.usage)
                        reply = _judged(part, request).model_copy(update={"usage": spent})
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
                if attempt == ATTEMPTS or pause > patience:
                    break
                self._tell(_again(link, reply.failure, pause, attempt))
                await asyncio.sleep(pause)
                patience -= pause
        yield _final(reply, len(self._links))

    def _candidates(self) -> Sequence[Link]:
        """Those worth asking, the resting ones only if there is nobody else."""
        usable = [link for link in self._links if not link.out] or list(self._links)
        return [link for link in usable if not link.breaker.open] or usable

    def _hand_over(self, link: Link, failure: Failure | None) -> None:
        if link is self._at_work:
            return
        before, self._at_work = self._at_work, link
        back = self._links.index(link) < self._links.index(before)
        reason = (
            "It is asked again, as the first choice." if back else failure.message if failure else "It failed before."
        )
        if not back and failure is not None and failure.code == "no_model":
            reason = f"{before.name} failed just before; it is left alone for a while."
        self._tell(Switch(link.model.provider, link.model.name, reason, before.name))


def _judged(reply: Reply, request: Request) -> Reply:
    found = None if reply.failure else flaw(reply, request)
    return reply if found is None else reply.model_copy(update={"stop": Stop.FAILED, "failure": found, "calls": []})


def _pause(attempt: int, failure: Failure) -> float:
    """What the provider asked for; else doubling. With jitter, so that many do not come back together."""
    jitter = random.uniform(0.5, 1.0)  # noqa: S311 - not a secret
    if failure.retry_after is not None:
        return failure.retry_after + FIRST_PAUSE * jitter
    return FIRST_PAUSE * float(2 ** (attempt - 1)) * jitter


def _again(link: Link, failure: Failure, pause: float, attempt: int) -> Switch:
    reason = f"{failure.message} Asked again in {pause:.1f} s ({attempt + 1} of {ATTEMPTS})."
    return Switch(link.model.provider, link.model.name, reason)


def _final(reply: Reply, models: int) -> Reply:
    """The last word of the last model. It was asked often enough: whoever hears it need not ask again at once."""
    failure = reply.failure or Failure(code="no_model", message="There is no model.")
    tried = f" {models} models were tried." if models > 1 else ""
    wait = f" It asks to wait {failure.retry_after:.0f} s." if failure.retry_after else ""
    later = "" if "resume" in failure.message else " What was done is kept; resume the task to ask again."
    last = failure.model_copy(update={"retry": False, "message": f"{failure.message}{wait}{tried}{later}"})
    return reply.model_copy(update={"failure": last})
