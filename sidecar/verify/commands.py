"""The checks that were named by the person, or by a workspace that the person trusts: exactly these, one by one."""

from collections.abc import Sequence
from typing import Any

from sidecar.verify.result import Finding, evidence
from sidecar.verify.runner import Runner, exit_code, refused, why_refused
from sidecar.wire.base import JsonObject
from sidecar.wire.events import Check
from tools.ledger import Outcome

MOST = 20
#: As long as a run of the project's tests may take.
MILLISECONDS = 600_000
_TAIL = 20


async def named_checks(commands: Sequence[str], runner: Runner, *, own_words: bool, unasked: bool) -> list[Finding]:
    """`own_words`: the person wrote them into the task, so nobody has to be asked again.

    `unasked`: the person trusts whoever else did, and they run inside a sandbox.
    """
    found = []
    for number, command in enumerate(commands[:MOST], start=1):
        line = command.strip()
        if line:
            said = f"`{line}`" if own_words else ""
            args: JsonObject = {"command": line, "timeoutMs": MILLISECONDS}
            outcome = await runner.run(f"command{number}", "run_command", args, said=said, allowed=unasked)
            found.append(_finding(line, outcome))
    return found


def _finding(command: str, outcome: Outcome | None) -> Finding:
    if outcome is None or refused(outcome):
        why = why_refused(outcome) if outcome is not None else "it took too long"
        return Finding(notes=[f"{command} was not run: {why}"], doubt=True)
    code = exit_code(outcome)
    details: dict[str, Any] = outcome.details if isinstance(outcome.details, dict) else {}
    passed = code == 0
    tail = [line for line in str(details.get("output") or outcome.content).splitlines() if line.strip()][-_TAIL:]
    check = Check(
        name=command[:80],
        command=command,
        exit_code=code,
        passed=passed,
        duration_ms=outcome.duration_ms,
        evidence="" if passed else evidence(tail or [outcome.summary]),
    )
    return Finding(check, proves=passed)
