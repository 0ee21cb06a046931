"""One small request, and what is said of the answer."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from sidecar.models.catalog import check_model
from sidecar.models.errors import Failure
from sidecar.models.port import Capabilities, Delta, Reply, Request, Stop, ToolUse


class Answers:
    provider, name, capabilities = "somebody", "small", Capabilities(context_tokens=4_096)

    def __init__(self, *parts: Delta | Reply | None) -> None:
        self._parts = parts

    async def stream(self, request: Request) -> AsyncIterator[Delta | Reply]:
        assert [tool.name for tool in request.tools] == ["ready"]
        for part in self._parts:
            if part is None:
                await asyncio.Event().wait()
            else:
                yield part


CALLS = Reply(stop=Stop.TOOL_USE, calls=[ToolUse(id="1", tool="ready", args={"word": "yes"})])
LONG = Reply(stop=Stop.LENGTH, text="yes yes", failure=Failure(code="reply_too_long", message="too long"))
SAID = Reply(stop=Stop.END, text="I am ready.")
BAD = Reply(stop=Stop.FAILED, failure=Failure(code="bad_key", message="That key is not accepted."))


@pytest.mark.parametrize(
    ("parts", "ok", "tools"),
    [
        ((CALLS,), True, True),
        ((Delta("I am"), SAID), True, False),
        ((LONG,), True, False),
        ((Delta("yes "), None), True, False),
        ((None,), False, None),
        ((BAD,), False, None),
        ((Reply(stop=Stop.END),), False, None),
        ((), False, None),
    ],
    ids=["calls", "says", "goes on", "never ends", "never begins", "is refused", "says nothing", "breaks off"],
)
async def test_what_is_said_of_each_kind_of_answer(
    parts: tuple[Delta | Reply | None, ...], ok: bool, tools: bool | None
) -> None:
    found = await check_model(Answers(*parts), seconds=0.05)
    assert (found.ok, found.tools, found.model, found.context_window) == (ok, tools, "somebody/small", 4_096)
    assert "somebody/small" in found.message, "of several it is known which one is meant"
    assert (found.latency_ms is not None) is ok
