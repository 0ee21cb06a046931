"""A task can begin where another one was: with what was said until then, the files of then, and nothing done twice."""

from pathlib import Path
from typing import Any

import pytest

from sidecar.engine.errors import OperationRefused
from sidecar.engine.operations import Fork, SendMessage
from sidecar.models.port import Request, Turn
from sidecar.models.scripted import Scripted
from sidecar.wire.tasks import ForkRequest, Status
from tests.support.edits import last_event_of_call, run_edits, write
from tests.support.engine import EngineHarness, engine_harness

Histories = list[list[Turn]]


def command(text: str) -> dict[str, Any]:
    return {"calls": [{"tool": "run_command", "args": {"command": text}}]}


async def fork(harness: EngineHarness, task_id: str, key: str | None = None, **wanted: object) -> str:
    return await harness.submit(Fork(task_id, ForkRequest.model_validate(wanted), key))


@pytest.fixture
def histories(monkeypatch: pytest.MonkeyPatch) -> Histories:
    seen: Histories = []

    class Listening(Scripted):
        def stream(self, request: Request):  # type: ignore[no-untyped-def]
            seen.append(list(request.history))
            return super().stream(request)

    monkeypatch.setattr("sidecar.models.scripted.Scripted", Listening)
    return seen


async def test_a_fork_goes_on_from_the_checkpoint_with_its_files_and_another_model(
    tmp_path: Path, histories: Histories
) -> None:
    async with engine_harness(tmp_path) as harness:
        old = await run_edits(harness, write("a.txt", "one\n"), command("echo ran >> log.txt"), write("a.txt", "two\n"))
        seq = await last_event_of_call(harness, old, 1)
        histories.clear()
        # A scripted model answers by the number of the turn: the first two are those of the old task.
        other = harness.script("other", [{}, {}, write("b.txt", "another way\n"), {"text": "done differently"}])
        task_id = await fork(harness, old, seq=seq, options={"models": other})
        task = await harness.ended(task_id)
        assert (task.status, task.task) == (Status.COMPLETED, "x"), task.error
        assert task.forked_from is not None and (task.forked_from.task_id, task.forked_from.seq) == (old, seq)
        assert (harness.workspace / "a.txt").read_text() == "one\n"
        assert (harness.workspace / "b.txt").read_text() == "another way\n"
        assert (harness.workspace / "log.txt").read_text() == "ran\n", "what was done is not done again"
        first, *_ = await harness.events(task_id)
        assert f"forked from {old} at event {seq}" in first["reason"]
        assert [file.path for file in (await harness.engine.review.diff(task_id)).files] == ["b.txt"]


async def test_a_fork_of_a_done_task_takes_words_and_knows_what_was_said(tmp_path: Path, histories: Histories) -> None:
    async with engine_harness(tmp_path) as harness:
        old = await run_edits(harness, write("a.txt", "one\n"))
        with pytest.raises(OperationRefused) as refusal:
            await fork(harness, old)
        assert refusal.value.code == "nothing_left"
        histories.clear()
        task_id = await fork(
            harness, old, task="and now?", options={"models": harness.script("more", [{}, {"text": "this"}])}
        )
        task = await harness.ended(task_id)
        assert task.status is Status.COMPLETED, task.error
        said = [getattr(turn, "text", "") for turn in histories[0]]
        assert "done" in said and any("and now?" in text for text in said)
        told = [event["text"] for event in await harness.events(task_id) if event["type"] == "message"]
        assert told == ["x", "done", "and now?", "this"]
        assert (harness.workspace / "a.txt").read_text() == "one\n"


async def test_words_in_the_middle_are_heard_at_the_next_turn(tmp_path: Path, histories: Histories) -> None:
    async with engine_harness(tmp_path) as harness:
        old = await run_edits(harness, write("a.txt", "one\n"), write("a.txt", "two\n"))
        seq = await last_event_of_call(harness, old, 0)
        histories.clear()
        task_id = await fork(harness, old, seq=seq, task="call it b.txt")
        await harness.ended(task_id)
        assert any("call it b.txt" in getattr(turn, "text", "") for turn in histories[0])


