"""What comes after the agents: their work is verified, and sent back with what is wrong, a few times.

Every verification and every attempt is a step with a name of its own: a task that was killed in the middle goes on
there. A person who is needed in the end may say something, or mend it by hand; then there are new attempts.
"""

import hashlib
from collections.abc import Sequence
from itertools import islice

from sidecar.engine.errors import AgentError, Escalated
from sidecar.engine.pipeline import Results, Stage, Step, Unfold
from sidecar.engine.steps import ESCALATION, VERIFICATION, StepKey
from sidecar.journal.port import Journal
from sidecar.models.port import ModelTurn, UserTurn
from sidecar.verify.change import FileVersions
from sidecar.verify.feedback import ATTEMPTS, render_escalation, render_failure, suggest_next
from sidecar.verify.result import Verification
from sidecar.verify.verifier import VerificationRequest, Verifier
from sidecar.wire.events import Event, RetryEvent
from sidecar.work.changes import changed_files, count_edits, original_contents, touched_paths
from sidecar.work.check_runner import TaskCheckRunner
from sidecar.work.handover import HELPERS, so_far, words_of
from sidecar.work.loop import Job, run_agent
from sidecar.work.plan import NoPlan, read_plan
from sidecar.work.results import AgentResult, Answered, GaveUp, agent_step, agent_texts, parse_result
from sidecar.work.setup import CANNOT, ENDLESS, AgentSetup
from sidecar.work.turn_log import TaskTurnLog
from tools.errors import ToolError
from tools.host import Host
from tools.paths import normalize

AGENT = "verify"
_MESSAGE = "Check what was done"
#: A byte more than is kept of a file, so that none is taken for another because it was cut.
_SIZE = 4 * 1024 * 1024 + 1
_FILES = 1_000


