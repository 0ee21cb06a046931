"""Several processes on one PostgreSQL journal: one order, one claim, nothing lost or done twice when it restarts."""

import asyncio
import json
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import aclosing

import pytest

from sidecar.journal.errors import CannotOpen, JournalStalled, LeaseLost, WrongStatus
from sidecar.journal.port import Record
from sidecar.journal.postgres.journal import PostgresJournal
from sidecar.journal.postgres.live import BATCH_BYTES
from sidecar.wire.events import DeltaEvent, MessageEvent, ToolOutputEvent
from sidecar.wire.tasks import Status
from tests.contract.journals import COMPLETED, RUNNING, new_task, said, seqs, step
from tests.support.servers import Postgres
from tests.waiting import SECONDS, until_true

Open = Callable[[], Awaitable[PostgresJournal]]


@pytest.fixture
async def node(postgres: Postgres) -> AsyncIterator[Open]:
    """Opens the same journal as another process would."""
    schema, opened = f"test_{secrets.token_hex(6)}", []

    async def open_one() -> PostgresJournal:
        opened.append(await PostgresJournal.open(postgres.url, schema=schema))
        return opened[-1]

    yield open_one
    for journal in opened:
        await journal.close()


@pytest.fixture
def restarting() -> Iterator[Postgres]:
    """A server that the test may stop."""
    server = Postgres()
    yield server
    server.close()


async def test_a_task_is_followed_where_it_is_not_written(node: Open) -> None:
    writer, reader = await node(), await node()
    await writer.create(new_task("t_1"))

    async def follow() -> list[int | None]:
        return [event.seq async for batch in reader.tail("t_1") for event in batch]

    following = asyncio.create_task(follow())
    await until_true(lambda: reader.followed("t_1"))
    for number in range(1, 20):
        await writer.append("t_1", [step(number)])
    await writer.append("t_1", [COMPLETED])
    async with asyncio.timeout(SECONDS):
        assert await following == list(range(1, 22))


async def test_all_readers_see_the_events_of_several_writers_in_one_order_without_a_gap(node: Open) -> None:
    writers, reader = [await node() for _ in range(3)], await node()
    for number, writer in enumerate(writers):
        await writer.create(new_task(f"t_{number}"))

    async def write(number: int) -> None:
        for count in range(60):
            await writers[number].append(f"t_{number}", [step(count)])

    async def read() -> list[tuple[int, str, int | None]]:
        seen: list[tuple[int, str, int | None]] = []
        async with aclosing(reader.tail_all(0)) as batches:
            async for batch in batches:
                seen += [(event.cursor, event.task_id, event.seq) for event in batch]
                if len(seen) == 183:
                    break
        return seen

    reading = asyncio.create_task(read())
    await asyncio.gather(*(write(number) for number in range(3)))
    async with asyncio.timeout(SECONDS):
        seen = await reading
    assert [cursor for cursor, _, _ in seen] == sorted({cursor for cursor, _, _ in seen})
    for number in range(3):
        assert [seq for _, task, seq in seen if task == f"t_{number}"] == list(range(1, 62))


async def test_a_cursor_that_is_not_committed_yet_holds_back_the_later_ones(node: Open, postgres: Postgres) -> None:
    from psycopg import AsyncConnection

    from sidecar.journal.postgres.connection import address

    journal = await node()
    await journal.create(new_task("t_1"))
    conninfo = address(postgres.url, journal.schema)
    async with await AsyncConnection.connect(conninfo) as slow:
        await slow.execute("SELECT begin_cursors(), nextval('cursors')")
        await journal.append("t_1", [step(1)])
        held = await journal.all_events(0)
        assert ([event.cursor for event in held.events], held.last_cursor) == ([1], 1)
        await slow.rollback()
    assert [event.cursor for event in (await journal.all_events(0)).events] == [1, 3]


async def test_writers_of_one_task_take_turns(node: Open) -> None:
    nodes = [await node() for _ in range(3)]
    await nodes[0].create(new_task("t_1"))
    await asyncio.gather(
        *(nodes[number % 3].append("t_1", [step(number)], [Record("step", f"{number}", "1")]) for number in range(30))
    )
    assert await seqs(nodes[0], "t_1") == list(range(1, 32))
    assert len(await nodes[1].records("t_1")) == 30


async def test_a_status_that_another_node_changed_counts(node: Open) -> None:
    one, two = await node(), await node()
    await one.create(new_task("t_1"))
    await one.append("t_1", [RUNNING])
    await two.append("t_1", [COMPLETED], when={Status.RUNNING})
    with pytest.raises(WrongStatus):
        await one.append("t_1", [COMPLETED], when={Status.RUNNING})


