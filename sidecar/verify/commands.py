"""Checks that you name in the task, or that a trusted workspace names in `.brain/verify.toml`:

    commands = ["make check", "npm run lint"]

Trust is bound to the file's content: after any change to it, its commands don't count until you trust it again.
"""

import logging
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sidecar.config.paths import open_regular
from sidecar.verify.result import CheckResult, evidence
from sidecar.verify.runner import CheckRunner, exit_code, is_refused, refusal_reason
from sidecar.wire.base import JsonObject
from sidecar.wire.events import Check
from tools.ledger import Outcome
from tools.parsed import parse_toml

log = logging.getLogger(__name__)

COMMANDS_FILE = ".brain/verify.toml"
_FILE_BYTES = 64 * 1024
_MAX_COMMANDS = 20
_TIMEOUT_MS = 600_000
_TAIL = 20


def load_commands(workspace: str) -> list[str] | None:
    """`None` if there is no such file, or none that can be used."""
    file = Path(workspace) / COMMANDS_FILE
    try:
        descriptor = open_regular(file, follow=False)
    except OSError:
        return None
    try:
        text = os.read(descriptor, _FILE_BYTES)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    try:
        commands = parse_toml(text).get("commands")
        if not isinstance(commands, list) or not all(isinstance(each, str) and each.strip() for each in commands):
            raise ValueError("commands must be a list of command lines")
    except ValueError as error:
        log.warning("Ignoring %s: %s", file, error)
        return None
    return commands or None


async def run_commands(
    commands: Sequence[str], runner: CheckRunner, *, user_commands: bool, preapproved: bool
) -> list[CheckResult]:
    """`user_commands`: you named them with the task, so in a sandbox and without network they need no other answer.

    `preapproved`: you trust the workspace that names them, and they run in a sandbox.
    """
    results = []
    for number, command in enumerate(commands[:_MAX_COMMANDS], start=1):
        line = command.strip()
        if line:
            args: JsonObject = {"command": line, "timeoutMs": _TIMEOUT_MS}
            approved = preapproved or user_commands
            outcome = await runner.run(f"command{number}", "run_command", args, approved=approved)
            results.append(_result(line, outcome))
    return results


def _result(command: str, outcome: Outcome | None) -> CheckResult:
    if outcome is None or is_refused(outcome):
        why = refusal_reason(outcome) if outcome is not None else "it took too long"
        return CheckResult(notes=[f"{command} was not run: {why}"], doubt=True)
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
    return CheckResult(check, proves=passed)
