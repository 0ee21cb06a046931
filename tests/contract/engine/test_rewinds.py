"""Rewinding what commands did, files alone, links, modes, and what the cap has dropped; and cut off at every word."""

import asyncio
import json
import os
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest

from sidecar.engine.operations import Cancel, Resume
from sidecar.journal.errors import JournalClosed
from sidecar.journal.port import Retention
from sidecar.telemetry.logs import set_actor
from sidecar.wire.base import JsonObject
from sidecar.wire.tasks import HunkRequest, Status
from tests.support.crashing_journal import CrashingJournal
from tests.support.edits import AFTER, BEFORE, run_edits, write
from tests.support.engine import engine_harness
from tests.support.manual_task import ManualTask
from tests.support.scratch_journal import ScratchJournal
from tests.waiting import until_true
from tools.local.attribution import current


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[ManualTask]:
    opened = ManualTask(tmp_path)
    yield opened
    await opened.close()


async def test_what_a_command_did_is_in_the_diff_and_is_rewound(shop: ManualTask) -> None:
    (shop.workspace / "a.txt").write_text(BEFORE)
    (shop.workspace / "gone.bin").write_bytes(b"\x00\xff")
    await shop.open()
    start, before = await shop.seq(), shop.files()
    outcome = await shop.command("sed -i 's/^line 3$/line three/' a.txt; rm gone.bin; printf new > new.txt")
    assert outcome.status == "success"
    end, after = await shop.seq(), shop.files()
    diffs = {file.path: file for file in (await shop.engine.review.diff("t_1")).files}
    assert "-line 3\n+line three\n" in diffs["a.txt"].diff
    assert (diffs["gone.bin"].change, diffs["new.txt"].change) == ("deleted", "created")
    assert await shop.rewind(start) == []
    assert shop.files() == before
    assert await shop.rewind(end) == []
    assert shop.files() == after


async def test_a_file_is_one_file_however_its_path_was_written(shop: ManualTask) -> None:
    (shop.workspace / "a.txt").write_text(BEFORE)
    await shop.open()
    start, before = await shop.seq(), shop.files()
    for number, path in enumerate((f"{shop.workspace}/a.txt", "a.txt", "./a.txt")):
        args: JsonObject = {"path": path, "oldText": "line 3\n", "newText": f"{number}\nline 3\n"}
        outcome = await shop.call("edit_file", args)
        assert outcome.status == "success", outcome.content
    await shop.command("echo more >> a.txt")
    (file,) = (await shop.engine.review.diff("t_1")).files
    assert (file.path, file.added) == ("a.txt", 4)
    assert await shop.rewind(start) == []
    assert shop.files() == before


async def test_a_hunk_that_a_command_made_can_be_rejected(shop: ManualTask) -> None:
    (shop.workspace / "a.txt").write_text(BEFORE)
    await shop.open()
    await shop.command("sed -i 's/^line 3$/x/; s/^line 25$/y/' a.txt")
    (file,) = (await shop.engine.review.diff("t_1")).files
    await shop.engine.review.decide("t_1", HunkRequest(reject=[file.hunks[0].id]))
    assert (shop.workspace / "a.txt").read_text() == BEFORE.replace("line 25\n", "y\n")


async def test_rejected_hunks_and_rewinds_say_whose_token_asked_for_them(shop: ManualTask) -> None:
    (shop.workspace / "a.txt").write_text(BEFORE)
    await shop.open()
    start = await shop.seq()
    await shop.command("sed -i 's/^line 3$/x/; s/^line 25$/y/' a.txt")
    (file,) = (await shop.engine.review.diff("t_1")).files
    before = await shop.seq()

    async def asked_by_alice() -> None:
        set_actor("alice")
        await shop.engine.review.decide("t_1", HunkRequest(reject=[file.hunks[0].id]))
        await shop.engine.review.rewind("t_1", start)

    await asyncio.create_task(asked_by_alice())
    found = [json.loads(event.data) for event in (await shop.journal.events("t_1", before)).events]
    assert [(event["type"], event["by"]) for event in found if event["type"] in ("diff", "status")] == [
        ("diff", "alice"),
        ("diff", "alice"),
        ("status", "alice"),
    ]


