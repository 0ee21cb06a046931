"""What the one door promises for every call."""

import asyncio
from pathlib import Path

import pytest

from sidecar.wire.events import ToolEvent, ToolOutputEvent
from tests.support.workbench import Workbench, workbench
from tests.waiting import SECONDS, loop_turns, until_true
from tools.executor.context import BatchContext, ToolCall
from tools.host import FileInfo
from tools.ledger import ListLedger


async def test_a_recorded_outcome_is_returned_and_nothing_runs_again(bench: Workbench) -> None:
    first = await bench.call("run_command", "once", command="echo x >> seen; cat seen")
    events = len(bench.ledger.events)

    again = await bench.call("run_command", "once", command="echo x >> seen; cat seen")

    assert again == first
    assert bench.read("seen") == b"x\n"
    assert len(bench.ledger.events) == events


async def test_an_effect_is_on_the_books_before_it_happens(bench: Workbench) -> None:
    seen: list[bool] = []

    class Watching(ListLedger):
        async def intend(self, call_id, intent, event, blobs=()):  # type: ignore[no-untyped-def]
            seen.append((bench.workspace / "a.txt").exists())
            await super().intend(call_id, intent, event, blobs)

    context = BatchContext(str(bench.workspace), "auto", Watching())
    await bench.executor.batch([ToolCall("w", "write_file", {"path": "a.txt", "content": "1"})], context)

    assert seen == [False]
    assert bench.read("a.txt") == b"1"
    intent = context.ledger.intent("w")
    assert intent is not None and intent.files[0].before is None and intent.files[0].after is not None