async def test_every_task_is_claimed_once_however_many_ask(node: Open) -> None:
    nodes = [await node() for _ in range(4)]
    await asyncio.gather(*(nodes[0].create(new_task(f"t_{number}")) for number in range(20)))
    claims = await asyncio.gather(
        *(each.claim_named(f"t_{number}", each.writer.id, now=0, lease=10) for number in range(20) for each in nodes)
    )
    assert sorted(claim.task_id for claim in claims if claim is not None) == sorted(f"t_{n}" for n in range(20))


async def test_a_worker_that_lost_its_claim_writes_nothing(node: Open) -> None:
    zombie, other = await node(), await node()
    await zombie.create(new_task("t_1"))
    first = await zombie.claim_named("t_1", "zombie", now=0, lease=10)
    assert first is not None
    await zombie.append("t_1", [RUNNING], fence=first.fence)
    assert await other.claim_lost("other", now=11, lease=10) is not None
    for write in (
        zombie.append("t_1", [step(1)], [Record("step", "a", "1")], fence=first.fence),
        zombie.append("t_1", [COMPLETED], fence=first.fence, when={Status.RUNNING}),
        zombie.renew("t_1", first.fence, now=12, lease=10),
    ):
        with pytest.raises(LeaseLost):
            await write
    assert await seqs(other, "t_1") == [1, 2]
    assert not await other.records("t_1")


async def test_a_write_whose_answer_was_lost_is_done_once(node: Open) -> None:
    journal = await node()
    await journal.create(new_task("t_1"))
    writer, answers = journal.writer, []
    whole = writer.value

    async def twice(query: str, arguments: object) -> object:
        answers.append(await whole(query, arguments))  # type: ignore[arg-type]
        answers.append(await whole(query, arguments))  # type: ignore[arg-type]
        return answers[-1]

    writer.value = twice  # type: ignore[method-assign,assignment]
    await journal.append("t_1", [step(1)], [Record("step", "a", "1")])
    claim = await journal.claim_named("t_1", "me", now=0, lease=10)
    assert claim is not None and claim.fence == 1
    await journal.create(new_task("t_2"))
    assert answers[0::2] == answers[1::2]
    assert await seqs(journal, "t_1") == [1, 2]


async def test_a_write_that_the_server_is_still_at_when_it_is_repeated_is_done_once(
    node: Open, postgres: Postgres
) -> None:
    from psycopg import AsyncConnection

    from sidecar.journal.postgres.connection import address

    journal = await node()
    await journal.create(new_task("t_1"))
    writer = journal.writer
    whole, repeated = writer.value, asyncio.Event()

    async def lose_the_answer(query: str, arguments: object) -> object:
        writer.value = whole  # type: ignore[method-assign]
        async with await AsyncConnection.connect(address(postgres.url, journal.schema)) as first:
            await first.execute(query, arguments)  # type: ignore[arg-type]
            again = asyncio.create_task(whole(query, arguments))  # type: ignore[arg-type]
            await asyncio.wait([again], timeout=0.5)
            assert not again.done(), "it waits for the first"
            repeated.set()
            await first.commit()
        return await again

    writer.value = lose_the_answer  # type: ignore[method-assign,assignment]
    await journal.append("t_1", [step(1)], [Record("step", "a", "1")])
    assert repeated.is_set()
    await journal.append("t_1", [step(2)])
    assert await seqs(journal, "t_1") == [1, 2, 3]


async def test_zero_characters_come_back_as_they_were(node: Open) -> None:
    journal = await node()
    await journal.create(new_task("t_1", key="a\0b", conversation="c\0d"))
    await journal.append("t_1", [said("e\0f")], [Record("step", "g\0h", "i\0j")])
    (record,) = await journal.records("t_1")
    assert (record.key, record.body) == ("g\0h", "i\0j")
    assert json.loads((await journal.events("t_1", after=1)).events[0].data)["text"] == "e\0f"
    assert (await journal.create(new_task("t_2", key="a\0b")))[1] is False


async def test_what_is_written_while_the_server_stops_at_once_is_there_once_and_in_order(restarting: Postgres) -> None:
    journal = await PostgresJournal.open(restarting.url)
    reader = await PostgresJournal.open(restarting.url)
    await journal.create(new_task("t_1"))
    claim = await journal.claim_named("t_1", "me", now=0, lease=10)
    assert claim is not None

    async def follow() -> list[int | None]:
        return [event.seq async for batch in reader.tail("t_1") for event in batch]

    written = 0

    async def write() -> None:
        nonlocal written
        for number in range(300):
            await journal.append("t_1", [step(number)], [Record("step", f"{number}", "1")], fence=claim.fence)
            written = number

    following, writing = asyncio.create_task(follow()), asyncio.create_task(write())
    for enough in (50, 150):
        await until_true(lambda enough=enough: written >= enough)  # type: ignore[misc]
        await asyncio.to_thread(restarting.stop_at_once)
        await asyncio.to_thread(restarting.start)
    async with asyncio.timeout(SECONDS):
        await writing
        await journal.append("t_1", [COMPLETED], fence=claim.fence)
        assert await following == list(range(1, 303))
    steps = [json.loads(event.data)["step"] for event in (await journal.events("t_1", 1, 300)).events]
    assert steps == list(range(300))
    await journal.close()
    await reader.close()