async def test_links_modes_and_odd_names_come_back_as_they_were(shop: ManualTask) -> None:
    odd = os.fsdecode(b"na\xefve \xc3\xa4")
    (shop.workspace / odd).write_bytes(b"one\r\n")
    (shop.workspace / "run.sh").write_text("#!/bin/sh\n")
    (shop.workspace / "run.sh").chmod(0o750)
    (shop.workspace / "link").symlink_to("run.sh")
    (shop.workspace / "dangling").symlink_to("/nowhere")
    await shop.open()
    start, before = await shop.seq(), shop.files()
    await shop.command(
        "rm dangling run.sh; ln -sfn elsewhere link; ln -s a made; printf x > run.sh; chmod 600 run.sh; "
        'for each in na*; do printf two > "$each"; done'
    )
    end, after = await shop.seq(), shop.files()
    assert after != before
    assert await shop.rewind(start) == []
    assert shop.files() == before
    assert await shop.rewind(end) == []
    assert shop.files() == after


async def test_a_file_in_the_place_of_a_directory_goes_and_the_directory_comes_back(shop: ManualTask) -> None:
    (shop.workspace / "x").mkdir()
    (shop.workspace / "x/a").write_text("a")
    (shop.workspace / "y").write_text("y")
    await shop.open()
    start, before = await shop.seq(), shop.files()
    await shop.command("rm -r x; printf file > x; rm y; mkdir -p y/deep; printf b > y/deep/b")
    end, after = await shop.seq(), shop.files()
    assert await shop.rewind(start) == []
    assert shop.files() == before
    assert await shop.rewind(end) == []
    assert shop.files() == after


@pytest.mark.parametrize("edited", [False, True])
@pytest.mark.parametrize(
    "command",
    [
        "rm -r x; ln -s /nowhere x",
        "rm -r x; ln -s x x",
        "mv x z; ln -s z x",
        "mv x z; ln -s .. x",
        "mkdir -p in/deep; mv x in/deep; ln -s in/deep/x x; printf more > x/a",
    ],
)
async def test_a_link_in_the_place_of_a_directory_goes_and_the_directory_comes_back(
    shop: ManualTask, command: str, edited: bool
) -> None:
    (shop.workspace / "x/sub").mkdir(parents=True)
    (shop.workspace / "x/a").write_text("a")
    (shop.workspace / "x/sub/b").write_text("b")
    await shop.open()
    start, before = await shop.seq(), shop.files()
    if edited:
        await shop.call("write_file", {"path": "x/a", "content": "edited"})
    await shop.command(command)
    end, after = await shop.seq(), shop.files()
    assert await shop.rewind(start) == []
    assert shop.files() == before
    assert await shop.rewind(end) == []
    assert shop.files() == after


async def test_nothing_is_written_through_a_link_that_stays_in_the_place_of_a_directory(shop: ManualTask) -> None:
    (shop.workspace / "x").mkdir()
    (shop.workspace / "x/a").write_text("a")
    (shop.workspace / "yours").mkdir()
    await shop.open()
    start = await shop.seq()
    await shop.command("rm -r x; ln -s /nowhere x")
    (shop.workspace / "x").unlink()
    (shop.workspace / "x").symlink_to("yours")
    assert sorted(await shop.rewind(start)) == ["x", "x/a"]
    assert not list((shop.workspace / "yours").iterdir())


async def test_a_file_written_through_a_link_goes_back_where_it_is(shop: ManualTask) -> None:
    (shop.workspace / "real").mkdir()
    (shop.workspace / "real/a").write_text("a")
    await shop.open()
    start, before = await shop.seq(), shop.files()
    await shop.command("ln -s real link; ln -s real/made dangling")
    await shop.call("write_file", {"path": "link/a", "content": "edited"})
    await shop.call("create_file", {"path": "link/b", "content": "b"})
    await shop.call("write_file", {"path": "dangling", "content": "c"})
    changed = {file.path for file in (await shop.engine.review.diff("t_1")).files}
    assert changed == {"link", "dangling", "real/a", "real/b", "real/made"}
    assert await shop.rewind(start) == []
    assert shop.files() == before


