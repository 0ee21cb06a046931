"""Verification: what an agent says is done is looked at by plain code, and tried where something can be tried."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from sidecar.verify.altered import assertions
from sidecar.verify.bytecode import forget_stale
from sidecar.verify.change import Change
from sidecar.verify.checkers import Diagnosis
from sidecar.verify.claims import claimed
from sidecar.verify.commands import named_checks
from sidecar.verify.hints import hints
from sidecar.verify.result import Checked, Finding
from sidecar.verify.runner import Runner
from sidecar.verify.statements import Planned, statements
from sidecar.verify.suite import Baselines, Suite
from sidecar.verify.syntax import syntax
from sidecar.verify.vanished import Vanishings
from tools.host import Host

_NOTES = 20


@dataclass(frozen=True, slots=True)
class Work:
    """What is to be verified. `mark` names this verification for good."""

    mark: str
    #: In the person's own words.
    request: str
    #: What those who did the work said last, the newest at the end.
    words: Sequence[str]
    changes: Sequence[Change]
    planned: Sequence[Planned]
    #: Commands that are the checks, and whether the person wrote them into the task; else they are found.
    commands: Sequence[str] | None
    own_words: bool
    #: Whether the project's checks run without a question.
    unasked: bool
    attempt: int
    state: str
    earlier: Sequence[Checked] = ()


class Verifier:
    def __init__(self, seconds: float) -> None:
        #: How long all of a project's tests may take.
        self._seconds = seconds
        self._baselines = Baselines()

    async def verify(self, work: Work, host: Host, runner: Runner) -> Checked:
        found = await self._looked(work, host)
        if not _failed(found, "syntax"):
            found += await self._tried(work, host, runner)
        checks = [finding.check for finding in found if finding.check is not None]
        wrong = any(not check.passed for check in checks)
        proven = any(finding.proves for finding in found) and not any(finding.doubt for finding in found)
        given = [hint for finding in found for hint in finding.hints]
        return Checked(
            passed=False if wrong else True if proven else None,
            attempt=work.attempt,
            checks=checks,
            notes=list(dict.fromkeys(note for finding in found for note in finding.notes))[:_NOTES],
            hints=hints(checks, given, work.changes, work.earlier, work.state) if wrong else [],
            state=work.state,
        )

    async def _looked(self, work: Work, host: Host) -> list[Finding]:
        """What needs nothing to be run."""
        # In a thread: a large change takes a moment to parse, and nothing else should wait for it.
        looks = await asyncio.to_thread(lambda: (syntax(work.changes), assertions(work.changes)))
        said = await statements(claimed("\n\n".join(work.words)), work.planned, work.changes, host, work.mark)
        return [finding for finding in (*looks, said) if finding is not None]

    async def _tried(self, work: Work, host: Host, runner: Runner) -> list[Finding]:
        found: list[Finding] = []
        allowed = work.unasked
        await forget_stale(work.changes, host)
        if work.commands is not None:
            found += await named_checks(work.commands, runner, own_words=work.own_words, unasked=work.unasked)
        else:
            suite = Suite(
                changes=work.changes,
                request=work.request,
                claimed=any(claimed(words).tests_pass for words in work.words[-1:]),
                host=host,
                runner=runner,
                mark=work.mark,
                seconds=self._seconds,
                unasked=work.unasked,
                baselines=self._baselines,
            )
            found += await suite.check()
            allowed = allowed or suite.allowed
            if work.unasked or suite.framework is None:
                diagnosis = Diagnosis(work.changes, host, runner, work.mark, self._seconds)
                found += await diagnosis.check(unasked=work.unasked)
        vanishings = Vanishings(work.changes, work.request, host, runner, work.mark, self._seconds)
        vanished = await vanishings.check(allowed=allowed)
        return [*found, vanished] if vanished is not None else found


def _failed(found: Sequence[Finding], name: str) -> bool:
    return any(
        finding.check is not None and finding.check.name == name and not finding.check.passed for finding in found
    )
