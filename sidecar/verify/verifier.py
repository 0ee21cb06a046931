"""Verification: plain code checks what an agent says it did, and runs whatever can be run."""

import asyncio
import posixpath
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from sidecar.verify.change import FileVersions
from sidecar.verify.checkers import CheckerRun
from sidecar.verify.claims import PlannedFiles, check_claims, claims_result, parse_claims, passing_tests
from sidecar.verify.commands import run_commands
from sidecar.verify.counts import parse_counts
from sidecar.verify.facts import SuiteFacts, TaskFacts, check_passed
from sidecar.verify.feedback import make_hints
from sidecar.verify.measures import Shown, find_unmeasured
from sidecar.verify.removed_tests import RemovedTestsCheck, check_assertions
from sidecar.verify.result import MEASUREMENTS, CheckResult, Verification, static_result
from sidecar.verify.runner import CheckRunner
from sidecar.verify.suite import Baselines, Suite
from sidecar.verify.syntax import check_syntax
from sidecar.verify.work_done import admits_nothing, find_claim
from tools.errors import ToolError
from tools.host import FileChange, FileInfo, Host

_MAX_NOTES = 20


@dataclass(frozen=True, slots=True)
class VerificationRequest:
    #: Names this verification, also after a restart.
    id: str
    #: In your own words.
    request: str
    #: The last texts of the agents that did the work, newest last. A later attempt's text replaces the earlier one.
    answers: Sequence[str]
    facts: TaskFacts
    changes: Sequence[FileVersions]
    planned: Sequence[PlannedFiles]
    #: The commands to run as checks, and whether they come from the task itself; `None` finds the project's checks.
    commands: Sequence[str] | None
    user_commands: bool
    #: The project's checks may run without asking you.
    preapproved: bool
    attempt: int
    state: str
    earlier: Sequence[Verification] = ()
    #: The round was to change something, and nothing changed.
    unchanged: bool = False
    #: The request undoubtedly asks for a change.
    asks_for_change: bool = False
    #: What the agents have seen, the checks' own output included; `None` if that isn't on record.
    shown: Callable[[], Shown] | None = None


class Verifier:
    def __init__(self, seconds: float) -> None:
        #: The time limit for all of a project's tests.
        self._seconds = seconds
        self._baselines = Baselines()

    async def verify(self, wanted: VerificationRequest, host: Host, runner: CheckRunner) -> Verification:
        results = await self._check_statically(wanted, host)
        if not _failed(results, "syntax"):
            results += await self._run_checks(wanted, host, runner)
        checks = [result.check for result in results if result.check is not None]
        failed = any(not check.passed for check in checks)
        proven = any(result.proves for result in results) and not any(result.doubt for result in results)
        given = [hint for result in results for hint in result.hints]
        return Verification(
            passed=False if failed else True if proven else None,
            attempt=wanted.attempt,
            checks=checks,
            notes=list(dict.fromkeys(note for result in results for note in result.notes))[:_MAX_NOTES],
            hints=make_hints(checks, given, wanted.changes, wanted.earlier, wanted.state) if failed else [],
            state=wanted.state,
        )

    async def _check_statically(self, wanted: VerificationRequest, host: Host) -> list[CheckResult]:
        # In a thread, because parsing a large change takes a moment.
        parsed = await asyncio.to_thread(lambda: (check_syntax(wanted.changes), check_assertions(wanted.changes)))
        said = "\n\n".join(wanted.answers)
        claims, counts = parse_claims(said), parse_counts(said)
        claimed = await check_claims(claims, counts, wanted.planned, wanted.changes, wanted.facts, host, wanted.id)
        return [result for result in (*parsed, claimed, _check_change(wanted)) if result is not None]

    async def _run_checks(self, wanted: VerificationRequest, host: Host, runner: CheckRunner) -> list[CheckResult]:
        results: list[CheckResult] = []
        approved, facts = wanted.preapproved, SuiteFacts()
        await remove_stale_bytecode(wanted.changes, host)
        if wanted.commands is not None:
            results += await run_commands(
                wanted.commands, runner, user_commands=wanted.user_commands, preapproved=wanted.preapproved
            )
        else:
            claims = parse_claims("".join(wanted.answers[-1:]))
            claims_pass, claimed_files = passing_tests(claims, wanted.facts.passed)
            suite = Suite(
                changes=wanted.changes,
                request=wanted.request,
                claims_pass=claims_pass,
                claimed_files=claimed_files,
                unproven=claims.tests_pass and not (wanted.facts.passed or wanted.facts.ran_commands),
                host=host,
                runner=runner,
                id=wanted.id,
                seconds=self._seconds,
                preapproved=wanted.preapproved,
                baselines=self._baselines,
            )
            results += await suite.check()
            facts = suite.facts
            approved = approved or suite.approved
            if wanted.preapproved or suite.framework is None:
                checkers = CheckerRun(wanted.changes, host, runner, wanted.id, self._seconds)
                results += await checkers.check(preapproved=wanted.preapproved)
        results += [*_check_passed(wanted, facts), *await asyncio.to_thread(_check_measures, wanted)]
        removed = RemovedTestsCheck(wanted.changes, wanted.request, host, runner, wanted.id, self._seconds)
        result = await removed.check(approved=approved)
        return [*results, result] if result is not None else results


