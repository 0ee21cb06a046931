"""The stages after the agents: verify their work, and send it back with the failures a few times.

Each verification and each attempt is a step of its own, so a killed task goes on in the middle. After the last attempt
the task needs you; when you send a message, or fix it by hand and resume, it gets new attempts.
"""

import asyncio
import hashlib
from collections.abc import Callable, Sequence

from sidecar.engine.errors import AgentError, Escalated
from sidecar.engine.steps import ESCALATION, VERIFICATION, StepKey
from sidecar.verify.change import FileVersions
from sidecar.verify.feedback import ATTEMPTS, render_escalation, render_failure, suggest_next
from sidecar.verify.result import Verification
from sidecar.verify.verifier import VerificationRequest, Verifier
from sidecar.wire.events import DiffEvent, Event, RetryEvent
from sidecar.work.changes import changed_files, count_edits
from sidecar.work.check_runner import TaskCheckRunner
from sidecar.work.facts import shown_texts, task_facts, tests_that_ran
from sidecar.work.handover import HELPERS, Assignment, final_answers
from sidecar.work.pipeline import Stage, Step, Unfold, agent_step
from sidecar.work.plan import NoPlan, parse_plan
from sidecar.work.results import AgentResult, Answered, GaveUp, Results, agent_texts, next_verification, parse_result
from sidecar.work.review import MAX_FILES, file_versions
from sidecar.work.setup import CANNOT, ENDLESS, AgentSetup

AGENT = "verify"
_MESSAGE = "Check the changes"


