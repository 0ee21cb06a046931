"""Where a call is carried out, and what happens when that place fails."""

import asyncio
from pathlib import Path

import pytest

from tests.support.workbench import Workbench
from tests.waiting import SECONDS, until_true
from tools.executor.context import ToolCall


async def test_an_impatient_second_cancel_does_not_leave_a_process(bench: Workbench) -> None:
    call = ToolCall("k", "run_command", {"command": "trap '' TERM; touch up; while :; do sleep 1000; done"})
    batch = asyncio.create_task(bench.executor.batch([call], bench.context))
    await until_true((bench.workspace / "up").exists)
    for _ in range(5):
        batch.cancel()
        await asyncio.wait([batch], timeout=0.01)
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(batch, SECONDS)

    assert bench.ledger.outcomes["k"].status == "cancelled"
    killed = [pid for _, pid, _ in bench.ledger.ended]
    assert killed and not any(Path(f"/proc/{pid}").exists() for pid in killed)