class VerificationStages:
    def __init__(
        self,
        setup: AgentSetup,
        journal: Journal,
        verifier: Verifier,
        commands: Sequence[str] | None,
        *,
        preapproved: bool,
    ) -> None:
        self._setup = setup
        self._run = setup.run
        self._journal = journal
        self._verifier = verifier
        #: What the workspace itself names as its checks.
        self._configured = commands
        self._preapproved = preapproved

    def stages(self) -> list[Stage]:
        return self._verified(1, 1)

    # -- one verification, and what follows from it ------------------------------------------------------------------

    def _verified(self, number: int, attempt: int) -> list[Stage]:
        key = self._key(number)

        async def act(results: Results) -> str:
            return (await self._check(number, attempt, results)).to_json()

        def then(value: str) -> Sequence[Event]:
            checked = Verification.model_validate_json(value)
            if checked.passed is None:
                return []
            retry = self._tries_again(checked, attempt)
            following = RetryEvent(attempt=attempt + 1, of=ATTEMPTS, hints=checked.hints, error=checked.error)
            return [checked.event(), following] if retry else [checked.event()]

        def make(results: Results) -> Sequence[Stage]:
            checked = Verification.model_validate_json(results[key])
            if checked.passed is not False:
                return []
            if self._tries_again(checked, attempt):
                return self._attempted(number, attempt + 1, results)
            why = "" if attempt >= ATTEMPTS else "No language model is configured that could mend it."
            return self._escalated(number, attempt, results, why)

        return [Step(key, AGENT, _MESSAGE, act, then), Unfold(make)]

    def _tries_again(self, checked: Verification, attempt: int) -> bool:
        if checked.passed is not False or attempt >= ATTEMPTS:
            return False
        worker = self._worker(self._run.state.steps)
        return worker is not None and not self._setup.knows_no_language(worker.agent)

    def _attempted(self, number: int, attempt: int, results: Results) -> list[Stage]:
        """The worker goes on with what was found; then it is verified again."""
        worker = self._worker(results)
        assert worker is not None
        key = worker.of_attempt(number + 1)

        async def act(results: Results) -> AgentResult:
            try:
                return Answered(text=await self._mended(worker, number + 1, results))
            except AgentError as error:
                if error.recoverable and error.code not in CANNOT | ENDLESS:
                    raise
                return GaveUp(reason=error.message, began=error.code in ENDLESS)

        def make(results: Results) -> Sequence[Stage]:
            result = parse_result(results[key])
            if isinstance(result, GaveUp) and not result.began:
                why = f"The attempt came to nothing: {result.reason}"
                return self._escalated(number + 1, attempt, results, why)
            return self._verified(number + 1, attempt)

        message = f"Mend what the check found ({attempt} of {ATTEMPTS})"
        return [agent_step(key, message, act), Unfold(make)]

    def _escalated(self, number: int, attempts: int, results: Results, why: str = "") -> list[Stage]:
        """A person is needed; or was, and has sent the task on, which gives it attempts of its own."""
        key = StepKey(self._setup.round, ESCALATION, number=number)
        messages = self._run.state.escalations.get(key)
        if messages is None:
            checked = self._checked(results)
            told = render_escalation(checked[-1], checked[-attempts:-1], why)
            files = changed_files(self._run.state)
            raise Escalated(key, told, attempts=attempts, suggestions=suggest_next(checked[-1], files))
        worker = self._worker(results)
        state = self._run.state
        fresh = self._key(number + 1) not in state.steps and len(state.messages) > messages
        if worker is not None and (fresh or self._has_begun(worker.of_attempt(number + 1))):
            return self._attempted(number, 1, results)
        # Nothing was said, so perhaps something was done: it is looked at before anybody works on it.
        return self._verified(number + 1, 1)

    def _has_begun(self, key: StepKey) -> bool:
        state = self._run.state
        return key in state.steps or key.of_turn(0) in state.turns or key.of_turn(0) in state.stopped

    # -- the check ---------------------------------------------------------------------------------------------------

    async def _check(self, number: int, attempt: int, results: Results) -> Verification:
        run, key = self._run, self._key(number)
        host = self._setup.executor.host(run.request.workspace)
        if host is None:
            return Verification(passed=None, attempt=attempt, notes=["The workspace cannot be looked at."])
        # What still runs could change what was just checked.
        for killed in await self._setup.executor.stop_commands(run.ledger):
            run.ledger.killed("", killed.pid, killed.command)
        changes = await self._changes(host)
        state = _state(changes)
        failed = [each for each in self._checked(results) if each.passed is False]
        commands, user_commands = self._commands()
        done = VerificationRequest(
            id=f"{run.task_id}.{key}",
            request=self._setup.request,
            reports=words_of(results),
            changes=changes,
            planned=self._planned(results),
            commands=commands,
            user_commands=user_commands,
            preapproved=self._preapproved,
            attempt=attempt,
            state=state,
            earlier=failed[-(attempt - 1) :] if attempt > 1 else [],
        )
        checked = await self._verifier.verify(done, host, TaskCheckRunner(run, self._setup.executor, key))
        if checked.passed and _state(await self._changes(host)) != state:
            note = "Files of the change were changed while they were checked, so nothing is proven."
            checked = checked.model_copy(update={"passed": None, "notes": [*checked.notes, note]})
        return checked.model_copy(update={"edits": count_edits(run.state)})

    def _commands(self) -> tuple[Sequence[str] | None, bool]:
        verify = self._run.request.options.verify
        if isinstance(verify, list) and verify:
            return verify, True
        return self._configured, False

    async def _changes(self, host: Host) -> list[FileVersions]:
        """What the task did, in the files as they are now; what only its checks have written is not its work."""
        memory = self._run.state
        by_checks = touched_paths(memory, checks=True) - touched_paths(memory, checks=False)
        found = []
        known: dict[str, str | None] = {}
        for path, name in original_contents(memory).items():
            if path not in by_checks:
                known.setdefault(normalize(path, self._run.request.workspace), name)
        for path, name in islice(known.items(), _FILES):
            before = None if name is None else await self._journal.blob(name)
            if name is not None and before is None:
                continue  # its earlier content was dropped; there is nothing to compare it with
            after = await _content(host, path)
            if before != after:
                found.append(FileVersions(path, before, after))
        return found

    # -- who did it, and who mends it --------------------------------------------------------------------------------

    def _worker(self, results: Results) -> StepKey | None:
        """The step whose agent goes on when something is wrong: the last coder's, or who else did the work."""
        keys = [key for key in results if self._is_work(key)]
        coders = [key for key in keys if key.agent == "coder"]
        return coders[-1] if coders else keys[-1] if keys else None

    def _is_work(self, key: StepKey) -> bool:
        """An attempt isn't counted: it goes on with a step that is."""
        return key.round == self._setup.round and key.agent not in ("", *HELPERS) and not key.attempt

    def _planned(self, results: Results) -> list[tuple[str, Sequence[str]]]:
        for key, text in agent_texts(results):
            if key.agent == "planner":
                try:
                    return [(step.title, step.files) for step in read_plan(text).steps]
                except NoPlan:
                    return []
        return []

    async def _mended(self, worker: StepKey, number: int, results: Results) -> str:
        job, log = await self._conversation(worker, number, results)
        said = render_failure(self._checked(results, number)[-1], changed_files(self._run.state))
        return await self._setup.again(job, log, worker.of_attempt(number), said)

    async def _conversation(self, worker: StepKey, number: int, results: Results) -> tuple[Job, TaskTurnLog]:
        """The worker's own, up to its last word; in another life of the task it is told again from the log."""
        known = self._setup.jobs.get(worker)
        if known is not None:
            return known
        others = {key: body for key, body in results.items() if key != worker and not key.attempt}
        job, log = self._setup.jobs[worker] = await self._setup.job(worker, worker.agent, so_far(others, self._run))
        await run_agent(job, log)
        for earlier in range(2, number):
            body = results.get(worker.of_attempt(earlier))
            if body is None:
                continue
            result = parse_result(body)
            said = render_failure(self._checked(results, earlier)[-1], [])
            if isinstance(result, GaveUp):
                # It has no last word in the log, and is not to go on here.
                job.fitting.add(UserTurn(text=said))
                job.fitting.add(ModelTurn(text=f"Not finished: {result.reason}"))
            else:
                await self._setup.again(job, log, worker.of_attempt(earlier), said)
        return job, log

    def _key(self, number: int) -> StepKey:
        return StepKey(self._setup.round, VERIFICATION, number=number)

    def _checked(self, results: Results, before: int | None = None) -> list[Verification]:
        """This round's verifications in order; those before an attempt, if one is named."""
        numbers = sorted(key.number for key in results if key.is_verification)
        return [
            Verification.model_validate_json(results[self._key(number)])
            for number in numbers
            if before is None or number < before
        ]


def _state(changes: Sequence[FileVersions]) -> str:
    total = hashlib.sha256()
    for change in sorted(changes):
        content = "" if change.after is None else hashlib.sha256(change.after).hexdigest()
        total.update(f"{change.path}\0{content}\0".encode("utf-8", "surrogateescape"))
    return total.hexdigest()


async def _content(host: Host, path: str) -> bytes | None:
    try:
        return await host.read(path, _SIZE)
    except (ToolError, OSError):
        return None
