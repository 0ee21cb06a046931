"""The tools, and running some of them without a model."""

import secrets
from collections.abc import Callable

from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import Response

from sidecar.api.bodies import answer, read
from sidecar.wire.system import PolicyAnswer, PolicyRequest
from sidecar.wire.tools import BatchAnswer, BatchRequest, ToolAnswer, ToolList
from tools.errors import ToolError
from tools.executor.executor import BatchContext, Executor, ToolCall
from tools.executor.registry import Registry
from tools.ledger import ListLedger
from tools.policy.policy import Policy


class ToolRoutes:
    def __init__(
        self, registry: Registry, executor: Executor, policy: Policy, workspace: Callable[[str | None], str]
    ) -> None:
        self._registry = registry
        self._policy = policy
        self._executor = executor
        self._workspace = workspace

    async def list(self, request: Request) -> Response:
        return answer(ToolList(tools=self._registry.infos()))

    async def batch(self, request: Request) -> Response:
        wanted = await read(request, BatchRequest)
        workspace = self._workspace(wanted.workspace)
        calls = [ToolCall(call.call_id or f"b_{secrets.token_hex(8)}", call.tool, call.args) for call in wanted.calls]
        context = BatchContext(workspace=workspace, approvals=wanted.approvals, ledger=ListLedger())
        outcomes = await self._executor.batch(
            calls, context, parallel=wanted.parallel, max_concurrency=wanted.max_concurrency
        )
        return answer(
            BatchAnswer(
                results=[
                    ToolAnswer(
                        call_id=call.id,
                        tool=call.tool,
                        status=outcome.status,
                        content=outcome.content,
                        details=outcome.details,
                        error=outcome.error,
                        duration_ms=outcome.duration_ms,
                        cached=outcome.cached,
                        executor=outcome.executor,
                    )
                    for call, outcome in zip(calls, outcomes, strict=True)
                ]
            )
        )

    async def explain(self, request: Request) -> Response:
        wanted = await read(request, PolicyRequest)
        workspace = self._workspace(wanted.workspace)
        try:
            tool = self._registry.get(wanted.tool)
            args = tool.spec.arguments.model_validate(wanted.args, context=workspace)
        except (ToolError, ValidationError) as error:
            return answer(PolicyAnswer(decision="deny", why=f"The call is not valid: {error}"))
        decision = self._policy.decide(tool.spec, args, workspace, "ask")
        return answer(PolicyAnswer(decision=decision.verdict, why=decision.why))
