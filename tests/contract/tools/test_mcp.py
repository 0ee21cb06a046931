"""MCP servers as processes behind the executor: approval, pins, questions, progress, sandbox, order."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from sidecar.wire.events import ToolEvent, ToolOutputEvent
from tests.support.mcp.bench import McpBench, scripted
from tests.waiting import until_true

pytest.importorskip("mcp", reason="the package mcp is not installed")

Make = Callable[..., McpBench]


@pytest.fixture
async def make(tmp_path: Path) -> AsyncIterator[Make]:
    made: list[McpBench] = []

    def build(entry: dict[str, Any] | None = None, **more: Any) -> McpBench:
        made.append(McpBench(tmp_path, {"s": entry or scripted()}, **more))
        return made[-1]

    yield build
    for each in made:
        await each.close()


async def test_the_first_call_shows_all_tools_and_an_allowed_one_pins_them(make: Make) -> None:
    bench = make()
    outcome = await bench.call("s__echo", text="hello")
    assert (outcome.status, outcome.content, outcome.executor) == ("success", "hello", "mcp")
    [prompt] = bench.ledger.questions
    assert "+echo" in (prompt.diff or "")
    assert "+    Writes the text to a file." in (prompt.diff or "")
    assert bench.status("s").pinned


async def test_a_denied_first_call_runs_nothing_and_pins_nothing(make: Make) -> None:
    bench = make()
    bench.ledger.answer = "deny"
    outcome = await bench.call("s__echo", text="hello")
    assert outcome.error is not None
    assert outcome.error.code == "denied"
    assert not bench.status("s").pinned


async def test_an_approval_holds_for_a_tool_of_a_server_whatever_the_arguments(make: Make) -> None:
    bench = make()
    await bench.call("s__echo", text="one")
    bench.approve_for_workspace()
    await bench.call("s__echo", text="two")
    assert len(bench.ledger.questions) == 1
    await bench.call("s__progress")
    assert len(bench.ledger.questions) == 2


async def test_descriptions_reach_a_model_only_after_you_accepted_them(make: Make) -> None:
    bench = make()
    await bench.backend.prepare("s__echo", str(bench.workspace))
    before = bench.registry.get("s__echo", str(bench.workspace)).spec.offer()
    assert "Returns the text." not in before.description
    await bench.call("s__echo", text="x")
    after = bench.registry.get("s__echo", str(bench.workspace)).spec.offer()
    assert after.description == "Returns the text."


async def test_accepted_tools_are_known_before_the_server_runs(make: Make) -> None:
    bench = make()
    await bench.call("s__echo", text="x")
    await bench.close()
    bench.open()
    assert bench.status("s").state == "stopped"
    assert "s__echo" in [tool.spec.name for tool in bench.registry.external(str(bench.workspace))]


async def test_a_server_that_only_ignores_the_newer_era_works(make: Make) -> None:
    bench = make(scripted("ignores"))
    assert (await bench.call("s__echo", text="x")).content == "x"


async def test_a_missing_argument_is_reported_before_anything_is_sent(make: Make) -> None:
    bench = make()
    outcome = await bench.call("s__echo", wrong=1)
    assert outcome.error is not None
    assert outcome.error.code == "invalid_arguments"
    await bench.call("s__echo", text="pin it")
    outcome = await bench.call("s__echo", text=3)
    assert "`text` must be string" in outcome.content


async def test_a_tool_that_fails_is_an_error_that_the_model_reads(make: Make) -> None:
    outcome = await make().call("s__fails")
    assert outcome.status == "error"
    assert outcome.content == "it went wrong"


async def test_a_question_of_the_server_becomes_a_question_to_you(make: Make) -> None:
    bench = make()
    bench.ledger.choices = ["blue"]
    outcome = await bench.call("s__ask")
    assert json.loads(outcome.content) == {"action": "accept", "content": {"color": "blue"}}
    [question] = bench.ledger.chosen
    assert "The MCP server s asks: Which color?" in question.text
    assert question.choices == ("red", "blue", "decline")


async def test_a_question_that_no_one_answers_is_declined(make: Make) -> None:
    outcome = await make().call("s__ask")
    assert json.loads(outcome.content)["action"] == "decline"


async def test_progress_is_live_output(make: Make) -> None:
    bench = make()
    assert (await bench.call("s__progress")).content == "done"
    live = [event.text for event in bench.ledger.events if isinstance(event, ToolOutputEvent)]
    assert "".join(live) == "1/2 step 1\n2/2 step 2\n"


async def test_only_tools_that_say_so_run_in_parallel_and_saying_so_needs_approval_all_the_same(make: Make) -> None:
    bench = make()
    specs = dict.fromkeys(("s__echo", "s__write"), bench.registry)
    await bench.backend.prepare("s__echo", str(bench.workspace))
    echo, write = (registry.get(tool, str(bench.workspace)).spec for tool, registry in specs.items())
    assert (echo.parallel, echo.effects) == (True, "none")
    assert (write.parallel, write.effects) == (False, "command")
    outcomes = await bench.batch(*(("s__echo", {"text": str(n)}) for n in range(5)))
    assert [outcome.content for outcome in outcomes] == list("01234")
    assert bench.ledger.questions


async def test_under_auto_a_contained_server_of_yours_runs_and_a_changed_one_does_not(
    make: Make, tmp_path: Path
) -> None:
    listing = tmp_path / "tools.json"
    bench = make(scripted("", str(listing)))
    if not bench.sandboxes.available():
        pytest.skip("no sandbox works here")
    bench.ledger.answer = None
    assert (await bench.call("s__echo", "auto", text="x")).status == "success"
    listing.write_text(json.dumps([{"name": "echo", "description": "Now worse.", "inputSchema": {"type": "object"}}]))
    await bench.close()
    bench.open()
    refused = await bench.call("s__echo", "auto", text="x")
    assert refused.error is not None
    assert refused.error.code == "approval_required"
    assert bench.status("s").state == "changed"


async def test_a_read_only_task_uses_only_what_you_say_reads(make: Make) -> None:
    bench = make(scripted(readOnly=["echo"]))
    assert (await bench.call("s__echo", "readonly", text="x")).status == "success"
    assert not bench.ledger.questions
    refused = await bench.call("s__progress", "readonly")
    assert refused.error is not None
    assert refused.error.code == "denied"


async def test_what_a_server_writes_with_its_grant_is_recorded_like_the_work_of_a_command(make: Make) -> None:
    bench = make(scripted(grants={"write": ["."]}))
    outcome = await bench.call("s__write", text="new")
    assert outcome.status == "success", outcome.content
    assert (bench.workspace / "written.txt").read_text() == "new"
    assert [file.path for file in outcome.files] == ["written.txt"]


async def test_a_cancelled_call_ends_at_once_and_the_server_lives_on(make: Make) -> None:
    bench = make(scripted(timeout=60))
    await bench.call("s__echo", text="x")
    call = asyncio.create_task(bench.call("s__hang"))
    await until_true(
        lambda: any(
            isinstance(event, ToolEvent) and event.status == "running" and event.tool == "s__hang"
            for event in bench.ledger.events
        )
    )
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert list(bench.ledger.outcomes.values())[-1].status == "cancelled"


async def test_a_server_is_told_which_call_you_cancelled(make: Make) -> None:
    bench = make(scripted(timeout=60, allow=["hang", "look"]))
    await bench.call("s__echo", text="x")
    call = asyncio.create_task(bench.call("s__hang", listens=True))
    connection = bench.servers.connection(bench.servers.entries(str(bench.workspace))["s"])
    await until_true(lambda: connection._requests)
    call.cancel()
    await asyncio.wait((call,))
    assert len(json.loads((await bench.call("s__look")).content)["cancelled"]) == 1


async def test_closing_leaves_no_process_behind(make: Make) -> None:
    bench = make()
    await bench.call("s__echo", text="x")
    connection = bench.servers.connection(bench.servers.entries(str(bench.workspace))["s"])
    pid = connection._peer.pid  # type: ignore[union-attr]
    await bench.close()
    assert not Path(f"/proc/{pid}").exists()
