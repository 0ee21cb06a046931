"""F31: a paused model is asked again, once, before a request fails."""

from collections.abc import AsyncIterator, Sequence

from sidecar.models.chain import Breaker, Chain, Link
from sidecar.models.errors import Failure
from sidecar.models.port import Capabilities, Delta, Reply, Request, Stop, UserTurn

_DOWN = Reply(stop=Stop.FAILED, failure=Failure(code="bad_key", message="The key is wrong.", retry=False))
_BUSY = Reply(stop=Stop.FAILED, failure=Failure(code="model_unavailable", message="It is overloaded."))
_FINE = Reply(stop=Stop.END, text="I am back.")


class Playing:
    """Answers each request with the next of the given replies."""

    provider = "test"
    capabilities = Capabilities()

    def __init__(self, name: str, replies: Sequence[Reply]) -> None:
        self.name = name
        self.requests = 0
        self._replies = replies

    async def stream(self, request: Request) -> AsyncIterator[Delta | Reply]:
        self.requests += 1
        yield self._replies[min(self.requests, len(self._replies)) - 1]


def paused() -> Breaker:
    breaker = Breaker()
    for _ in range(3):
        breaker.failed()
    assert breaker.open
    return breaker


async def ask(chain: Chain) -> Reply:
    parts = [part async for part in chain.stream(Request("coder", "", [UserTurn(text="Hello.")]))]
    assert isinstance(parts[-1], Reply)
    return parts[-1]


async def test_f31_a_paused_fallback_is_asked_before_the_request_fails() -> None:
    first, fallback = Playing("first", [_DOWN]), Playing("fallback", [_FINE])
    reply = await ask(Chain([Link(first), Link(fallback, paused())], lambda switch: None))
    assert reply.text == "I am back."
    assert (first.requests, fallback.requests) == (1, 1)


async def test_f31_two_paused_models_are_each_asked_once() -> None:
    first, second = Playing("first", [_BUSY]), Playing("second", [_FINE])
    reply = await ask(Chain([Link(first, paused()), Link(second, paused())], lambda switch: None))
    assert reply.text == "I am back."
    assert (first.requests, second.requests) == (1, 1)


async def test_f31_a_model_that_works_is_preferred_to_a_paused_one() -> None:
    first, second = Playing("first", [_FINE]), Playing("second", [_FINE])
    await ask(Chain([Link(first, paused()), Link(second)], lambda switch: None))
    assert (first.requests, second.requests) == (0, 1)
