"""The result of a verification: for the task's record, for the event, and for the agent that fixes what failed."""

from dataclasses import dataclass, field

from sidecar.wire.base import Wire
from sidecar.wire.events import Check, VerificationEvent
from tools.text import first_words

#: The name of the check that compares a report with what is there.
CLAIMS = "claims"
#: The name of the check that compares the measured figures of a report with what commands printed.
MEASUREMENTS = "measurements"
_EVIDENCE_LINES = 40
_EVIDENCE_CHARACTERS = 4_000
#: Room for the line that counts what is missing.
_MORE = 20


class Verification(Wire):
    """One verification as the task's record keeps it. `passed` is null if no check proved or disproved anything."""

    passed: bool | None
    attempt: int
    checks: list[Check] = []
    notes: list[str] = []
    hints: list[str] = []
    #: A hash of the changed files; the same hash again means the same approach.
    state: str = ""
    #: The number of edits by then, to see later whether the task edited files since.
    edits: int = 0
    #: Only tests that the task itself ran failed: that is its result, and there is nothing to send back.
    reported: bool = False

    @property
    def failed(self) -> list[Check]:
        return [check for check in self.checks if not check.passed]

    @property
    def error(self) -> str:
        """The first failure on one line."""
        failures = [f"{check.name}: {_first_line(check.evidence)}" for check in self.failed]
        more = f" (and {len(failures) - 1} more)" if len(failures) > 1 else ""
        return f"{failures[0]}{more}" if failures else ""

    def event(self) -> VerificationEvent:
        assert self.passed is not None
        notes = self.notes or None
        return VerificationEvent(passed=self.passed, attempt=self.attempt, checks=self.checks, notes=notes)


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of one check. Without a `check` it couldn't run, and the notes say why."""

    check: Check | None = None
    #: It ran a program that can fail. A verification passes only if at least one check proves something.
    proves: bool = False
    #: Something stays open, so the verification as a whole proves nothing.
    doubt: bool = False
    notes: list[str] = field(default_factory=list)
    hints: list[str] = field(default_factory=list)


def static_result(name: str, problems: list[str], *, hints: list[str] | None = None) -> CheckResult:
    """A check that runs no program: it can find problems, but prove nothing."""
    check = Check(
        name=name, command="", exit_code=None, passed=not problems, duration_ms=0, evidence=evidence(problems)
    )
    return CheckResult(check, hints=hints or [])


def evidence(lines: list[str]) -> str:
    """The lines that fit, each cut between words; the last line says how many are missing."""
    shown: list[str] = []
    left = _EVIDENCE_CHARACTERS
    for line in lines[:_EVIDENCE_LINES]:
        text = first_words(line.rstrip(), 500)
        left -= len(text) + 1
        if left < _MORE:
            break
        shown.append(text)
    if len(lines) > len(shown):
        shown.append(f"… {len(lines) - len(shown)} more")
    return "\n".join(shown)


def _first_line(text: str) -> str:
    return first_words(text.partition("\n")[0], 300)