async def test_requests_fail_with_a_reason_while_the_server_is_away(
    restarting: Postgres, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("sidecar.journal.postgres.reading.READ_SECONDS", 0.2)
    monkeypatch.setattr("sidecar.journal.postgres.writer.REQUEST_SECONDS", 0.2)
    journal = await PostgresJournal.open(restarting.url)
    await journal.create(new_task("t_1"))
    await asyncio.to_thread(restarting.stop_at_once)
    async with asyncio.timeout(SECONDS):
        with pytest.raises(JournalStalled, match="nothing is lost"):
            await journal.create(new_task("t_2"))
        with pytest.raises(JournalStalled):
            await journal.task("t_1")
    assert journal.state().state == "stalled"
    with pytest.raises(CannotOpen, match="BRAIN_DATABASE_URL") as refused:
        await PostgresJournal.open(restarting.url)
    assert "\n" not in str(refused.value)
    assert not [record for record in caplog.records if record.name.startswith("psycopg")]
    monkeypatch.undo()
    await asyncio.to_thread(restarting.start)
    await until_true(lambda: journal.state().state == "ok")
    assert (await journal.task("t_1")).id == "t_1"
    await journal.close()


async def _texts(reader: PostgresJournal, found: list[dict[str, object]]) -> None:
    async with aclosing(reader.tail("t_1")) as batches:
        async for batch in batches:
            found += [json.loads(event.data) for event in batch]


def delta(text: str, name: str = "m1") -> DeltaEvent:
    return DeltaEvent(message_id=name, role="assistant", agent="coder", text=text, kind="text")


def live_text(found: list[dict[str, object]], name: str = "m1") -> str:
    """As a reader puts it together."""
    text = ""
    for event in found:
        if event["type"] == "delta" and event["messageId"] == name:
            text = str(event["text"]) if event.get("whole") else text + str(event["text"])
    return text


async def test_live_text_reaches_readers_of_another_process_also_late_ones(node: Open) -> None:
    writer, reader = await node(), await node()
    await writer.create(new_task("t_1"))
    await writer.append("t_1", [RUNNING])
    writer.publish("t_1", delta("begun before anybody read, "))
    found: list[dict[str, object]] = []
    following = asyncio.create_task(_texts(reader, found))
    await until_true(lambda: writer.followed("t_1"))
    for number in range(50):
        writer.publish("t_1", delta(f"{number} "))
    writer.publish("t_1", ToolOutputEvent(call_id="c1", stream="stdout", text="é" * 5_000))
    whole = "begun before anybody read, " + "".join(f"{number} " for number in range(50))
    await until_true(lambda: live_text(found) == whole)
    late: list[dict[str, object]] = []
    joining = asyncio.create_task(_texts(reader, late))
    await until_true(lambda: live_text(late) == whole)
    message = MessageEvent(message_id="m1", role="assistant", agent="coder", text=whole)
    await writer.append("t_1", [message, COMPLETED])
    async with asyncio.timeout(SECONDS):
        await asyncio.gather(following, joining)
    for each in (found, late):
        assert [event["type"] for event in each][-2:] == ["message", "status"]
        assert [event["seq"] for event in each if "seq" in event] == [1, 2, 3, 4]
    printed = "".join(str(event["text"]) for event in found if event["type"] == "tool_output")
    assert printed == "é" * 5_000


async def test_a_flood_of_live_text_is_cut_and_the_stored_event_has_all(node: Open) -> None:
    writer, reader = await node(), await node()
    await writer.create(new_task("t_1"))
    await writer.append("t_1", [RUNNING])
    found: list[dict[str, object]] = []
    following = asyncio.create_task(_texts(reader, found))
    await until_true(lambda: writer.followed("t_1"))
    whole = "".join(f"{number:09d} " for number in range(100_000))
    writer.publish("t_1", delta(whole))
    await until_true(lambda: bool(live_text(found)))
    writer.publish("t_1", delta("the end", "m2"))
    await until_true(lambda: live_text(found, "m2") == "the end")
    assert whole.startswith(live_text(found)) and len(live_text(found)) < BATCH_BYTES
    await writer.append("t_1", [MessageEvent(message_id="m1", role="assistant", agent="", text=whole), COMPLETED])
    async with asyncio.timeout(SECONDS):
        await following
    assert [event["text"] for event in found if event["type"] == "message"] == [whole]
