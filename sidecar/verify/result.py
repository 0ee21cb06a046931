"""What a verification found: for the books, for the event, and for whoever mends what is wrong."""

from dataclasses import dataclass, field

from sidecar.wire.base import Wire
from sidecar.wire.events import Check, VerificationEvent

#: As many lines of evidence as a person or a model reads.
LINES = 40
CHARACTERS = 4_000


class Checked(Wire):
    """One verification as it stands in a task's books. `passed` is null where nothing was proved nor disproved."""

    passed: bool | None
    attempt: int
    checks: list[Check] = []
    notes: list[str] = []
    hints: list[str] = []
    #: Stands for the files as they were; the same again is the same approach.
    state: str = ""
    #: How often the task had changed files by then: whether it has done so since is seen from it.
    edits: int = 0

    @property
    def failed(self) -> list[Check]:
        return [check for check in self.checks if not check.passed]

    @property
    def error(self) -> str:
        """What is wrong, on one line."""
        first = [f"{check.name}: {_first_line(check.evidence)}" for check in self.failed]
        more = f" (and {len(first) - 1} more)" if len(first) > 1 else ""
        return f"{first[0]}{more}" if first else ""

    def event(self) -> VerificationEvent:
        assert self.passed is not None
        notes = self.notes or None
        return VerificationEvent(passed=self.passed, attempt=self.attempt, checks=self.checks, notes=notes)


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check came to. One that `proves` ran a program that can fail; without such a one nothing is proven.

    With no check at all it could not be carried out, and the notes say why.
    """

    check: Check | None = None
    proves: bool = False
    #: Something remains open, so that nothing counts as proven.
    doubt: bool = False
    notes: list[str] = field(default_factory=list)
    hints: list[str] = field(default_factory=list)


def looked(name: str, problems: list[str], *, hints: list[str] | None = None) -> Finding:
    """A check in the process itself: it can find fault, and can prove nothing."""
    check = Check(
        name=name, command="", exit_code=None, passed=not problems, duration_ms=0, evidence=evidence(problems)
    )
    return Finding(check, hints=hints or [])


def evidence(lines: list[str]) -> str:
    shown = [line.rstrip()[:500] for line in lines[:LINES]]
    if len(lines) > LINES:
        shown.append(f"… {len(lines) - LINES} more")
    return "\n".join(shown)[:CHARACTERS]


def _first_line(text: str) -> str:
    return text.partition("\n")[0][:300]
