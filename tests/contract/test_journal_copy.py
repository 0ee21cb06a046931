"""Copying a SQLite journal to PostgreSQL: all of it is there, and copying again changes nothing."""

import secrets
from pathlib import Path

from sidecar.journal.port import Record, TaskFilter
from sidecar.journal.postgres.copy import copy_journal
from sidecar.journal.postgres.journal import PostgresJournal
from sidecar.journal.sqlite import SqliteJournal
from sidecar.wire.tasks import Status
from tests.contract.journals import COMPLETED, RUNNING, new_task, said, step
from tests.support.servers import Postgres


async def test_all_of_a_journal_is_copied_once_and_what_goes_on_there_is_kept(
    postgres: Postgres, tmp_path: Path
) -> None:
    file, schema = tmp_path / "journal.db", f"test_{secrets.token_hex(6)}"
    source = await SqliteJournal.open(file)
    for number in range(3):
        name = f"t_{number}"
        await source.create(new_task(name, key=f"k\0{number}" if number else None))
        await source.append(name, [RUNNING, said(f"parser {number}"), step(1)], [Record("step", "a\0", "\0b")])
    digests = [await source.put_blob("t_0", b"one" * 100)]
    digests.append(await source.put_blob("t_0", b"one" * 100 + b"two", digests[0]))
    await source.append("t_0", [COMPLETED])
    expected = {name: await source.events(name) for name in ("t_0", "t_1", "t_2")}
    await source.close()

    copied = await copy_journal(file, postgres.url, schema)
    assert (copied.copied, copied.present, copied.complete) == (3, 0, True)
    assert copied.target == {"tasks": 3, "events": 13, "records": 3}
    target = await PostgresJournal.open(postgres.url, schema=schema)
    assert [event.data for event in (await target.events("t_0")).events] == [e.data for e in expected["t_0"].events]
    assert [(r.key, r.body) for r in await target.records("t_1")] == [("a\0", "\0b")]
    assert [await target.blob(digest) for digest in digests] == [b"one" * 100, b"one" * 100 + b"two"]
    assert [task.id for task in await target.tasks(TaskFilter(words="parser"))] == ["t_2", "t_1", "t_0"]
    assert (await target.task("t_1")).status is Status.QUEUED
    claim = await target.claim_named("t_1", "me", now=0, lease=10)
    assert claim is not None
    await target.append("t_1", [RUNNING], fence=claim.fence)
    before = [(event.task_id, event.seq) for event in (await target.all_events(0)).events]

    again = await copy_journal(file, postgres.url, schema)
    assert (again.copied, again.present, again.different) == (0, 3, [])
    assert [(event.task_id, event.seq) for event in (await target.all_events(0)).events][: len(before)] == before
    await target.close()
