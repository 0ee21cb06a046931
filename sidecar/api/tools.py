"""Routes for tools, policy, trusted workspaces and standing approvals."""

import asyncio
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import Response

from sidecar.api.requests import answer, read
from sidecar.config.approvals import StandingApprovals
from sidecar.config.repositories import is_remote_name
from sidecar.config.trust import Trust, TrustStatus
from sidecar.engine.errors import OperationRefused
from sidecar.engine.operations import RevokeApproval
from sidecar.wire.system import (
    ApprovalInfo,
    ApprovalList,
    PolicyAnswer,
    PolicyRequest,
    RevokeRequest,
    TrustAnswer,
    TrustedWorkspace,
    TrustRequest,
)
from sidecar.wire.tools import BatchAnswer, BatchRequest, ToolAnswer, ToolList
from tools.errors import ToolError
from tools.executor.context import BatchContext, ToolCall
from tools.executor.registry import Registry
from tools.ledger import ListLedger
from tools.policy.policy import Policy
from tools.text import escape_hidden

if TYPE_CHECKING:
    from sidecar.engine.engine import Engine
    from tools.executor.executor import Executor


class ToolRoutes:
    def __init__(
        self, registry: Registry, executor: "Executor", policy: Policy, workspace: Callable[[str | None], str]
    ) -> None:
        self._registry = registry
        self._policy = policy
        self._executor = executor
        self._workspace = workspace

    async def list(self, request: Request) -> Response:
        workspace = self._workspace(request.query_params.get("workspace"))
        external = [tool.spec.info() for tool in self._registry.external(workspace)]
        return answer(ToolList(tools=[*self._registry.infos(), *external]))

    async def batch(self, request: Request) -> Response:
        wanted = await read(request, BatchRequest)
        workspace = self._workspace(wanted.workspace)
        calls = [ToolCall(call.call_id or f"b_{secrets.token_hex(8)}", call.tool, call.args) for call in wanted.calls]
        context = BatchContext(workspace=workspace, approvals=wanted.approvals, ledger=ListLedger(), can_ask=False)
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
            tool = self._registry.get(wanted.tool, workspace)
            args = tool.spec.arguments.model_validate(wanted.args, context=workspace)
        except (ToolError, ValidationError) as error:
            return answer(PolicyAnswer(decision="deny", why=f"Invalid call: {error}"))
        decision = self._policy.decide(tool.spec, args, workspace, wanted.approvals)
        if decision.verdict == "ask" and wanted.approvals == "auto":
            grant = self._policy.suggest_grant(tool.spec, args)
            hint = f"; to permit it: brain policy allow {grant}" if grant else ""
            why = f"{decision.why}, and `auto` never waits for an answer{hint}"
            return answer(PolicyAnswer(decision="deny", why=why))
        return answer(PolicyAnswer(decision=decision.verdict, why=decision.why))


class TrustRoutes:
    def __init__(self, trust: Trust, approvals: StandingApprovals, own: Path, engine: "Engine") -> None:
        self._trust = trust
        self._approvals = approvals
        self._own = own
        self._engine = engine

    async def list(self, request: Request) -> Response:
        return await self._answer(str(self._own))

    async def set(self, request: Request) -> Response:
        wanted = await read(request, TrustRequest)
        if is_remote_name(wanted.workspace):
            self._trust.set(wanted.workspace, trusted=wanted.trusted)
        elif wanted.trusted:
            self._trust.set(self._engine.admission.checked_workspace(wanted.workspace), trusted=True)
        elif "\0" in wanted.workspace or not Path(wanted.workspace).is_absolute():
            raise OperationRefused(422, "workspace_not_absolute", "The workspace must be an absolute path.")
        else:
            # Works for a directory that no longer exists, too: trust must not wait for it to come back.
            self._trust.set(wanted.workspace, trusted=False)
        return await self._answer(wanted.workspace)

    async def approvals(self, request: Request) -> Response:
        return await self._approval_list()

    async def revoke(self, request: Request) -> Response:
        wanted = await read(request, RevokeRequest)
        if wanted.task_id is not None:
            await self._engine.submit(RevokeApproval(wanted.task_id, wanted.id))
        elif not self._approvals.revoke(wanted.id):
            raise OperationRefused(404, "unknown_approval", f"No approval has the id {wanted.id[:100]}.")
        return await self._approval_list()

    async def _approval_list(self) -> Response:
        for_tasks = [
            ApprovalInfo(
                id=approval.approval_id,
                workspace=task.workspace,
                action=approval.action,
                argv=approval.argv,
                cwd=approval.cwd,
                at=None,
                task_id=task.id,
                task=task.task,
            )
            for task, approval in await self._engine.allowed()
        ]
        for_workspaces = [
            ApprovalInfo(
                id=each.id, workspace=each.workspace, action=each.action, argv=each.argv, cwd=each.cwd, at=each.at
            )
            for each in self._approvals.all()
        ]
        return answer(ApprovalList(approvals=[*for_tasks, *for_workspaces]))

    async def _answer(self, also: str) -> Response:
        """Every workspace that was ever trusted, and `also`."""
        standings = {standing.workspace: standing for standing in await asyncio.to_thread(self._trust.all)}
        asked = await asyncio.to_thread(self._trust.status, also)
        standings.setdefault(asked.workspace, asked)
        return answer(TrustAnswer(workspaces=[_trusted(each) for each in standings.values()]))


def _trusted(status: TrustStatus) -> TrustedWorkspace:
    change = status.change
    return TrustedWorkspace(
        workspace=status.workspace,
        trusted=status.trusted,
        why=status.why,
        changed=None if change is None else list(change.files),
        diff=None if change is None else escape_hidden(change.diff),
    )
