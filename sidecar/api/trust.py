"""The person's word that lasts: which workspaces are trusted, and what was allowed for a whole one, or a whole task."""

from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from sidecar.api.bodies import answer, read
from sidecar.config.grants import Grants
from sidecar.config.trust import Trust
from sidecar.engine.engine import Engine
from sidecar.engine.errors import OperationRefused
from sidecar.engine.operations import RevokeApproval
from sidecar.wire.system import GrantInfo, GrantList, RevokeRequest, TrustAnswer, TrustedWorkspace, TrustRequest


class TrustRoutes:
    def __init__(self, trust: Trust, grants: Grants, own: Path, engine: Engine) -> None:
        self._trust = trust
        self._grants = grants
        self._own = own
        self._engine = engine

    async def list(self, request: Request) -> Response:
        return self._answer(str(self._own))

    async def set(self, request: Request) -> Response:
        wanted = await read(request, TrustRequest)
        if wanted.trusted:
            self._trust.set(self._engine.checked_workspace(wanted.workspace), trusted=True)
        elif "\0" in wanted.workspace or not Path(wanted.workspace).is_absolute():
            raise OperationRefused(422, "workspace_not_absolute", "The workspace must be an absolute path.")
        else:
            # Also for one that is gone: trust must not wait for it to come back.
            self._trust.set(wanted.workspace, trusted=False)
        return self._answer(wanted.workspace)

    async def granted(self, request: Request) -> Response:
        return await self._granted()

    async def revoke(self, request: Request) -> Response:
        wanted = await read(request, RevokeRequest)
        if wanted.task_id is not None:
            await self._engine.submit(RevokeApproval(wanted.task_id, wanted.id))
        elif not self._grants.revoke(wanted.id):
            raise OperationRefused(404, "unknown_approval", f"Nothing was allowed under the id {wanted.id[:100]}.")
        return await self._granted()

    async def _granted(self) -> Response:
        for_tasks = [
            GrantInfo(
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
            GrantInfo(
                id=each.id, workspace=each.workspace, action=each.action, argv=each.argv, cwd=each.cwd, at=each.at
            )
            for each in self._grants.all()
        ]
        return answer(GrantList(approvals=[*for_tasks, *for_workspaces]))

    def _answer(self, also: str) -> Response:
        """Every workspace that was ever trusted, and the one that is asked about."""
        standings = {standing.workspace: standing for standing in self._trust.all()}
        asked = self._trust.status(also)
        standings.setdefault(asked.workspace, asked)
        return answer(
            TrustAnswer(
                workspaces=[
                    TrustedWorkspace(workspace=each.workspace, trusted=each.trusted, why=each.why)
                    for each in standings.values()
                ]
            )
        )
