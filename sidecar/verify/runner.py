"""The port through which a check runs something: the way that every command of a task takes."""

from typing import Protocol

from sidecar.wire.base import JsonObject
from tools.ledger import Outcome


class Runner(Protocol):
    async def run(
        self,
        name: str,
        tool: str,
        args: JsonObject,
        *,
        seconds: float | None = None,
        said: str = "",
        allowed: bool = False,
        place: str | None = None,
        where: str = "",
    ) -> Outcome | None:
        """What came of it; `None` if it took longer than `seconds`. Policy is asked as for any call.

        `name` is the call's own within this verification. `said`: the person's own words, which name a command.
        `allowed`: the same, or more, was allowed a moment ago. `place`: another directory than the workspace, which
        `where` puts into words.
        """


def exit_code(outcome: Outcome) -> int | None:
    code = outcome.details.get("exitCode") if isinstance(outcome.details, dict) else None
    return code if isinstance(code, int) and not isinstance(code, bool) else None


def why_refused(outcome: Outcome) -> str:
    """Why it did not run, and how it would, where nobody could be asked."""
    if outcome.error is None:
        return ""
    if outcome.error.code == "approval_required":
        return f"{outcome.error.message} `brain trust` lets a workspace's checks run; `--verify` names one yourself."
    return outcome.error.message


def refused(outcome: Outcome) -> bool:
    """Policy or the person said no: it did not run."""
    return outcome.error is not None and outcome.error.code in ("denied", "approval_required")
