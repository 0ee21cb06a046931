"""The examination of the sidecar that answers, the same as `brain doctor` makes."""

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response

from sidecar.api.bodies import answer
from sidecar.journal.port import Journal
from sidecar.wire.system import Examination, FindingInfo, Remedy

if TYPE_CHECKING:
    from sidecar.doctor.report import CheckResult


class DoctorRoutes:
    def __init__(self, data_dir: Path, workspace: Path, journal: Journal) -> None:
        self._data_dir = data_dir
        self._workspace = workspace
        self._journal = journal
        self._examining = asyncio.Lock()

    async def examine(self, request: Request) -> Response:
        """In a thread, one at a time: programs are started and ports are tried."""
        from sidecar.doctor.checks import run_checks
        from sidecar.doctor.report import DoctorContext, RunningSidecar

        state = self._journal.state()
        running = RunningSidecar(
            url=str(request.base_url).rstrip("/"),
            pid=os.getpid(),
            tasks={str(status): count for status, count in (await self._journal.counts()).items()},
            journal_stalled="" if state.state == "ok" else state.message,
            journal_bytes=state.size_bytes,
        )
        async with self._examining:
            found = await asyncio.to_thread(
                run_checks, DoctorContext(self._data_dir, self._workspace, os.environ, running)
            )
        return answer(Examination(findings=[_info(finding) for finding in found]))


def _info(finding: "CheckResult") -> FindingInfo:
    remedies = [Remedy(kind=mend.kind, value=mend.value, base_url=mend.base_url or None) for mend in finding.mends]
    return FindingInfo(
        about=finding.about,
        state=finding.state,
        found=finding.found,
        fix=finding.fix,
        essential=finding.essential,
        remedies=remedies,
    )
