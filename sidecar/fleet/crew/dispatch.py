"""Dispatches the parts of a plan: each as a task in its own worktree, as soon as those before it are merged."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Literal

from sidecar.engine.errors import Escalated
from sidecar.engine.state import RecordKind
from sidecar.engine.steps import ESCALATION, StepKey
from sidecar.fleet.crew.attempts import ATTEMPTS, Attempt, child_options, failure_of, write_request
from sidecar.fleet.crew.plan import CrewPlan, Part
from sidecar.journal.errors import UnknownTask
from sidecar.wire.events import Event, PlanEvent, PlanItem, RetryEvent, StepEvent
from sidecar.wire.tasks import Context, ExecuteRequest, Status, SubtaskResult, Task

if TYPE_CHECKING:
    from sidecar.engine.run import TaskRun
    from sidecar.fleet.crew.children import Children, Tasks
    from sidecar.fleet.crew.merging import MergeQueue
    from sidecar.journal.port import Record

State = Literal["pending", "running", "done", "failed"]


class Dispatch:
    """`first` is the place of the first part among the steps of the task."""

    def __init__(
        self,
        run: "TaskRun",
        goal: str,
        plan: CrewPlan,
        tasks: "Tasks",
        children: "Children",
        merges: "MergeQueue",
        *,
        workers: int,
        first: int,
        verify: bool = True,
    ) -> None:
        self._run = run
        #: Whether each part verifies itself.
        self._verify = verify
        self._goal = goal
        self._plan = plan
        self._tasks = tasks
        self._children = children
        self._merges = merges
        self._workers = asyncio.Semaphore(workers)
        self._round = run.state.current_round
        self._places = {part.id: first + number for number, part in enumerate(plan.parts)}
        self._attempts = {part.id: self._recorded(part) for part in plan.parts}
        self._states: dict[str, State] = {
            part.id: "done" if self._is_merged(part) else "pending" for part in plan.parts
        }
        self._at_work: dict[str, Task] = {}
        self._ended = {part.id: asyncio.Event() for part in plan.parts}

    async def run(self) -> list[SubtaskResult]:
        """Raises `Escalated` once nothing more can be done, if a part isn't merged."""
        for part in self._plan.parts:
            if self._is_merged(part):
                attempts = self._attempts[part.id]
                await self._merges.publish(self._key(part, len(attempts)), part.title, attempts[-1].task_id)
        async with asyncio.TaskGroup() as group:
            for part in self._plan.parts:
                group.create_task(self._carry_out(part), name=f"part {part.id}")
        failed = [part for part in self._plan.parts if self._states[part.id] == "failed"]
        if failed:
            self._escalate(failed)
        return self.results()

    def results(self) -> list[SubtaskResult]:
        return [self._result(part) for part in self._plan.parts]

    # -- one part ----------------------------------------------------------------------------------------------------

    async def _carry_out(self, part: Part) -> None:
        try:
            for name in part.after:
                await self._ended[name].wait()
            if self._states[part.id] == "done":
                await self._merges.close(self._attempts[part.id][-1])
            elif all(self._states[name] == "done" for name in part.after):
                async with self._workers:
                    await self._try_until_merged(part)
        finally:
            self._ended[part.id].set()

    async def _try_until_merged(self, part: Part) -> None:
        attempts, escalations = self._attempts[part.id], len(self._escalations())
        self._say(part, "started")
        while len(attempts) < ATTEMPTS * (1 + escalations) and not _is_given_up(attempts, escalations):
            if attempts:
                await self._merges.discard(attempts[-1])
            self._set(part, "running")
            attempts.append(await self._attempt(part, self._key(part, len(attempts) + 1), attempts))
            if self._is_merged(part):
                await self._merges.close(attempts[-1])
                return
        self._set(part, "failed")
        self._say(part, "failed", attempts[-1].error)

    async def _attempt(self, part: Part, key: StepKey, earlier: Sequence[Attempt]) -> Attempt:
        if key not in self._run.state.children:
            await self._run.budget.check()
        request, message_ids, records = await self._request(part, key, earlier)
        task_id = await self._children.start(key, request, message_ids, records)
        task = await self._children.wait(task_id, lambda task: self._follow(part, task))
        attempt = failure_of(task, len(self._escalations()))
        if attempt is not None:
            await self._record(part, key, attempt, task)
            return attempt
        async with self._merges.turn(key):
            attempt = await self._merges.merge(key, self._places[part.id], task)
            await self._record(part, key, attempt, task)
            if attempt.state == "merged":
                await self._merges.publish(key, part.title, task.id)
        return attempt

    async def _request(
        self, part: Part, key: StepKey, earlier: Sequence[Attempt]
    ) -> tuple[ExecuteRequest, list[str], "Sequence[Record]"]:
        run = self._run
        messages = [message for message in run.state.messages if not message.opens and not message.is_news]
        diff = await self._diff(earlier[-1].task_id) if earlier else ""
        text = write_request(self._goal, part, earlier, diff, [message.text for message in messages])
        isolated = self._merges.places.isolated
        share = len(self._plan.parts)
        options = child_options(run.request.options, part, share, verify=self._verify, isolated=isolated)
        context, records = await self._merges.begin() if key not in run.state.children else (Context(), ())
        return (
            ExecuteRequest(task=text, context=context, options=options),
            [message.id for message in messages],
            records,
        )

    async def _diff(self, task_id: str) -> str:
        with suppress(UnknownTask):
            return "\n".join(file.diff for file in (await self._tasks.review.diff(task_id)).files)
        return ""

    async def _record(self, part: Part, key: StepKey, attempt: Attempt, task: Task) -> None:
        """The outcome, what it cost, and what readers see of it, at once."""
        run = self._run
        events: list[Event] = []
        if attempt.state == "merged":
            self._states[part.id] = "done"
            events = [self._step(part, "completed", part.title), self._event()]
        elif attempt.given_up is None:
            number = (key.attempt - 1) % ATTEMPTS + 1
            if number < ATTEMPTS:
                hints = [hint[:1_000] for hint in attempt.hints]
                events = [
                    RetryEvent(attempt=number + 1, of=ATTEMPTS, hints=hints, error=f"{part.title}: {attempt.error}")
                ]
        run.budget.add(task.usage)
        records = [
            run.log.record(RecordKind.STEP, key, attempt.to_json()),
            run.log.record(RecordKind.USAGE, key, task.usage.to_json()),
        ]
        await run.log.append(*events, run.budget.event(), records=records)

    # -- what is known -----------------------------------------------------------------------------------------------

    def _key(self, part: Part, attempt: int) -> StepKey:
        return StepKey(self._round, part.owner, self._places[part.id], attempt=attempt)

    def _recorded(self, part: Part) -> list[Attempt]:
        found: list[Attempt] = []
        while (body := self._run.state.steps.get(self._key(part, len(found) + 1))) is not None:
            found.append(Attempt.model_validate_json(body))
        return found

    def _is_merged(self, part: Part) -> bool:
        attempts = self._attempts[part.id]
        return bool(attempts) and attempts[-1].state == "merged"

    def _escalations(self) -> list[StepKey]:
        """How often this plan needed you; each time you resumed it, and its parts got new attempts."""
        return [key for key in self._run.state.escalations if key.round == self._round and key.number >= _ESCALATED]

    def _escalate(self, failed: Sequence[Part]) -> None:
        key = StepKey(self._round, ESCALATION, number=_ESCALATED + len(self._escalations()))
        merged = sum(state == "done" for state in self._states.values())
        why = "; ".join(f"{part.title} ({part.owner}): {self._attempts[part.id][-1].error}" for part in failed)
        reason = f"{merged} of {len(self._plan.parts)} parts are merged. Not done: {why}"
        tries = max(len(self._attempts[part.id]) for part in failed)
        ids = ", ".join(self._attempts[part.id][-1].task_id for part in failed)
        suggestions = [
            f"Look at what was tried: brain show {ids}",
            "Say in a message what to do differently; the parts that are left get three new attempts.",
            "Merge what is there with `brain merge`, and do the rest yourself.",
        ]
        raise Escalated(key, reason, attempts=tries, suggestions=suggestions)

    def _result(self, part: Part) -> SubtaskResult:
        attempts = self._attempts[part.id]
        last = attempts[-1] if attempts else None
        return SubtaskResult(
            id=part.id,
            title=part.title,
            agent=part.owner,
            state=self._states[part.id],
            task_id=last.task_id if last else None,
            attempts=len(attempts),
            verified=last.verified if last else None,
            files=last.files if last else [],
            error=last.error or None if last else None,
        )

    # -- what readers see --------------------------------------------------------------------------------------------

    def _follow(self, part: Part, task: Task) -> None:
        known = self._at_work.get(part.id)
        self._at_work[part.id] = task
        if known is None or (known.id, known.status) != (task.id, task.status):
            self._show()

    def _set(self, part: Part, state: State) -> None:
        if self._states[part.id] != state:
            self._states[part.id] = state
            self._show()

    def _show(self) -> None:
        self._run.log.enqueue(self._event())

    def _event(self) -> PlanEvent:
        return PlanEvent(items=[self._item(part) for part in self._plan.parts])

    def _item(self, part: Part) -> PlanItem:
        task = self._at_work.get(part.id)
        attempts = self._attempts[part.id]
        task_id = task.id if task else attempts[-1].task_id if attempts else None
        status: Status | None = task.status if task else None
        return PlanItem(
            id=part.id, title=part.title, state=self._states[part.id], agent=part.owner, task_id=task_id, status=status
        )

    def _say(self, part: Part, state: Literal["started", "failed"], message: str = "") -> None:
        self._run.log.enqueue(self._step(part, state, message or part.title))

    def _step(self, part: Part, state: Literal["started", "completed", "failed"], message: str) -> StepEvent:
        total = max(self._places.values())
        return StepEvent(step=self._places[part.id], total=total, message=message, agent=part.owner, state=state)


def _is_given_up(attempts: Sequence[Attempt], escalations: int) -> bool:
    return bool(attempts) and attempts[-1].given_up == escalations


#: Numbers of escalations of a crew's parts; smaller ones are of its plan.
_ESCALATED = 1_000