def _check_change(wanted: VerificationRequest) -> CheckResult | None:
    """Whether a report of a round that changed nothing says so."""
    if not (wanted.unchanged and wanted.answers):
        return None
    report = wanted.answers[-1]
    if untrue := find_claim(report, asked=wanted.asks_for_change):
        return claims_result([f"“{untrue}” was reported, but this task changed no file"])
    if wanted.earlier and not admits_nothing(report):
        return claims_result(["this task changed no file, and the report does not say so"])
    return None


def _check_passed(wanted: VerificationRequest, suite: SuiteFacts) -> list[CheckResult]:
    says = any(parse_claims(answer).names_tests for answer in wanted.answers[-1:])
    problems = check_passed(parse_counts("\n\n".join(wanted.answers)), wanted.facts, suite, claims_pass=says)
    return [claims_result(problems)] if problems else []


def _check_measures(wanted: VerificationRequest) -> list[CheckResult]:
    """Figures that nothing measured go back once; after that, they leave the work unproven."""
    if wanted.shown is None:
        return []
    acted = wanted.asks_for_change or any(change.before != change.after for change in wanted.changes)
    unmeasured = find_unmeasured("\n\n".join(wanted.answers), wanted.shown, cites=not acted)
    if not unmeasured:
        return []
    if any(check.name == MEASUREMENTS for each in wanted.earlier for check in each.failed):
        return [CheckResult(doubt=True, notes=[f"Not measured: “{text}”" for text in unmeasured])]
    why = "but no command of this task printed that figure: measure it, or say that it was not measured"
    return [static_result(MEASUREMENTS, [f"“{text}” was reported, {why}" for text in unmeasured])]


def _failed(results: Sequence[CheckResult], name: str) -> bool:
    return any(result.check is not None and result.check.name == name and not result.check.passed for result in results)


_SECOND = 1_000_000_000
_SIZE = 16 * 1024 * 1024


async def remove_stale_bytecode(changes: Sequence[FileVersions], host: Host) -> list[str]:
    """Remove compiled Python that may be stale; return the removed files. Skips what it can't read.

    Python recognizes stale bytecode by the source's modification time in seconds and its size. A file that was
    compiled, then changed within the same second at the same length, would run as it was before.
    """
    removed = []
    for change in changes:
        if change.path.endswith(".py") and change.after is not None:
            for path in await _find_suspects(change.path, host):
                with suppress(ToolError):
                    await host.apply(FileChange(path, await host.read(path, _SIZE), None))
                    removed.append(path)
    return removed


async def _find_suspects(source: str, host: Host) -> list[str]:
    """Compiled within about a second of the source's last change, so maybe from the version before."""
    folder, name = posixpath.split(source)
    try:
        written = (await host.stat(source)).mtime_ns
        compiled = await host.list(posixpath.join(folder, "__pycache__"))
    except ToolError:
        return []
    stem = f"{name.removesuffix('.py')}."
    return [info.path for info in compiled if _may_be_stale(info, stem, written)]


def _may_be_stale(info: FileInfo, stem: str, written: int) -> bool:
    name = info.path.rpartition("/")[2]
    ours = info.kind == "file" and name.startswith(stem) and name.endswith(".pyc")
    return ours and info.mtime_ns // _SECOND <= written // _SECOND + 1
