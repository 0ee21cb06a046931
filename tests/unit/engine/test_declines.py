"""What could not be done is said to a person: in words for people, not for a model that knows tools by their names."""

from pathlib import Path

from sidecar.engine.operations import AnswerApproval
from sidecar.wire.tasks import ApprovalRequest
from tests.support.engine import engine_harness


async def test_a_no_is_told_back_as_ones_own(tmp_path: Path) -> None:
    async with engine_harness(tmp_path) as harness:
        (harness.workspace / "Makefile").write_text("build:\n\ttouch built\n")
        task_id = await harness.execute("build it", approvals="ask")
        asked = await harness.until(task_id, "approval", state="requested")
        no = ApprovalRequest(decision="deny", scope="once")
        await harness.submit(AnswerApproval(task_id, asked["approvalId"], no))
        ended = await harness.ended(task_id)
        assert ended.result is not None and ended.result.summary == "`make build` did not run: You declined."
