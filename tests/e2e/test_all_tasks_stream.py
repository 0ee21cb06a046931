"""`GET /api/brain/events`: the durable events of all tasks, with cursors that outlive the process."""

import http.client
from collections.abc import Iterator
from contextlib import closing, contextmanager

from tests.e2e.support import RunningSidecar
from tests.waiting import SECONDS


@contextmanager
def all_events(
    sidecar: RunningSidecar, query: str = "", last: int | None = None
) -> Iterator[Iterator[tuple[int, str]]]:
    headers = {"Authorization": f"Bearer {sidecar.token}"}
    headers |= {} if last is None else {"Last-Event-ID": str(last)}
    with closing(http.client.HTTPConnection("127.0.0.1", sidecar.port, timeout=SECONDS)) as connection:
        connection.request("GET", f"/api/brain/events{query}", headers=headers)
        response = connection.getresponse()
        assert response.status == 200, response.read()
        yield parse(response)


def parse(lines: http.client.HTTPResponse) -> Iterator[tuple[int, str]]:
    cursor = 0
    for line in lines:
        name, _, value = line.decode().rstrip("\n").partition(": ")
        if name == "id":
            cursor = int(value)
        elif name == "data":
            yield cursor, value


def read_until_end(events: Iterator[tuple[int, str]], task_id: str) -> list[tuple[int, str]]:
    seen: list[tuple[int, str]] = []
    for cursor, data in events:
        seen.append((cursor, data))
        if f'"taskId":"{task_id}"' in data and data.startswith('{"type":"status","status":"completed"'):
            return seen
    raise AssertionError(f"the stream ended: {seen}")


def test_the_stream_of_all_tasks_resumes_over_a_kill_with_no_gap_and_no_repeat(sidecar: RunningSidecar) -> None:
    with all_events(sidecar) as events:
        first, second = sidecar.execute("list the files"), sidecar.execute("list the files")
        seen = read_until_end(events, first)
    sidecar.wait_for_end(second)
    sidecar.kill()
    sidecar.restart()
    third = sidecar.execute("list the files")
    with all_events(sidecar, last=seen[-1][0]) as events:
        seen += read_until_end(events, third)
    with all_events(sidecar, f"?after={seen[4][0]}") as events:
        assert read_until_end(events, third) == seen[5:]
    cursors = [cursor for cursor, _ in seen]
    assert cursors == list(range(1, len(seen) + 1))
    stored = [event for task_id in (first, second, third) for event in sidecar.events(task_id)]
    assert len(stored) == len(seen)


def test_from_now_on_means_only_new_events(sidecar: RunningSidecar) -> None:
    sidecar.wait_for_end(sidecar.execute("list the files"))
    with all_events(sidecar, "?after=now") as events:
        task_id = sidecar.execute("list the files")
        seen = read_until_end(events, task_id)
    assert all(f'"taskId":"{task_id}"' in data for _, data in seen)


def test_a_cursor_that_never_was_is_gone(sidecar: RunningSidecar) -> None:
    answer = sidecar.get("/api/brain/events?after=1000000")
    assert (answer.status, answer.json["code"]) == (410, "cursor_lost")


def test_the_stream_needs_the_token_and_counts_towards_the_limit(sidecar: RunningSidecar) -> None:
    assert sidecar.get("/api/brain/events", authenticated=False).status == 401
    with all_events(sidecar, "?after=now"):
        assert sidecar.get("/api/brain/status").json["streams"] == 1
