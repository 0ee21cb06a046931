"""A task that was ended and goes on: what it has used, and what it must not ask for or do again."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

from sidecar.models.port import Capabilities, Delta, ModelTurn, Reply, Request, Stop, ToolUse
from sidecar.wire.tasks import Status
from tests.support.engine import engine_harness
from tests.support.scratch_journal import ScratchJournal


async def test_a_reply_that_was_cut_off_is_not_asked_for_again_after_a_restart(tmp_path: Path) -> None:
    """Else what was done after it would be done twice."""
    stops = [Stop.LENGTH, Stop.TOOL_USE, Stop.END]

    class Cut:
        provider, name, capabilities = "somebody", "short", Capabilities()
        asked = 0

        async def stream(self, request: Request) -> AsyncIterator[Delta | Reply]:
            done = sum(isinstance(turn, ModelTurn) for turn in request.history)
            Cut.asked += 1
            if Cut.asked == 3:
                await asyncio.Event().wait()
            append = ToolUse(id="c", tool="run_command", args={"command": "echo once >> log.txt"})
            yield Reply(text="words", stop=stops[done], calls=[append] if stops[done] is Stop.TOOL_USE else [])

    journal = ScratchJournal()
    task_id = ""
    for _ in range(2):
        async with engine_harness(tmp_path, journal) as harness:
            harness.catalog.model_for = lambda *_: Cut()  # type: ignore[method-assign]
            task_id = task_id or await harness.execute("do it", intent="run_command", approvals="auto")
            if Cut.asked < 3:
                await harness.until(task_id, "tool", status="success")
            else:
                assert (await harness.ended(task_id)).status is Status.COMPLETED
    assert (tmp_path / "workspace" / "log.txt").read_text() == "once\n"