async def test_a_command_that_writes_a_file_of_several_names_changes_it_under_all(shop: ManualTask) -> None:
    (shop.workspace / "d").mkdir()
    (shop.workspace / "d/a").write_text("a")
    (shop.workspace / "b").hardlink_to(shop.workspace / "d/a")
    await shop.open()
    start, before = await shop.seq(), shop.files()
    await shop.command("echo more >> b")
    assert {file.path for file in (await shop.engine.review.diff("t_1")).files} == {"d/a", "b"}
    assert await shop.rewind(start) == []
    assert shop.files() == before


async def test_folders_that_a_task_made_go_with_its_files_and_yours_stay(shop: ManualTask) -> None:
    def folders() -> list[str]:
        found = (path for path in shop.workspace.rglob("*") if path.is_dir())
        return sorted(str(path.relative_to(shop.workspace)) for path in found)

    (shop.workspace / "yours/empty").mkdir(parents=True)
    (shop.workspace / "old/sub").mkdir(parents=True)
    (shop.workspace / "old/sub/a").write_text("a")
    await shop.open()
    start, before = await shop.seq(), folders()
    made = time.clock_gettime(current.FILE_CLOCK)
    await until_true(lambda: time.clock_gettime(current.FILE_CLOCK) > made)
    await shop.call("create_file", {"path": "new/deep/a", "content": "a"})
    await shop.call("create_file", {"path": "new/deep/b", "content": "b"})
    await shop.call("create_file", {"path": "yours/empty/a", "content": "a"})
    await shop.command("mkdir -p yours/made/x kept; echo b > yours/made/x/b; echo c > kept/c; mv old older")
    (shop.workspace / "kept/by-you").write_text("mine")
    assert "older/sub" in folders()
    assert await shop.rewind(start) == []
    assert folders() == sorted([*before, "kept"])


@pytest.mark.parametrize("then", ["move_file", "delete_file", "command"])
async def test_a_folder_goes_though_the_file_that_it_was_made_for_went_before(shop: ManualTask, then: str) -> None:
    await shop.open()
    start = await shop.seq()
    await shop.call("create_file", {"path": "new/deep/a", "content": "a"})
    if then == "command":
        await shop.command("mv new/deep/a new/deep/b")
    else:
        args: JsonObject = {"from": "new/deep/a", "to": "new/deep/b"} if then == "move_file" else {"path": "new/deep/a"}
        await shop.call(then, args)
    assert (shop.workspace / "new/deep").is_dir()
    assert await shop.rewind(start) == []
    assert not (shop.workspace / "new").exists()


async def test_a_folder_goes_with_the_rejected_file_that_it_was_made_for(shop: ManualTask) -> None:
    await shop.open()
    await shop.call("create_file", {"path": "new/deep/a", "content": "a"})
    (file,) = (await shop.engine.review.diff("t_1")).files
    await shop.engine.review.decide("t_1", HunkRequest(reject=[hunk.id for hunk in file.hunks]))
    assert not (shop.workspace / "new").exists()


async def test_what_is_written_under_another_name_of_a_file_goes_back_under_both(shop: ManualTask) -> None:
    (shop.workspace / "a").write_text("a")
    await shop.open()
    start, before = await shop.seq(), shop.files()
    await shop.command("ln a b; echo more >> b")
    assert await shop.rewind(start) == []
    assert shop.files() == before


async def test_a_file_in_the_place_of_a_link_is_a_file_again_after_two_rewinds(shop: ManualTask) -> None:
    (shop.workspace / "target").write_text("kept\n")
    (shop.workspace / "link").symlink_to("target")
    await shop.open()
    start, before = await shop.seq(), shop.files()
    await shop.command("rm link")
    await shop.call("create_file", {"path": "link", "content": "a file\n"})
    end, after = await shop.seq(), shop.files()
    assert await shop.rewind(start) == []
    assert shop.files() == before
    assert await shop.rewind(end) == []
    assert shop.files() == after


