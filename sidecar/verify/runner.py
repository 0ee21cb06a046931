"""The port through which a check runs a tool: as a call of the task, like every other command."""

from typing import Protocol

from sidecar.wire.base import JsonObject
from tools.ledger import Outcome


class CheckRunner(Protocol):
    async def run(
        self,
        name: str,
        tool: str,
        args: JsonObject,
        *,
        seconds: float | None = None,
        approved: bool = False,
        directory: str | None = None,
        directory_label: str = "",
    ) -> Outcome | None:
        """The outcome, or `None` if the call took longer than `seconds`. Policy decides as for any call.

        `name` is unique within this verification. `approved` means that you named it, or allowed the same or more a
        moment ago: it runs unasked, in the sandbox. `directory` replaces the workspace; events show its label.
        """


def exit_code(outcome: Outcome) -> int | None:
    code = outcome.details.get("exitCode") if isinstance(outcome.details, dict) else None
    return code if isinstance(code, int) and not isinstance(code, bool) else None


def is_refused(outcome: Outcome) -> bool:
    """Policy or you denied the call, so it didn't run."""
    return outcome.error is not None and outcome.error.code in ("denied", "approval_required")


def refusal_reason(outcome: Outcome) -> str:
    if outcome.error is None:
        return ""
    if outcome.error.code == "approval_required":
        return f"{outcome.error.message} `brain trust` lets a workspace's checks run; `--verify` names one yourself."
    return outcome.error.message
