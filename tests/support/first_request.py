"""The first request that an agent sends for a task."""

from typing import Any

from sidecar.engine.operations import Execute
from sidecar.models.port import Request, ToolTurn
from sidecar.wire.tasks import ExecuteRequest, Status
from tests.support.engine import EngineHarness
from tests.support.models import recorded_requests


async def first_request(
    harness: EngineHarness, task: str, context: dict[str, Any] | None = None, **options: object
) -> Request:
    models = harness.script("play", [{"text": "ok"}])
    request = ExecuteRequest.model_validate(
        {"task": task, "context": context or {}, "options": {"models": models, "agentType": "coder", **options}}
    )
    with recorded_requests() as requests:
        done = await harness.ended(await harness.engine.submit(Execute(request)))
    assert done.status is Status.COMPLETED, done.error
    return requests[0]


def request_text(request: Request) -> str:
    return "\n".join(turn.text for turn in request.history if not isinstance(turn, ToolTurn))
