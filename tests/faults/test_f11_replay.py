"""F11: ten thousand events, replayed from random ids: no gap, no repeat."""

import random
from pathlib import Path

from sidecar.journal.port import NewTask
from sidecar.journal.sqlite import SqliteJournal
from sidecar.wire.events import StatusEvent, StepEvent
from sidecar.wire.tasks import Context, Options, Status, StoredRequest
from tests.e2e.support import running_sidecar
from tests.faults.scale import scaled

EVENTS = 10_000
REPLAYS = scaled(20, 100)


async def test_f11_a_replay_from_anywhere_has_no_gap_and_no_repeat(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    journal = await SqliteJournal.open(tmp_path / "data" / "journal.db")
    request = StoredRequest(task="x", workspace="/w", conversation_id="c", context=Context(), options=Options())
    await journal.create(NewTask("t_long", request, [StatusEvent(status=Status.QUEUED)]))
    step = StepEvent(step=1, total=1, message="so it goes", agent="coder", state="completed")
    await journal.append("t_long", [step] * (EVENTS - 2))
    await journal.append("t_long", [StatusEvent(status=Status.COMPLETED)])
    await journal.close()
    chance = random.Random(11)
    with running_sidecar(tmp_path) as sidecar:
        for after in [0, EVENTS - 1, EVENTS, *(chance.randrange(EVENTS) for _ in range(REPLAYS))]:
            with sidecar.stream("t_long", after) as events:
                assert [event["seq"] for event in events] == list(range(after + 1, EVENTS + 1))
