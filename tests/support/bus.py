"""What is on the event bus."""

import json

from tests.support.servers import Redis


def published(redis: Redis) -> list[tuple[str, int]]:
    """Task and number of each event on the bus, in its order."""
    from redis import Redis as Client

    with Client.from_url(redis.url) as client:
        entries = client.xrange("brain:events")
    events = [json.loads(fields[b"event"]) for _, fields in entries]  # type: ignore[union-attr]
    return [(event["taskId"], event["seq"]) for event in events]