async def test_a_file_that_a_task_deletes_and_makes_again_gets_its_mode_back(shop: ManualTask) -> None:
    (shop.workspace / "run.sh").write_text("old\n")
    (shop.workspace / "run.sh").chmod(0o755)
    await shop.open()
    start = await shop.seq()
    await shop.call("delete_file", {"path": "run.sh"})
    await shop.call("create_file", {"path": "run.sh", "content": "new\n"})
    assert (shop.workspace / "run.sh").stat().st_mode & 0o777 == 0o644
    await shop.rewind(start)
    assert shop.files() == {"run.sh": (b"old\n", 0o755)}


async def test_a_mode_that_the_user_chose_since_is_theirs(shop: ManualTask) -> None:
    (shop.workspace / "run.sh").write_text("x\n")
    (shop.workspace / "run.sh").chmod(0o644)
    await shop.open()
    start = await shop.seq()
    await shop.command("chmod 755 run.sh; echo y >> run.sh")
    (shop.workspace / "run.sh").chmod(0o700)
    await shop.rewind(start)
    assert shop.files() == {"run.sh": (b"x\n", 0o700)}


async def test_files_alone_go_back_and_the_conversation_goes_on(tmp_path: Path) -> None:
    async with engine_harness(tmp_path) as harness:
        (harness.workspace / "a.txt").write_text("zero\n")
        task_id = await run_edits(harness, write("a.txt", "one\n"), write("b.txt", "b\n"))
        preview = await harness.engine.review.rewind(task_id, 0, conversation=False, preview=True)
        assert {(file.path, file.change) for file in preview.files} == {("a.txt", "modified"), ("b.txt", "deleted")}
        assert (harness.workspace / "a.txt").read_text() == "one\n"
        end = (await harness.journal.task(task_id)).last_seq
        await harness.engine.review.rewind(task_id, 0, conversation=False)
        assert (harness.workspace / "a.txt").read_text() == "zero\n"
        assert not (harness.workspace / "b.txt").exists()
        task = await harness.journal.task(task_id)
        assert task.status is Status.COMPLETED
        last = (await harness.events(task_id))[-1]
        assert last["role"] == "user" and "a.txt, b.txt" in last["text"]
        assert (await harness.engine.review.diff(task_id)).files == []
        await harness.engine.review.rewind(task_id, end, conversation=False)
        assert (harness.workspace / "a.txt").read_text() == "one\n"
        seq = (await harness.journal.task(task_id)).last_seq
        assert (await harness.engine.review.rewind(task_id, end, conversation=False)).files == []
        assert (await harness.journal.task(task_id)).last_seq == seq, "nothing happened, so nothing is told"


async def test_what_the_user_wrote_between_two_changes_of_the_task_stays(shop: ManualTask) -> None:
    file = shop.workspace / "a.txt"
    file.write_text(BEFORE)
    await shop.open()
    start = await shop.seq()
    await shop.command("sed -i 's/^line 3$/line three/' a.txt")
    file.write_text(file.read_text().replace("line 15\n", "the user's own\n"))
    await shop.call("edit_file", {"path": "a.txt", "oldText": "line 25\n", "newText": "line twenty-five\n"})
    (diff,) = (await shop.engine.review.diff("t_1")).files
    assert "the user's own" not in "".join(line for line in diff.diff.splitlines() if line[:1] in "+-")
    assert await shop.rewind(start) == []
    assert file.read_text() == BEFORE.replace("line 15\n", "the user's own\n")


async def test_what_is_rejected_while_a_command_runs_is_not_the_commands_doing(shop: ManualTask) -> None:
    await shop.open()
    await shop.call("write_file", {"path": "a.txt", "content": "one\n"})
    await shop.open("t_2")
    (file,) = (await shop.engine.review.diff("t_1")).files
    waiting = "touch up; while [ ! -e go ]; do sleep 0.01; done; echo own > own.txt"
    running = asyncio.create_task(shop.command(waiting, "t_2"))
    await until_true((shop.workspace / "up").exists)
    await shop.engine.review.decide("t_1", HunkRequest(reject=[hunk.id for hunk in file.hunks]))
    assert not (shop.workspace / "a.txt").exists()
    (shop.workspace / "go").touch()
    assert {each.path for each in (await running).files} == {"up", "own.txt"}


