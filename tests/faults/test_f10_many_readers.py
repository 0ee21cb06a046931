"""F10: a thousand readers all get everything; one past the limit is told to come back."""

import asyncio
import resource
from pathlib import Path

import pytest

from tests.e2e.support import running_sidecar
from tests.faults.readers import close, open_stream, read_to_end
from tests.waiting import SECONDS, until_true

READERS = 1_000


@pytest.mark.timeout(180)
async def test_f10_a_thousand_readers_get_all_and_one_more_gets_503(tmp_path: Path) -> None:
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4_096, most), most))
    ask = {"calls": [{"tool": "run_command", "args": {"command": "true"}}]}
    with running_sidecar(tmp_path, BRAIN_MAX_STREAMS=str(READERS)) as sidecar:
        models = sidecar.script("ask", [ask, {"text": "done"}])
        task_id = sidecar.execute("x", models=models, intent="run_command", agentType="terminal")
        opened = []
        for _ in range(READERS // 100):
            opened += await asyncio.gather(*[open_stream(sidecar, task_id) for _ in range(100)])
        assert {status for _, _, status in opened} == {200}

        def all_read() -> bool:
            return bool(sidecar.get("/api/brain/status").json["streams"] >= READERS)

        await until_true(lambda: asyncio.to_thread(all_read))
        _, one_more, refused = await open_stream(sidecar, task_id)
        assert refused == 503
        await close(one_more)

        approval = (await asyncio.to_thread(sidecar.events, task_id))[-2]
        assert approval["type"] == "approval"
        url = f"/api/brain/tasks/{task_id}/approvals/{approval['approvalId']}"
        answer = await asyncio.to_thread(sidecar.post, url, {"decision": "allow"})
        assert answer.status == 200
        async with asyncio.timeout(SECONDS):
            read = await asyncio.gather(*[read_to_end(reader) for reader, _, _ in opened])
        expected = [event["seq"] for event in await asyncio.to_thread(sidecar.events, task_id)]
        for events in read:
            assert [event["seq"] for event in events if "seq" in event] == expected
        for _, writer, _ in opened:
            await close(writer)
