"""The problems that a check of an agent's claims reports."""

from sidecar.verify.claims import PlannedFiles, check_claims, parse_claims
from sidecar.verify.result import CheckResult
from tests.support.check_runner import changed, host
from tests.support.workbench import Workbench


def problems(found: CheckResult | None) -> str:
    assert found is not None
    assert found.check is not None
    assert not found.proves
    return found.check.evidence


async def claim_problems(
    bench: Workbench, words: str, planned: list[PlannedFiles] | None = None, **files: tuple[str, str]
) -> str:
    found = await check_claims(parse_claims(words), planned or [], changed(bench, **files), host(bench), "mark")
    return "" if found is None else problems(found)
