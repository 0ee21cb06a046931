"""A call that was about to act when the process died."""

from pathlib import Path

import pytest

from tests.support.workbench import Workbench, workbench
from tools.executor.recovery import classify
from tools.ledger import FileState, IntentRecord, digest


def _intend(bench: Workbench, call_id: str, tool: str, before: bytes | None, after: bytes | None) -> None:
    state = FileState(
        path="a.txt",
        before=None if before is None else digest(before),
        after=None if after is None else digest(after),
    )
    bench.ledger.intents[call_id] = IntentRecord(tool=tool, args={}, backend="local", files=[state])
    bench.ledger.blobs.update((digest(blob), blob) for blob in (before, after) if blob is not None)


async def test_a_write_that_was_done_is_not_done_again(bench: Workbench) -> None:
    place = bench.write("a.txt", "new")
    _intend(bench, "w", "write_file", b"old", b"new")
    stamp = place.stat().st_mtime_ns

    outcome = await bench.call("write_file", "w", path="a.txt", content="new")

    assert outcome.status == "success"
    assert "Already done" in outcome.content
    assert place.stat().st_mtime_ns == stamp


async def test_a_write_that_was_not_done_is_done_with_the_recorded_content(bench: Workbench) -> None:
    bench.write("a.txt", "old")
    _intend(bench, "w", "write_file", b"old", b"recorded")

    outcome = await bench.call("write_file", "w", path="a.txt", content="another")

    assert outcome.status == "success"
    assert bench.read("a.txt") == b"recorded"


async def test_a_file_that_somebody_edited_meanwhile_is_left_alone(bench: Workbench) -> None:
    bench.write("a.txt", "theirs")
    _intend(bench, "w", "write_file", b"old", b"new")

    outcome = await bench.call("write_file", "w", path="a.txt", content="new")

    assert outcome.error is not None and outcome.error.code == "changed_elsewhere"
    assert bench.read("a.txt") == b"theirs"


async def test_of_a_half_done_patch_only_the_rest_is_applied(bench: Workbench) -> None:
    bench.write("a.txt", "new")
    bench.write("b.txt", "old b")
    files = [
        FileState(path="a.txt", before=digest(b"old"), after=digest(b"new")),
        FileState(path="b.txt", before=digest(b"old b"), after=digest(b"new b")),
    ]
    bench.ledger.intents["p"] = IntentRecord(tool="apply_patch", args={}, backend="local", files=files)
    bench.ledger.blobs[digest(b"new b")] = b"new b"

    outcome = await bench.call("apply_patch", "p", patch="--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-old\n+new\n")

    assert outcome.status == "success"
    assert (bench.read("a.txt"), bench.read("b.txt")) == (b"new", b"new b")


@pytest.mark.parametrize("approvals", ["auto", "ask"])
async def test_a_command_that_may_have_run_is_unknown_and_not_repeated(tmp_path: Path, approvals: str) -> None:
    async with workbench(tmp_path, approvals=approvals, task_text="run `touch x`") as bench:
        bench.ledger.intents["r"] = IntentRecord(tool="run_command", args={}, backend="local")
        outcome = await bench.call("run_command", "r", command="touch x")

        assert outcome.status == "unknown"
        assert "Check the current state" in outcome.content
        assert not (bench.workspace / "x").exists()
        (question,) = bench.ledger.chosen
        assert (question.safe, question.choices) == ("skip", ("run again", "skip", "look"))
        assert "touch x" in question.text


async def test_a_user_may_let_an_unknown_command_run_again(tmp_path: Path) -> None:
    async with workbench(tmp_path, approvals="ask") as bench:
        bench.ledger.choices = ["look", "run again"]
        bench.ledger.intents["r"] = IntentRecord(tool="run_command", args={}, backend="local")
        outcome = await bench.call("run_command", "r", command="touch x")

        assert outcome.status == "success"
        assert (bench.workspace / "x").exists()
        assert [question.id for question in bench.ledger.chosen] == ["r:repeat0.0", "r:repeat0.1"]
        assert bench.ledger.repeated == ["r"]


async def test_a_command_that_died_again_after_it_was_repeated_is_asked_about_anew(tmp_path: Path) -> None:
    async with workbench(tmp_path, approvals="ask") as bench:
        bench.ledger.repeated = ["r"]
        bench.ledger.intents["r"] = IntentRecord(tool="run_command", args={}, backend="local")
        assert (await bench.call("run_command", "r", command="touch x")).status == "unknown"
        assert [question.id for question in bench.ledger.chosen] == ["r:repeat1.0"]


async def test_what_may_be_repeated_is_repeated(bench: Workbench) -> None:
    bench.write("test_a.py", "import unittest\nclass T(unittest.TestCase):\n    def test_x(self): pass\n")
    bench.ledger.intents["t"] = IntentRecord(tool="run_tests", args={}, backend="local")

    assert (await bench.call("run_tests", "t")).status == "success"


async def test_what_a_killed_process_left_of_a_command_is_ended_first(bench: Workbench) -> None:
    other = Workbench(bench.workspace.parent)
    await other.call("run_command", "r", command="exec sleep 1000", background=True)
    bench.ledger.intents["r"] = IntentRecord(tool="run_command", args={}, backend="local")

    outcome = await bench.call("run_command", "r", command="sleep 1000")

    assert outcome.status == "unknown"
    assert [command.endswith("sleep 1000") for _, _, command in bench.ledger.ended] == [True]
    await other.executor.close()


def test_each_file_is_judged_by_what_it_is_now() -> None:
    states = [FileState(path=name, before="1", after="2") for name in "abc"]

    judgement = classify(states, {"a": "1", "b": "2", "c": None})

    assert [[state.path for state in group] for group in judgement] == [["b"], ["a"], ["c"]]
