"""What a task changed can be looked at, undone in parts, and rewound; what the user did stays."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.engine.errors import OperationRefused
from sidecar.engine.hunks import file_diff, without
from sidecar.engine.merge import File
from sidecar.engine.operations import Resume
from sidecar.wire.tasks import HunkRequest, Status
from tests.support.edits import AFTER, BEFORE, last_event_of_call, run_edits, write
from tests.support.engine import engine_harness
from tests.support.scratch_journal import ScratchJournal


async def test_the_diff_has_a_hunk_for_each_place(tmp_path: Path) -> None:
    async with engine_harness(tmp_path) as harness:
        (harness.workspace / "a.txt").write_text(BEFORE)
        task_id = await run_edits(harness, write("a.txt", AFTER), write("new.txt", "new\n"))
        changed, created = (await harness.engine.review.diff(task_id)).files
        assert (changed.path, changed.change, changed.added, changed.removed) == ("a.txt", "modified", 2, 2)
        assert len(changed.hunks) == 2
        assert "-line 3\n+line three\n" in changed.diff
        assert (created.path, created.change, created.added) == ("new.txt", "created", 1)


async def test_a_changed_file_has_one_name_in_all_that_is_told_of_the_task(tmp_path: Path) -> None:
    async with engine_harness(tmp_path) as harness:
        ways = (str(harness.workspace / "src/a.txt"), "./src/a.txt", "src//a.txt", "src/a.txt")
        task_id = await run_edits(harness, *(write(way, f"{number}\n") for number, way in enumerate(ways)))
        events = await harness.events(task_id)
        assert [file["path"] for event in events if event["type"] == "diff" for file in event["files"]] == [
            "src/a.txt"
        ] * len(ways)
        (complete,) = [event for event in events if event["type"] == "complete"]
        assert complete["result"]["filesModified"] == ["src/a.txt"]
        (diff,) = (await harness.engine.review.diff(task_id)).files
        assert (diff.path, diff.change) == ("src/a.txt", "created")


async def test_a_rejected_hunk_is_undone_and_the_agent_is_told(tmp_path: Path) -> None:
    async with engine_harness(tmp_path) as harness:
        (harness.workspace / "a.txt").write_text(BEFORE)
        task_id = await run_edits(harness, write("a.txt", AFTER))
        (diff,) = (await harness.engine.review.diff(task_id)).files
        answer = await harness.engine.review.decide(task_id, HunkRequest(reject=[diff.hunks[0].id]))
        assert (harness.workspace / "a.txt").read_text() == AFTER.replace("line three\n", "line 3\n")
        assert [hunk.id for hunk in answer.files[0].hunks] == [diff.hunks[1].id]
        said = [event["text"] for event in await harness.events(task_id) if event["type"] == "message"]
        assert "line three" in said[-1]


async def test_what_the_user_wrote_elsewhere_in_the_file_stays(tmp_path: Path) -> None:
    async with engine_harness(tmp_path) as harness:
        file = harness.workspace / "a.txt"
        file.write_text(BEFORE)
        task_id = await run_edits(harness, write("a.txt", AFTER))
        file.write_text(AFTER.replace("line 15\n", "the user's own\n"))
        (diff,) = (await harness.engine.review.diff(task_id)).files
        await harness.engine.review.decide(task_id, HunkRequest(reject=[hunk.id for hunk in diff.hunks]))
        assert file.read_text() == BEFORE.replace("line 15\n", "the user's own\n")
        assert (await harness.engine.review.diff(task_id)).files == []


async def test_what_the_user_wrote_in_the_same_place_is_a_conflict_and_stays(tmp_path: Path) -> None:
    async with engine_harness(tmp_path) as harness:
        file = harness.workspace / "a.txt"
        file.write_text(BEFORE)
        task_id = await run_edits(harness, write("a.txt", AFTER))
        mine = AFTER.replace("line three\n", "mine\n")
        file.write_text(mine)
        (diff,) = (await harness.engine.review.diff(task_id)).files
        answer = await harness.engine.review.decide(task_id, HunkRequest(reject=[diff.hunks[0].id]))
        assert file.read_text() == mine
        assert [conflict.path for conflict in answer.conflicts] == ["a.txt"]


async def test_an_accepted_hunk_is_remembered_and_an_unknown_one_refused(tmp_path: Path) -> None:
    async with engine_harness(tmp_path) as harness:
        task_id = await run_edits(harness, write("a.txt", "a\n"))
        (diff,) = (await harness.engine.review.diff(task_id)).files
        for _ in range(2):
            answer = await harness.engine.review.decide(task_id, HunkRequest(accept=[diff.hunks[0].id]))
        assert answer.files[0].hunks[0].state == "accepted"
        with pytest.raises(OperationRefused) as refusal:
            await harness.engine.review.decide(task_id, HunkRequest(reject=["nope"]))
        assert refusal.value.code == "unknown_hunk"
        both = [diff.hunks[0].id]
        with pytest.raises(OperationRefused, match="not both"):
            await harness.engine.review.decide(task_id, HunkRequest(accept=both, reject=both))
        assert (harness.workspace / "a.txt").read_text() == "a\n"


async def test_a_rejected_new_file_is_gone(tmp_path: Path) -> None:
    async with engine_harness(tmp_path) as harness:
        task_id = await run_edits(harness, write("new.txt", "new\n"))
        (diff,) = (await harness.engine.review.diff(task_id)).files
        await harness.engine.review.decide(task_id, HunkRequest(reject=[hunk.id for hunk in diff.hunks]))
        assert not (harness.workspace / "new.txt").exists()


async def test_a_rewind_brings_files_back_and_can_be_rewound(tmp_path: Path) -> None:
    async with engine_harness(tmp_path) as harness:
        (harness.workspace / "a.txt").write_text("zero\n")
        task_id = await run_edits(harness, write("a.txt", "one\n"), write("a.txt", "two\n"), write("b.txt", "b\n"))
        end = (await harness.journal.task(task_id)).last_seq
        first = await last_event_of_call(harness, task_id, 0)
        preview = await harness.engine.review.rewind(task_id, first, preview=True)
        assert {(file.path, file.change) for file in preview.files} == {("a.txt", "modified"), ("b.txt", "deleted")}
        assert (harness.workspace / "a.txt").read_text() == "two\n"
        await harness.engine.review.rewind(task_id, first)
        assert (harness.workspace / "a.txt").read_text() == "one\n"
        assert not (harness.workspace / "b.txt").exists()
        assert (await harness.journal.task(task_id)).status is Status.CANCELLED
        await harness.engine.review.rewind(task_id, end)
        assert (harness.workspace / "a.txt").read_text() == "two\n"
        assert (harness.workspace / "b.txt").read_text() == "b\n"
        await harness.engine.review.rewind(task_id, 0)
        assert (harness.workspace / "a.txt").read_text() == "zero\n"


async def test_a_rewound_task_goes_on_from_the_checkpoint_and_does_the_rest_anew(tmp_path: Path) -> None:
    async with engine_harness(tmp_path) as harness:
        task_id = await run_edits(harness, write("a.txt", "one\n"), write("a.txt", "two\n"))
        await harness.engine.review.rewind(task_id, await last_event_of_call(harness, task_id, 0))
        assert (harness.workspace / "a.txt").read_text() == "one\n"
        harness.script("edit", [write("a.txt", "one\n"), write("a.txt", "another way\n"), {"text": "done"}])
        await harness.submit(Resume(task_id))
        await harness.until(task_id, "message", text="done")
        task = await harness.ended(task_id)
        while task.status is not Status.COMPLETED:
            task = await harness.ended(task_id)
        assert (harness.workspace / "a.txt").read_text() == "another way\n"


async def test_a_rewind_keeps_what_the_user_edited_since(tmp_path: Path) -> None:
    async with engine_harness(tmp_path) as harness:
        file = harness.workspace / "a.txt"
        file.write_text(BEFORE)
        task_id = await run_edits(harness, write("a.txt", AFTER))
        file.write_text(AFTER + "the user's own\n")
        await harness.engine.review.rewind(task_id, 0)
        assert file.read_text() == BEFORE + "the user's own\n"


async def test_a_running_task_is_not_rewound(tmp_path: Path) -> None:
    async with engine_harness(tmp_path) as harness:
        models = harness.script("slow", [{"text": "x", "delayMs": 60_000}])
        task_id = await harness.execute("x", models=models, intent="chat")
        await harness.reached(task_id, Status.RUNNING)
        with pytest.raises(OperationRefused) as refusal:
            await harness.engine.review.rewind(task_id, 0)
        assert refusal.value.code == "task_active"


async def test_a_rewind_that_a_crash_cut_off_is_finished_at_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = ScratchJournal()
    async with engine_harness(tmp_path, journal) as harness:
        task_id = await run_edits(harness, write("a.txt", "one\n"), write("b.txt", "two\n"))

        class PowerCut(Exception):
            pass

        async def die(*args: object) -> None:
            raise PowerCut

        monkeypatch.setattr(harness.engine.review._undoing, "carry_out", die)
        with pytest.raises(PowerCut):
            await harness.engine.review.rewind(task_id, 0)
        (harness.workspace / "a.txt").unlink()  # half of it was done
    async with engine_harness(tmp_path, journal) as harness:
        assert not (harness.workspace / "b.txt").exists()
        assert (await journal.task(task_id)).status is Status.CANCELLED
        events = (await journal.task(task_id)).last_seq
    async with engine_harness(tmp_path, journal):
        assert (await journal.task(task_id)).last_seq == events, "it was finished twice"


LINES = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "d\r\n", "e"]), max_size=20).map("".join)


@given(LINES, LINES, st.data())
def test_rejecting_all_hunks_gives_the_old_file_and_rejecting_none_the_new(
    old: str, new: str, data: st.DataObject
) -> None:
    before, after = File(old.encode(), 0o644), File(new.encode(), 0o644)
    diff = file_diff("f", before, after, {})
    ids = [hunk.id for hunk in diff.hunks]
    assert len(set(ids)) == len(ids)
    assert without("f", before, after, ids) == before.content
    assert without("f", before, after, []) == after.content
    some = data.draw(st.lists(st.sampled_from(ids), unique=True)) if ids else []
    rest = file_diff("f", before, File(without("f", before, after, some) or b"", 0o644), {})
    assert len(rest.hunks) <= len(ids)