async def test_nothing_of_git_is_touched(shop: ManualTask) -> None:
    (shop.workspace / "a.txt").write_text("one\n")
    shop.commit_all()
    (shop.workspace / "staged.txt").write_text("staged\n")
    shop.git("add", "staged.txt")
    (shop.workspace / "others.txt").write_text("somebody else's\n")
    await shop.open()
    start, status = await shop.seq(), shop.git("status", "--porcelain=v2", "--branch")
    kept = {name: (shop.workspace / ".git" / name).read_bytes() for name in ("index", "HEAD", "refs/heads/main")}
    await shop.command("echo two > a.txt; echo three > staged.txt; echo new > new.txt")
    await shop.rewind(start)
    assert {name: (shop.workspace / ".git" / name).read_bytes() for name in kept} == kept
    assert shop.git("status", "--porcelain=v2", "--branch") == status
    assert (shop.workspace / "others.txt").read_text() == "somebody else's\n"


async def test_missing_content_is_reported_and_the_rest_is_done(
    shop: ManualTask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(current, "MAX_FILE_BYTES", 100)
    (shop.workspace / "large").write_bytes(b"x" * 200)
    (shop.workspace / "small").write_text("one\n")
    await shop.open()
    start = await shop.seq()
    await shop.command("echo >> large; echo two > small; mkdir node_modules; touch node_modules/x")
    diffs = {file.path: file for file in (await shop.engine.review.diff("t_1")).files}
    assert "isn't kept" in (diffs["large"].note or "") and "can't be undone" in (diffs["node_modules/"].note or "")
    assert set(await shop.rewind(start)) == {"large", "node_modules/"}
    assert (shop.workspace / "small").read_text() == "one\n"
    assert (shop.workspace / "large").stat().st_size == 201


async def test_what_the_cap_has_dropped_is_said_and_the_rest_is_done(tmp_path: Path) -> None:
    shop = ManualTask(tmp_path, ScratchJournal(Retention(task_bytes=1_000)))
    try:
        (shop.workspace / "a.txt").write_text("one\n")
        await shop.open()
        start = await shop.seq()
        await shop.call("write_file", {"path": "a.txt", "content": "two\n"})
        await shop.call("write_file", {"path": "b.txt", "content": Random(1).randbytes(4_000).hex()})
        await shop.call("write_file", {"path": "a.txt", "content": "three\n"})
        await shop.call("write_file", {"path": "late.txt", "content": "late\n"})
        await shop.call("write_file", {"path": "late.txt", "content": "later\n"})
        diffs = {file.path: file for file in (await shop.engine.review.diff("t_1")).files}
        assert "dropped" in (diffs["late.txt"].note or "")
        await shop.rewind(start)
        assert (shop.workspace / "a.txt").read_text() == "one\n"
        assert not (shop.workspace / "b.txt").exists()
    finally:
        await shop.close()


async def test_a_task_that_was_rewound_into_the_middle_of_a_call_makes_the_call_anew(tmp_path: Path) -> None:
    async with engine_harness(tmp_path) as harness:
        task_id = await run_edits(harness, write("a.txt", "one\n"), write("b.txt", "two\n"))
        running = [event["seq"] for event in await harness.events(task_id) if event.get("status") == "running"]
        for seq in (running[-1], running[-1] - 1):
            await harness.engine.review.rewind(task_id, seq)
            assert not (harness.workspace / "b.txt").exists()
            await harness.submit(Resume(task_id))
            task = await harness.ended(task_id)
            while task.status is not Status.COMPLETED:
                assert task.status is not Status.FAILED, task.error
                task = await harness.ended(task_id)
            assert (harness.workspace / "b.txt").read_text() == "two\n"


async def test_a_rewound_task_can_be_cancelled(tmp_path: Path) -> None:
    async with engine_harness(tmp_path) as harness:
        task_id = await run_edits(harness, write("a.txt", "one\n"))
        running = [event["seq"] for event in await harness.events(task_id) if event.get("status") == "running"]
        await harness.engine.review.rewind(task_id, running[-1])
        slow = {"calls": [{"tool": "run_command", "args": {"command": "touch up; sleep 1000"}}]}
        harness.script("edit", [write("a.txt", "one\n"), slow])
        await harness.submit(Resume(task_id))
        await until_true((harness.workspace / "up").exists)
        await harness.submit(Cancel(task_id))
        assert (await harness.ended(task_id)).status is Status.CANCELLED
        await harness.engine.review.rewind(task_id, 0)
        assert list(harness.workspace.iterdir()) == []


@pytest.mark.parametrize("what", ["rewind", "files", "reject"])
async def test_cut_off_at_any_word_it_is_finished_once(tmp_path: Path, what: str) -> None:
    for cut in range(4):
        directory = tmp_path / f"cut{cut}"
        directory.mkdir()
        journal = CrashingJournal()
        shop = ManualTask(directory, journal)
        for name in ("a.txt", "b.txt"):
            (shop.workspace / name).write_text(BEFORE)
        await shop.open()
        start = await shop.seq()
        await shop.call("write_file", {"path": "a.txt", "content": AFTER})
        await shop.command("sed -i 's/^line 7$/x/' b.txt; chmod 755 b.txt; ln -s b.txt link")
        diffs = (await shop.engine.review.diff("t_1")).files
        changed = shop.files()
        journal.left = cut
        with suppress(JournalClosed):
            if what == "reject":
                hunks = [hunk.id for diff in diffs for hunk in diff.hunks]
                await shop.engine.review.decide("t_1", HunkRequest(accept=hunks[:1], reject=hunks[1:]))
            else:
                await shop.rewind(start, conversation=what == "rewind")
        await shop.close()
        begun = any(record.kind == "undo" for record in await journal.records("t_1"))
        journal.left = 10**9
        (shop.workspace / "others.txt").write_text("mine")
        for _ in range(2):
            after = await _finished(directory, journal)
        words = [event.type for event in (await journal.events("t_1", limit=1_000)).events]
        after.pop("others.txt")
        if not begun:
            assert after == changed
        elif what == "reject":
            assert after["a.txt"][0] in (BEFORE.encode(), AFTER.replace("line twenty-five", "line 25").encode())
            assert after["b.txt"] == (BEFORE.encode(), 0o755)
            assert words.count("message") == 1
        else:
            assert {path: content for path, (content, _) in after.items()} == dict.fromkeys(
                ("a.txt", "b.txt"), BEFORE.encode()
            )
            assert words.count("message") == (0 if what == "rewind" else 1)


async def test_in_a_fleet_only_the_node_that_was_undoing_finishes_it_at_its_next_start(tmp_path: Path) -> None:
    journal = CrashingJournal()
    shop = ManualTask(tmp_path, journal, node="one")
    (shop.workspace / "a.txt").write_text(BEFORE)
    await shop.open()
    start = await shop.seq()
    await shop.call("write_file", {"path": "a.txt", "content": AFTER})
    journal.left = 1  # the plan
    with suppress(JournalClosed):
        await shop.rewind(start)
    await shop.close()
    journal.left = 10**9
    (shop.workspace / "a.txt").write_text(AFTER)  # it died before it wrote the file
    assert (await _finished(tmp_path, journal, "two"))["a.txt"][0] == AFTER.encode()
    assert (await _finished(tmp_path, journal, "one"))["a.txt"][0] == BEFORE.encode()
    (shop.workspace / "a.txt").write_text(AFTER)
    assert (await _finished(tmp_path, journal, "one"))["a.txt"][0] == AFTER.encode()


async def _finished(directory: Path, journal: CrashingJournal, node: str | None = None) -> dict[str, tuple[bytes, int]]:
    """The next start, and the files after it."""
    shop = ManualTask(directory, journal, node)
    await shop.engine.review.finish()
    await shop.close()
    return shop.files()