async def test_a_fork_from_the_beginning_is_a_new_request(tmp_path: Path) -> None:
    async with engine_harness(tmp_path) as harness:
        (harness.workspace / "a.txt").write_text("zero\n")
        old = await run_edits(harness, write("a.txt", "one\n"))
        harness.script("edit", [{"text": "nothing to do"}])
        task_id = await fork(harness, old, seq=0, task="something else")
        task = await harness.ended(task_id)
        assert (task.task, task.status) == ("something else", Status.COMPLETED)
        assert (harness.workspace / "a.txt").read_text() == "zero\n"
        again = (await harness.engine.review.rewind(old, (await harness.journal.task(old)).last_seq - 2)).files
        assert again, "what was taken back for the fork can be brought back in the old task"
        assert (harness.workspace / "a.txt").read_text() == "one\n"


async def test_files_can_stay_and_what_the_user_edited_is_kept_and_named(tmp_path: Path) -> None:
    async with engine_harness(tmp_path) as harness:
        old = await run_edits(harness, write("a.txt", "one\n"), write("b.txt", "b\n"))
        harness.script("edit", [{"text": "done"}])
        kept = await fork(harness, old, seq=0, task="y", keepFiles=True)
        await harness.ended(kept)
        assert (harness.workspace / "a.txt").read_text() == "one\n"
        (harness.workspace / "a.txt").write_text("mine\n")
        forked = await fork(harness, old, seq=0, task="z")
        await harness.ended(forked)
        assert (harness.workspace / "a.txt").read_text() == "mine\n"
        assert not (harness.workspace / "b.txt").exists()
        first, *_ = await harness.events(forked)
        assert "left as they are: a.txt" in first["reason"]


async def test_the_same_key_is_the_same_fork_and_the_files_are_not_touched_again(tmp_path: Path) -> None:
    async with engine_harness(tmp_path) as harness:
        old = await run_edits(harness, write("a.txt", "one\n"))
        harness.script("edit", [{"text": "done"}])
        first = await fork(harness, old, "key", seq=0, task="y")
        await harness.ended(first)
        (harness.workspace / "a.txt").write_text("made since\n")
        assert await fork(harness, old, "key", seq=0, task="y") == first
        assert (harness.workspace / "a.txt").read_text() == "made since\n"


async def test_what_cannot_be_forked_says_why(tmp_path: Path) -> None:
    async with engine_harness(tmp_path) as harness:
        old = await run_edits(harness, write("a.txt", "one\n"))
        with pytest.raises(OperationRefused) as refusal:
            await fork(harness, old, seq=10_000, task="y")
        assert refusal.value.code == "unknown_event"
        slow = harness.script("slow", [{"text": "x", "delayMs": 60_000}])
        running = await harness.execute("x", models=slow, intent="chat")
        await harness.reached(running, Status.RUNNING)
        with pytest.raises(OperationRefused) as refusal:
            await fork(harness, running, task="y")
        assert refusal.value.code == "task_active"


async def test_a_fork_of_a_fork_and_of_a_rewound_task_knows_what_counted_then(tmp_path: Path) -> None:
    async with engine_harness(tmp_path) as harness:
        old = await run_edits(harness, write("a.txt", "one\n"))
        await harness.engine.review.rewind(old, 0)
        models = harness.script("say", [{"text": "first"}, {"text": "second"}, {"text": "third"}])
        one = await harness.execute("hello", models=models, intent="chat")
        await harness.ended(one)
        await harness.submit(SendMessage(one, "go on"))
        await harness.until(one, "message", text="second")
        while (await harness.ended(one)).status is not Status.COMPLETED:
            pass
        two = await fork(harness, one, task="further")
        await harness.ended(two)
        three = await fork(harness, two, task="and further")
        await harness.ended(three)
        told = [
            event["text"]
            for event in await harness.events(three)
            if event["type"] == "message" and event["role"] == "user"
        ]
        assert told == ["hello", "go on", "further", "and further"]
