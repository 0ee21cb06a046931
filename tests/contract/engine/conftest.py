import asyncio
from collections.abc import Callable

import pytest


@pytest.fixture
async def jump(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """The event loop's clock moves on by so many seconds at once."""
    loop, real, moved = asyncio.get_running_loop(), asyncio.get_running_loop().time, [0.0]
    monkeypatch.setattr(loop, "time", lambda: real() + moved[0])

    def by(seconds: float) -> None:
        moved[0] += seconds

    return by
