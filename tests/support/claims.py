"""The problems that a check of an agent's claims reports."""

from sidecar.verify.claims import PlannedFiles, check_claims, parse_claims
from sidecar.verify.counts import parse_counts
from sidecar.verify.facts import TaskFacts
from sidecar.verify.result import CheckResult
from tests.support.check_runner import changed, host
from tests.support.workbench import Workbench
from tools.ledger import GitHead

#: It ran commands, and nobody knows where Git stood before.
UNKNOWN = TaskFacts(GitHead(commit=None, at=0))


def problems(found: CheckResult | None) -> str:
    assert found is not None
    assert found.check is not None
    assert not found.proves
    return found.check.evidence


async def claim_problems(
    bench: Workbench,
    words: str,
    planned: list[PlannedFiles] | None = None,
    facts: TaskFacts = UNKNOWN,
    **files: tuple[str, str],
) -> str:
    claims, counts, changes = parse_claims(words), parse_counts(words), changed(bench, **files)
    found = await check_claims(claims, counts, planned or [], changes, facts, host(bench), "mark")
    return "" if found is None else problems(found)