class VerificationStages:
    def __init__(
        self,
        setup: AgentSetup,
        verifier: Verifier,
        commands: Sequence[str] | None,
        *,
        preapproved: Callable[[], bool],
    ) -> None:
        self._setup = setup
        self._run = setup.run
        self._verifier = verifier
        #: Checks that the workspace names.
        self._configured = commands
        self._preapproved = preapproved

    def stages(self, results: Results) -> list[Stage]:
        """Verifies the work so far, after the verifications that the round has had."""
        return self._verify(next_verification(results), 1)

    # -- verify, fix, escalate ---------------------------------------------------------------------------------------

    def _verify(self, number: int, attempt: int) -> list[Stage]:
        key = self._key(number)

        async def act(results: Results) -> str:
            return (await self.check(self._key(number), attempt, results)).to_json()

        def then(value: str) -> Sequence[Event]:
            verification = Verification.model_validate_json(value)
            if verification.passed is None:
                # A report that was corrected leaves nothing to prove, so the failure before no longer holds.
                return [DiffEvent(files=[])] if attempt > 1 else []
            retry = self._retries(verification, attempt)
            following = RetryEvent(attempt=attempt + 1, of=ATTEMPTS, hints=verification.hints, error=verification.error)
            return [verification.event(), following] if retry else [verification.event()]

        def make(results: Results) -> Sequence[Stage]:
            verification = Verification.model_validate_json(results[key])
            if verification.passed is not False or verification.reported:
                return []
            if self._retries(verification, attempt):
                return self._attempt(number, attempt + 1, results)
            why = "" if attempt >= ATTEMPTS else "No language model is configured that could fix it."
            return self._escalate(number, attempt, results, why)

        return [Step(key, AGENT, _MESSAGE, act, then), Unfold(make)]

    def _retries(self, verification: Verification, attempt: int) -> bool:
        if verification.passed is not False or verification.reported or attempt >= ATTEMPTS:
            return False
        worker = self._worker(self._run.state.steps)
        return worker is not None and not self._setup.is_deterministic(worker.agent)

    def _attempt(self, number: int, attempt: int, results: Results) -> list[Stage]:
        """The worker goes on with the failures; then its work is verified again."""
        worker = self._worker(results)
        assert worker is not None
        key = worker.of_attempt(number + 1)

        async def act(results: Results) -> AgentResult:
            try:
                return Answered(text=await self._fix(worker, number + 1, results))
            except AgentError as error:
                if error.recoverable and error.code not in CANNOT | ENDLESS:
                    raise
                return GaveUp(reason=error.message, began=error.code in ENDLESS)

        def make(results: Results) -> Sequence[Stage]:
            result = parse_result(results[key])
            if isinstance(result, GaveUp) and not result.began:
                why = f"The attempt could not begin: {result.reason}"
                return self._escalate(number + 1, attempt, results, why)
            return self._verify(number + 1, attempt)

        message = f"Fix what the check found ({attempt} of {ATTEMPTS})"
        return [agent_step(key, message, act), Unfold(make)]

    def _escalate(self, number: int, attempts: int, results: Results, why: str = "") -> list[Stage]:
        """The task needs you; or it did and you resumed it, which gives it new attempts."""
        key = StepKey(self._setup.round, ESCALATION, number=number)
        messages = self._run.state.escalations.get(key)
        if messages is None:
            *earlier, last = self._verifications(results)[-attempts:]
            reason = render_escalation(last, earlier, why)
            files = changed_files(self._run.state)
            raise Escalated(key, reason, attempts=attempts, suggestions=suggest_next(last, files))
        worker = self._worker(results)
        state = self._run.state
        fresh = self._key(number + 1) not in state.steps and len(state.messages) > messages
        if worker is not None and (fresh or self._has_begun(worker.of_attempt(number + 1))):
            return self._attempt(number, 1, results)
        # Without a message from you, you may have fixed it by hand: verify before anything else.
        return self._verify(number + 1, 1)

    def _has_begun(self, key: StepKey) -> bool:
        state = self._run.state
        return key in state.steps or key.of_turn(0) in state.turns or key.of_turn(0) in state.stopped

    # -- one verification ---------------------------------------------------------------------------------------------

    async def check(self, key: StepKey, attempt: int, results: Results) -> Verification:
        run = self._run
        host = self._setup.executor.host(run.request.workspace)
        if host is None:
            return Verification(passed=None, attempt=attempt, notes=["The workspace is not accessible."])
        # A running command could change files after their check.
        for killed in await self._setup.executor.stop_commands(run.ledger):
            run.ledger.killed("", killed.pid, killed.command)
        changes = await file_versions(run, host)
        state = _hash_changes(changes)
        failed = [each for each in self._verifications(results) if each.passed is False]
        commands, user_commands = self._commands()
        asked = self._setup.asks_for_change()
        done = VerificationRequest(
            id=f"{run.task_id}.{key}",
            request=self._setup.request,
            answers=final_answers(results),
            facts=task_facts(run.state, all_files_known=len(changes) < MAX_FILES, asked_to_change=asked),
            changes=changes,
            planned=self._planned(results),
            commands=commands,
            user_commands=user_commands,
            preapproved=await asyncio.to_thread(self._preapproved),
            attempt=attempt,
            state=state,
            earlier=failed[-(attempt - 1) :] if attempt > 1 else [],
            unchanged=self._setup.changed_nothing(),
            asks_for_change=asked,
            shown=None if self._has_external_work(results) else lambda: shown_texts(run.state),
        )
        verification = await self._verifier.verify(done, host, TaskCheckRunner(run, self._setup.executor, key))
        if verification.passed and _hash_changes(await file_versions(run, host)) != state:
            note = "Changed files changed again during the checks, so nothing is proven."
            verification = verification.model_copy(update={"passed": None, "notes": [*verification.notes, note]})
        return self._with_tests(verification).model_copy(update={"edits": count_edits(run.state)})

    def _with_tests(self, verification: Verification) -> Verification:
        """With the results of tests that the task ran itself, if it changed nothing since."""
        ran = tests_that_ran(self._run.state)
        if not ran or verification.passed is False:
            return verification
        checks = [each.check for each in ran if each.check is not None]
        failed = any(not check.passed for check in checks)
        proven = any(each.proves for each in ran) and not any(each.doubt for each in ran)
        notes = [*verification.notes, *(note for each in ran for note in each.notes)]
        more = {
            "passed": False if failed else True if proven else verification.passed,
            "checks": [*verification.checks, *checks],
            "notes": list(dict.fromkeys(notes)),
            "reported": failed,
        }
        return verification.model_copy(update=more)

    def _commands(self) -> tuple[Sequence[str] | None, bool]:
        verify = self._run.request.options.verify
        if isinstance(verify, list) and verify:
            # A plan's checks are a model's words: only a person's need no other answer.
            return verify, self._run.request.options.by_person
        return self._configured, False

    # -- the worker and its conversation -----------------------------------------------------------------------------

    def _worker(self, results: Results) -> StepKey | None:
        """The step whose agent fixes failures: the last coder's, or else the last worker's."""
        keys = [key for key in results if self._is_work(key)]
        coders = [key for key in keys if key.agent == "coder"]
        return coders[-1] if coders else keys[-1] if keys else None

    def _has_external_work(self, results: Results) -> bool:
        """Whether an external agent worked, of whose own commands the task has no record."""
        agents = self._setup.definitions.agents
        return any(agents[key.agent].command for key in results if key.agent in agents)

    def _is_work(self, key: StepKey) -> bool:
        """Attempts go on with another step, so they don't count."""
        return key.round == self._setup.round and key.agent not in ("", *HELPERS) and not key.attempt

    def _planned(self, results: Results) -> list[tuple[str, Sequence[str]]]:
        for key, text in agent_texts(results):
            if key.agent == "planner":
                try:
                    return [(step.title, step.files) for step in parse_plan(text).steps]
                except NoPlan:
                    return []
        return []

    async def _fix(self, worker: StepKey, number: int, results: Results) -> str:
        """The worker goes on in its conversation, where it reads what failed."""
        failed = self._verifications(results, number)[-1]
        said = render_failure(failed, changed_files(self._run.state))
        return await self._setup.work(worker.of_attempt(number), Assignment(instruction=said, again=True))

    def _key(self, number: int) -> StepKey:
        return StepKey(self._setup.round, VERIFICATION, number=number)

    def _verifications(self, results: Results, before: int | None = None) -> list[Verification]:
        """This round's verifications in order; with `before`, only those before that attempt."""
        numbers = sorted(key.number for key in results if key.is_verification)
        return [
            Verification.model_validate_json(results[self._key(number)])
            for number in numbers
            if before is None or number < before
        ]


def _hash_changes(changes: Sequence[FileVersions]) -> str:
    total = hashlib.sha256()
    for change in sorted(changes):
        content = "" if change.after is None else hashlib.sha256(change.after).hexdigest()
        total.update(f"{change.path}\0{content}\0".encode("utf-8", "surrogateescape"))
    return total.hexdigest()
