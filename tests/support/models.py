"""Scripted models that record the requests they receive, and reject histories that a provider would reject."""

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager

import pytest

from sidecar.models.port import Delta, ModelTurn, Reply, Request, ToolTurn
from sidecar.models.scripted import Scripted


@contextmanager
def recorded_requests() -> Iterator[list[Request]]:
    requests: list[Request] = []

    class Recording(Scripted):
        async def stream(self, request: Request) -> AsyncIterator[Delta | Reply]:
            check_history(request)
            # The history is the agent's own list, which grows: what was sent is what it held now.
            requests.append(Request(request.agent, request.system, list(request.history), request.tools))
            async for part in super().stream(request):
                yield part

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sidecar.models.scripted.Scripted", Recording)
        yield requests


class StrictModel(Scripted):
    """Rejects what a provider would reject: a call without its result, a result without its call, repeated ids."""

    async def stream(self, request: Request) -> AsyncIterator[Delta | Reply]:
        check_history(request)
        async for part in super().stream(request):
            yield part


def check_history(request: Request) -> None:
    seen: set[str] = set()
    for turn, following in zip(request.history, [*request.history[1:], None], strict=True):
        if isinstance(turn, ModelTurn) and turn.calls:
            ids = [call.id for call in turn.calls]
            assert len(set(ids)) == len(ids)
            assert not seen & set(ids)
            seen |= set(ids)
            assert isinstance(following, ToolTurn), "a call has no result"
            assert [back.id for back in following.returns] == ids
        if isinstance(turn, ToolTurn):
            assert turn.returns
    assert not isinstance(request.history[-1], ModelTurn), "the last word is the model's own"