async def test_a_change_that_takes_long_to_find_is_told_to_be_at_work_on_meanwhile(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool, released = bench.registry.get("write_file"), asyncio.Event()
    at_once = tool.prepare  # type: ignore[union-attr]

    async def at_length(*args: object) -> object:
        await released.wait()
        return await at_once(*args)

    monkeypatch.setattr(type(tool), "prepare", lambda self, *args: at_length(*args))
    call = asyncio.create_task(bench.call("write_file", "slow", path="a.txt", content="1"))
    await until_true(lambda: bench.events("slow") == ["running"])
    assert not (bench.workspace / "a.txt").exists()
    released.set()
    assert (await call).status == "success"
    assert bench.events("slow")[-1] == "success"

    await bench.call("write_file", "quick", path="b.txt", content="1")
    assert bench.events("quick") == ["running", "success"], "one that is quick is told once"


async def test_an_unknown_argument_is_rejected_in_the_words_of_the_schema(bench: Workbench) -> None:
    outcome = await bench.call("read_file", path="a", encoding="latin-1")

    assert outcome.status == "error"
    assert outcome.error is not None and outcome.error.code == "invalid_arguments"
    assert "unknown argument `encoding`" in outcome.content
    assert "startLine?: integer" in outcome.content


async def test_arguments_of_ten_megabytes_are_an_error_result(bench: Workbench) -> None:
    outcome = await bench.call("write_file", path="a", content="x" * 10_000_000)

    assert outcome.error is not None and outcome.error.code == "invalid_arguments"
    assert sum(len(event.to_json()) for event in bench.ledger.events) < 100_000


@pytest.mark.parametrize("args", [None, "text", ["list"], {"path": 7}, {"path": "\ud800"}, {"path": {"deep": {}}}])
async def test_arguments_that_are_no_arguments_are_an_error_result(bench: Workbench, args: object) -> None:
    (outcome,) = await bench.executor.batch([ToolCall("bad", "read_file", args)], bench.context)  # type: ignore[arg-type]

    assert outcome.error is not None and outcome.error.code == "invalid_arguments"
    for event in bench.ledger.events:
        event.to_json()


async def test_an_unknown_tool_is_answered_with_the_nearest_one(bench: Workbench) -> None:
    outcome = await bench.call("reed_file", path="a")

    assert outcome.error is not None and outcome.error.code == "unknown_tool"
    assert "read_file" in outcome.content


async def test_a_tool_that_is_not_offered_is_refused(bench: Workbench) -> None:
    context = BatchContext(str(bench.workspace), "auto", bench.ledger, tools=frozenset({"read_file"}))

    (outcome,) = await bench.executor.batch([ToolCall("n", "shell", {"command": "true"})], context)

    assert outcome.error is not None and outcome.error.code == "tool_not_offered"


async def test_a_models_habits_find_the_same_tools(bench: Workbench) -> None:
    bench.write("a.txt", "hello\n")

    assert (await bench.call("ls")).content == "a.txt"
    assert (await bench.call("cat", path="a.txt")).content == "1 hello"
    assert (await bench.call("grep", query="hell")).content == "a.txt\n1:hello"
    assert (await bench.call("str_replace", path="a.txt", oldText="hello", newText="bye")).status == "success"
    assert (await bench.call("shell", command="cat a.txt")).content == "bye"


async def test_one_failure_does_not_stop_the_others_and_the_order_is_kept(bench: Workbench) -> None:
    bench.write("a.txt", "A\n")
    outcomes = await bench.batch(
        ("read_file", {"path": "missing"}), ("read_file", {"path": "a.txt"}), ("nonsense", {}), ("list_dir", {})
    )

    assert [outcome.status for outcome in outcomes] == ["error", "success", "error", "success"]
    assert outcomes[1].content == "1 A"


async def test_what_conflicts_keeps_the_order_of_the_calls(bench: Workbench) -> None:
    outcomes = await bench.batch(
        ("write_file", {"path": "a.txt", "content": "one\n"}),
        ("read_file", {"path": "a.txt"}),
        ("run_command", {"command": "echo two > a.txt"}),
        ("read_file", {"path": "a.txt"}),
        ("edit_file", {"path": "a.txt", "oldText": "two", "newText": "three"}),
        ("list_dir", {}),
        ("read_file", {"path": "a.txt"}),
    )

    assert [outcomes[place].content for place in (1, 3, 6)] == ["1 one", "1 two", "1 three"]


async def test_identical_reads_in_flight_are_one_read(bench: Workbench) -> None:
    bench.write("a.txt", "A\n")
    host = bench.backend.host(str(bench.workspace))
    reads: list[str] = []
    original = host.whole

    async def counting(path: str, limit: int) -> tuple[FileInfo, bytes | None]:
        reads.append(path)
        await loop_turns()
        return await original(path, limit)

    host.whole = counting  # type: ignore[method-assign]
    outcomes = await bench.batch(*[("read_file", {"path": "a.txt"})] * 5)

    assert reads == ["a.txt"]
    assert {outcome.content for outcome in outcomes} == {"1 A"}
    assert len(bench.ledger.outcomes) == 5


async def test_at_most_ten_calls_run_at_once(bench: Workbench) -> None:
    host = bench.backend.host(str(bench.workspace))
    original = host.whole
    running = peak = 0

    async def counting(path: str, limit: int) -> tuple[FileInfo, bytes | None]:
        nonlocal running, peak
        running += 1
        peak = max(peak, running)
        await loop_turns(5)
        running -= 1
        return await original(path, limit)

    for number in range(40):
        bench.write(f"{number}.txt", "x")
    host.whole = counting  # type: ignore[method-assign]
    await bench.batch(*[("read_file", {"path": f"{number}.txt"}) for number in range(40)], max_concurrency=50)

    assert peak == 10


async def test_the_same_id_twice_in_a_batch_runs_once(bench: Workbench) -> None:
    call = ToolCall("same", "run_command", {"command": "echo x >> seen"})

    first, second = await bench.executor.batch([call, call], bench.context)

    assert first == second
    assert bench.read("seen") == b"x\n"


async def test_five_hundred_calls_all_get_a_result(bench: Workbench) -> None:
    bench.write("a.txt", "A\n")
    outcomes = await bench.batch(*[("read_file", {"path": "a.txt", "startLine": 1 + n % 3}) for n in range(500)])

    assert len(outcomes) == 500
    assert sum(outcome.status == "success" for outcome in outcomes) == 167


async def test_a_question_is_asked_before_a_command_runs(tmp_path: Path) -> None:
    async with workbench(tmp_path, approvals="ask") as bench:
        bench.ledger.answer = "deny"
        outcome = await bench.call("run_command", "q", command=["touch", "x"], cwd=".")

        assert outcome.error is not None and outcome.error.code == "denied"
        assert not (bench.workspace / "x").exists()
        (question,) = bench.ledger.questions
        assert (question.id, question.argv, question.cwd) == ("q:approve", ("touch", "x"), str(bench.workspace))
        assert bench.events("q") == ["pending", "error"]

        bench.ledger.answer = "allow"
        assert (await bench.call("run_command", command=["touch", "x"])).status == "success"
        assert (bench.workspace / "x").exists()


async def test_where_no_one_can_be_asked_the_answer_says_so(tmp_path: Path) -> None:
    async with workbench(tmp_path, approvals="ask") as bench:
        outcome = await bench.call("run_command", command="true")

    assert outcome.error is not None and outcome.error.code == "approval_required"


async def test_where_no_one_may_be_asked_it_is_not_done_and_said_why(bench: Workbench) -> None:
    bench.ledger.answer = "allow"
    context = BatchContext(str(bench.workspace), "ask", bench.ledger, can_ask=False)
    (outcome,) = await bench.executor.batch([ToolCall("c", "run_command", {"command": "touch x"})], context)

    assert outcome.error is not None and outcome.error.code == "approval_required"
    assert outcome.error.message.endswith("and this call can't ask for it.")
    assert bench.ledger.questions == [] and not (bench.workspace / "x").exists()


async def test_a_protected_file_is_shown_as_a_diff_before_it_is_written(bench: Workbench) -> None:
    bench.ledger.answer = "deny"
    outcome = await bench.call("write_file", path=".env", content="KEY=1\n")

    assert outcome.error is not None and outcome.error.code == "denied"
    assert not (bench.workspace / ".env").exists()
    assert ".env" in (bench.ledger.questions[0].diff or "")


async def test_live_output_is_seen_while_a_command_runs(bench: Workbench) -> None:
    seen = asyncio.Event()

    class Watching(ListLedger):
        def live(self, event):  # type: ignore[no-untyped-def]
            super().live(event)
            seen.set()

    ledger = Watching()
    context = BatchContext(str(bench.workspace), "auto", ledger)
    call = ToolCall("l", "run_command", {"command": "echo first; while [ ! -e go ]; do sleep 0.01; done; echo last"})
    batch = asyncio.create_task(bench.executor.batch([call], context))
    await asyncio.wait_for(seen.wait(), SECONDS)
    assert not batch.done()
    bench.write("go", "")
    (outcome,) = await asyncio.wait_for(batch, SECONDS)

    assert outcome.content == "first\nlast"
    output = [event for event in ledger.events if isinstance(event, ToolOutputEvent)]
    assert "".join(event.text for event in output) == "first\nlast\n"


async def test_a_flood_of_output_reaches_the_watchers_in_small_doses(bench: Workbench) -> None:
    await bench.call("run_command", command="yes | head -c 20000000")

    output = [event for event in bench.ledger.events if isinstance(event, ToolOutputEvent)]
    assert 0 < len(output) < 60
    assert all(len(event.text) <= 8 * 1024 for event in output)


async def test_a_cancel_ends_the_command_first_and_says_what_was_killed(bench: Workbench) -> None:
    call = ToolCall("k", "run_command", {"command": "touch up; sleep 1000"})
    batch = asyncio.create_task(bench.executor.batch([call], bench.context))
    await until_true((bench.workspace / "up").exists)
    batch.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(batch, SECONDS)

    outcome = bench.ledger.outcomes["k"]
    assert outcome.status == "cancelled"
    assert any("sleep 1000" in command for _, _, command in bench.ledger.ended)
    event = bench.ledger.events[-1]
    assert isinstance(event, ToolEvent) and event.status == "cancelled"
    assert isinstance(event.details, dict) and event.details["killed"]


async def test_a_cancelled_read_has_no_outcome_so_that_a_resume_runs_it_again(bench: Workbench) -> None:
    host = bench.backend.host(str(bench.workspace))
    reached = asyncio.Event()

    async def hanging(path: str, limit: int) -> tuple[FileInfo, bytes | None]:
        reached.set()
        return await asyncio.Future()

    host.whole = hanging  # type: ignore[method-assign]
    batch = asyncio.create_task(bench.executor.batch([ToolCall("r", "read_file", {"path": "a"})], bench.context))
    await asyncio.wait_for(reached.wait(), SECONDS)
    batch.cancel()
    with pytest.raises(asyncio.CancelledError):
        await batch

    assert "r" not in bench.ledger.outcomes
    assert bench.events("r") == ["running", "cancelled"]


@pytest.mark.parametrize("over", [{"given_up": True}, {"anew": True}, {}])
async def test_a_test_run_that_is_cut_off_is_reported_once_and_is_open_only_if_it_may_be_gone_on_with(
    bench: Workbench, over: dict[str, bool]
) -> None:
    bench.write(
        "test_slow.py", "import pathlib, signal\n\ndef test_it():\n    pathlib.Path('up').touch(); signal.pause()\n"
    )
    ledger = ListLedger(given_up=over.get("given_up", False))
    context = BatchContext(str(bench.workspace), "auto", ledger, single_use=over.get("anew", False))
    batch = asyncio.create_task(bench.executor.batch([ToolCall("t", "run_tests", {})], context))
    await until_true((bench.workspace / "up").exists)
    batch.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(batch, SECONDS)

    assert [event.status for event in ledger.events if isinstance(event, ToolEvent)] == ["running", "cancelled"]
    assert ("t" in ledger.outcomes) == bool(over)


async def test_a_write_that_has_begun_is_finished_and_recorded_before_a_cancel_goes_on(bench: Workbench) -> None:
    intended = asyncio.Event()

    class Watching(ListLedger):
        async def intend(self, call_id, intent, event, blobs=()):  # type: ignore[no-untyped-def]
            await super().intend(call_id, intent, event, blobs)
            intended.set()

    ledger = Watching()
    context = BatchContext(str(bench.workspace), "auto", ledger)
    batch = asyncio.create_task(
        bench.executor.batch([ToolCall("w", "write_file", {"path": "a", "content": "1"})], context)
    )
    await intended.wait()
    await loop_turns()
    batch.cancel()
    with pytest.raises(asyncio.CancelledError):
        await batch

    assert ledger.outcomes["w"].status in ("success", "cancelled")
    assert (bench.workspace / "a").exists() == (ledger.outcomes["w"].status == "success")


async def test_closing_ends_what_still_runs(tmp_path: Path) -> None:
    bench = Workbench(tmp_path)
    batch = asyncio.create_task(bench.call("run_command", command="touch up; sleep 1000"))
    await bench.call("run_command", "bg", command="sleep 1000", background=True)
    await until_true((bench.workspace / "up").exists)
    await asyncio.wait_for(bench.executor.close(), SECONDS)

    assert batch.cancelled()


async def test_a_failing_ledger_is_not_mistaken_for_a_failing_tool(bench: Workbench) -> None:
    class Broken(ListLedger):
        async def settle(self, call_id, outcome, event, blobs=()):  # type: ignore[no-untyped-def]
            raise OSError("disk full")

    context = BatchContext(str(bench.workspace), "auto", Broken())
    calls = [ToolCall(f"b{n}", "list_dir", {"path": "."}) for n in range(2)]
    with pytest.raises(OSError, match="disk full"):
        await bench.executor.batch(calls, context)
    with pytest.raises(OSError, match="disk full"):
        await bench.executor.batch(calls[:1], context)


async def test_arguments_under_the_names_of_other_agents_are_understood(bench: Workbench) -> None:
    bench.write("a.txt", "one\ntwo\n")
    read = await bench.call("read_file", file_path="a.txt", start_line=2)
    assert (read.status, read.content) == ("success", "2 two")
    edited = await bench.call("edit_file", file_path="a.txt", old_string="one", new_string="1")
    assert (edited.status, bench.read("a.txt")) == ("success", b"1\ntwo\n")
    edits = '[{"old_string": "two", "new_string": "2"}]'
    assert (await bench.call("multi_edit", path="a.txt", edits=edits)).status == "success"
    assert bench.read("a.txt") == b"1\n2\n"


async def test_a_name_that_is_given_twice_is_not_chosen_among(bench: Workbench) -> None:
    bench.write("a.txt", "one\n")
    outcome = await bench.call("read_file", path="a.txt", file_path="b.txt")
    assert outcome.error is not None and outcome.error.code == "invalid_arguments"
    outcome = await bench.call("multi_edit", path="a.txt", edits="no list")
    assert "edits: [{oldText: string, newText: string}]" in outcome.content


async def test_a_list_of_commands_in_an_unattended_task_is_answered_with_how_to_run_them(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        context = BatchContext(str(bench.workspace), "ask", bench.ledger, unattended=True)
        calls = [
            ToolCall("list", "run_command", {"command": "make x && grep -rn y . | head"}),
            ToolCall("one", "run_command", {"command": "make x"}),
        ]
        several, one = await bench.executor.batch(calls, context)
    assert "only one at a time" in several.content
    assert "Don't try it another way" in one.content
