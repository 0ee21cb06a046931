"""Routes for tools, policy, trusted workspaces and standing approvals."""

import asyncio
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.requests import Request

from sidecar.api.route import route
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
from tools.executor.validation import adapt, validate
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

    @route("GET /api/brain/tools", "tools")
    async def list(self, request: Request) -> ToolList:
        """List the tools."""
        workspace = self._workspace(request.query_params.get("workspace"))
        external = [tool.spec.info() for tool in self._registry.external(workspace)]
        await self._registry.load(self._registry.names())
        return ToolList(tools=[*await asyncio.to_thread(self._registry.infos), *external])

    @route("POST /api/brain/tools/batch", "tools_batch")
    async def batch(self, request: Request, wanted: BatchRequest) -> BatchAnswer:
        """Run tools without a model."""
        workspace = self._workspace(wanted.workspace)
        calls = [ToolCall(call.call_id or f"b_{secrets.token_hex(8)}", call.tool, call.args) for call in wanted.calls]
        context = BatchContext(workspace=workspace, approvals=wanted.approvals, ledger=ListLedger(), can_ask=False)
        outcomes = await self._executor.batch(
            calls, context, parallel=wanted.parallel, max_concurrency=wanted.max_concurrency
        )
        paired = zip(calls, outcomes, strict=True)
        return BatchAnswer(
            results=[ToolAnswer.from_object(each, call_id=call.id, tool=call.tool) for call, each in paired]
        )

    @route("POST /api/brain/policy/explain", "policy_explain")
    async def explain(self, request: Request, wanted: PolicyRequest) -> PolicyAnswer:
        """Explain whether a call would be allowed. Runs nothing."""
        workspace = self._workspace(wanted.workspace)
        await self._registry.load([wanted.tool])
        try:
            tool = self._registry.get(wanted.tool, workspace)
            args = validate(tool, adapt(tool, wanted.args), workspace)
        except ToolError as error:
            return PolicyAnswer(decision="deny", why=f"the call is invalid: {error}")
        if outside := next((path for path in args.paths() if path.startswith(("/", "../")) or path == ".."), None):
            return PolicyAnswer(decision="deny", why=f"{outside} is outside the workspace")
        decision = self._policy.decide(tool.spec, args, workspace, wanted.approvals)
        if decision.verdict == "ask" and wanted.approvals == "auto":
            grant = self._policy.suggest_grant(tool.spec, args)
            hint = f"; to permit it: brain policy allow {grant}" if grant else ""
            why = f"{decision.why}, and `auto` never waits for an answer{hint}"
            return PolicyAnswer(decision="deny", why=why)
        return PolicyAnswer(decision=decision.verdict, why=decision.why)


class TrustRoutes:
    def __init__(self, trust: Trust, approvals: StandingApprovals, own: Path, engine: "Engine") -> None:
        self._trust = trust
        self._approvals = approvals
        self._own = own
        self._engine = engine

    @route("GET /api/brain/trust", "trust")
    async def list(self, request: Request) -> TrustAnswer:
        """List trusted workspaces."""
        return await self._statuses(str(self._own))

    @route("POST /api/brain/trust", "set_trust")
    async def set(self, request: Request, wanted: TrustRequest) -> TrustAnswer:
        """Trust a workspace, or revoke its trust. The decision is stored outside of the workspace."""
        if is_remote_name(wanted.workspace):
            self._trust.set(wanted.workspace, trusted=wanted.trusted)
        elif wanted.trusted:
            self._trust.set(self._engine.admission.checked_workspace(wanted.workspace), trusted=True)
        elif "\0" in wanted.workspace or not Path(wanted.workspace).is_absolute():
            raise OperationRefused(422, "workspace_not_absolute", "The workspace must be an absolute path.")
        else:
            # Works for a directory that no longer exists, too: trust must not wait for it to come back.
            self._trust.set(wanted.workspace, trusted=False)
        return await self._statuses(wanted.workspace)

    @route("GET /api/brain/approvals", "approvals")
    async def approvals(self, request: Request) -> ApprovalList:
        """List approvals that hold for workspaces and running tasks. Each is bound to the exact arguments, directory,
        environment and programs you approved."""
        return await self._approval_list()

    @route("POST /api/brain/approvals/revoke", "revoke_approval", refusals=(404,))
    async def revoke(self, request: Request, wanted: RevokeRequest) -> ApprovalList:
        """Revoke an approval. Takes effect at once, for running tasks too."""
        if wanted.task_id is not None:
            await self._engine.submit(RevokeApproval(wanted.task_id, wanted.id))
        elif not self._approvals.revoke(wanted.id):
            raise OperationRefused(404, "unknown_approval", f"No approval has the id {wanted.id[:100]}.")
        return await self._approval_list()

    async def _approval_list(self) -> ApprovalList:
        for_tasks = [
            ApprovalInfo.from_object(
                approval, id=approval.approval_id, workspace=task.workspace, at=None, task_id=task.id, task=task.task
            )
            for task, approval in await self._engine.allowed()
        ]
        for_workspaces = [ApprovalInfo.from_object(each) for each in self._approvals.all()]
        return ApprovalList(approvals=[*for_tasks, *for_workspaces])

    async def _statuses(self, also: str) -> TrustAnswer:
        """Every workspace that was ever trusted, and `also`."""
        statuses = {status.workspace: status for status in await asyncio.to_thread(self._trust.all)}
        asked = await asyncio.to_thread(self._trust.status, also)
        statuses.setdefault(asked.workspace, asked)
        return TrustAnswer(workspaces=[_trusted(each) for each in statuses.values()])


def _trusted(status: TrustStatus) -> TrustedWorkspace:
    change = status.change
    if change is None:
        return TrustedWorkspace.from_object(status)
    return TrustedWorkspace.from_object(status, changed=list(change.files), diff=escape_hidden(change.diff))
