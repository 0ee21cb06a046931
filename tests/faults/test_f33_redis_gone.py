"""F33: Redis is gone for a while, or has forgotten everything: no task notices, and the bus catches up."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.support import RunningSidecar, running_sidecar
from tests.support.bus import published
from tests.support.servers import Redis
from tests.waiting import wait_until


@pytest.fixture
def redis() -> Iterator[Redis]:
    """Of this test alone, because it stops it."""
    server = Redis()
    yield server
    server.close()


def finished(sidecar: RunningSidecar) -> list[tuple[str, int]]:
    """The events of a task that ended."""
    task_id = sidecar.execute("what can you do?")
    task = sidecar.wait_for_end(task_id)
    assert task["status"] == "completed"
    return [(task_id, seq) for seq in range(1, task["lastSeq"] + 1)]


def test_f33_every_event_is_on_the_bus_once_and_in_order_after_redis_was_gone(redis: Redis, tmp_path: Path) -> None:
    from redis import Redis as Client

    with running_sidecar(tmp_path, BRAIN_REDIS_URL=redis.url) as sidecar:
        expected = finished(sidecar)
        wait_until(lambda: published(redis) == expected, what="the bus")
        redis.kill()
        expected += finished(sidecar)
        redis.start()
        wait_until(lambda: published(redis) == expected, what="the bus to catch up")
        with Client.from_url(redis.url) as client:
            client.flushall()
        redis.kill()
        redis.start()
        expected += finished(sidecar)
        wait_until(lambda: published(redis) == expected, what="the bus to be filled again")
        assert sidecar.restart().get("/ready").status == 200
        expected += finished(sidecar)
        wait_until(lambda: published(redis) == expected, what="the bus of the next life")
