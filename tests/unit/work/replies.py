"""A scripted model that remembers what it was sent, and refuses what a provider would refuse."""

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager

import pytest

from sidecar.models.port import Delta, Reply, Request
from sidecar.models.scripted import Scripted
from tests.unit.engine.test_crashes import check_history


@contextmanager
def hearing() -> Iterator[list[Request]]:
    requests: list[Request] = []

    class Hearing(Scripted):
        async def stream(self, request: Request) -> AsyncIterator[Delta | Reply]:
            check_history(request)
            # The history is the agent's own list, which grows: what was sent is what it held now.
            requests.append(Request(request.agent, request.system, list(request.history), request.tools))
            async for part in super().stream(request):
                yield part

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sidecar.models.scripted.Scripted", Hearing)
        yield requests
