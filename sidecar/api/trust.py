"""Which workspaces are trusted, and the person's word on one."""

from collections.abc import Callable
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from sidecar.api.bodies import answer, read
from sidecar.config.trust import Trust
from sidecar.engine.errors import Refused
from sidecar.wire.system import TrustAnswer, TrustedWorkspace, TrustRequest


class TrustRoutes:
    def __init__(self, trust: Trust, own: Path, workspace: Callable[[str | None], str]) -> None:
        self._trust = trust
        self._own = own
        self._workspace = workspace

    async def list(self, request: Request) -> Response:
        return self._answer(str(self._own))

    async def set(self, request: Request) -> Response:
        wanted = await read(request, TrustRequest)
        if wanted.trusted:
            self._trust.set(self._workspace(wanted.workspace), trusted=True)
        elif "\0" in wanted.workspace or not Path(wanted.workspace).is_absolute():
            raise Refused(422, "workspace_not_absolute", "The workspace must be an absolute path.")
        else:
            # Also for one that is gone: trust must not wait for it to come back.
            self._trust.set(wanted.workspace, trusted=False)
        return self._answer(wanted.workspace)

    def _answer(self, also: str) -> Response:
        """Every workspace that was ever trusted, and the one that is asked about."""
        standings = {standing.workspace: standing for standing in self._trust.all()}
        asked = self._trust.standing(also)
        standings.setdefault(asked.workspace, asked)
        return answer(
            TrustAnswer(
                workspaces=[
                    TrustedWorkspace(workspace=each.workspace, trusted=each.trusted, why=each.why)
                    for each in standings.values()
                ]
            )
        )
