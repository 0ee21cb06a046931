"""The merge queue: one part at a time goes into the crew's tree, and the whole tree is verified before the next.

A merge is a recorded call with the files before and after, so a killed crew finishes it, a rewind undoes it, and a
merge that breaks the tree is reverted. Until its part has an outcome, no other part is merged.
"""

import asyncio
from collections.abc import Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Literal

from pydantic import JsonValue

from sidecar.engine.errors import StepFailed
from sidecar.engine.state import TaskState
from sidecar.engine.steps import VERIFICATION, CallKey, StepKey
from sidecar.engine.undo import back, change_of
from sidecar.fleet.crew.attempts import Attempt
from sidecar.fleet.crew.places import Beginning, places_of
from sidecar.verify.result import Verification
from sidecar.wire.base import ToolStatus
from sidecar.wire.events import ToolEvent
from sidecar.wire.tasks import Task
from sidecar.wire.text import plural
from sidecar.wire.worktrees import MergeConflict
from sidecar.work.changes import touched_paths
from tools.errors import ToolError
from tools.ledger import FileState, IntentRecord, Outcome

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from sidecar.engine.run import TaskRun
    from sidecar.fleet.crew.children import Tasks
    from sidecar.journal.port import Journal
    from sidecar.work.verification import VerificationStages

What = Literal["merge", "revert"]
MERGE: What = "merge"
REVERT: What = "revert"
_SHOWN = 4_000


class MergeQueue:
    def __init__(self, run: "TaskRun", tasks: "Tasks", journal: "Journal", checks: "VerificationStages | None") -> None:
        self._run = run
        self.places = places_of(run, tasks, journal)
        #: Merged parts that those which begin later don't have yet: attempt, title and task.
        self._unpublished: list[tuple[StepKey, str, str]] = []
        self._tasks = tasks
        self._journal = journal
        self._checks = checks
        self._lock = asyncio.Lock()
        self._open = {key.step for key in map(_step_of, run.state.intents) if key and key.step not in run.state.steps}
        self._recovered = asyncio.Event()
        if not self._open:
            self._recovered.set()

    @asynccontextmanager
    async def turn(self, key: StepKey) -> "AsyncIterator[None]":
        """Wait for a turn to merge and to record how that ended; what a killed run had begun comes first."""
        if key not in self._open:
            await self._recovered.wait()
        async with self._lock:
            yield
        self._open.discard(key)
        if not self._open:
            self._recovered.set()

    async def merge(self, key: StepKey, place: int, task: Task) -> Attempt:
        """Merge what the task did, verify the whole tree, and revert the merge if that fails."""
        call = self._call(key, MERGE)
        intent = self._run.ledger.intent(call)
        files = intent.files if intent is not None else []
        if intent is None:
            state = TaskState.of(await self._journal.records(task.id))
            # What only its checks wrote, such as caches, is no part of its work.
            by_checks = touched_paths(state, checks=True) - touched_paths(state, checks=False)
            try:
                files, conflicts = await self.places.plan_merge(task.id, by_checks)
            except ToolError as error:
                return Attempt.failed(task, f"Its changes could not be merged. {error.message}")
            if conflicts:
                return Attempt.failed(task, _conflict_error(conflicts), [_conflict_hint(each) for each in conflicts])
        if files and (problem := await self._change(call, MERGE, task, files)):
            return Attempt.failed(task, problem)
        verification = await self._verify(key, place)
        if verification is not None and verification.passed is False:
            await self._change(self._call(key, REVERT), REVERT, task, [back(file) for file in files])
            why = f"After its merge the whole tree fails its checks. {verification.error}"
            return Attempt.failed(task, why, verification.hints)
        return Attempt.merged(task, [file.path for file in files])

    async def finish(self) -> None:
        """Finish a merge or revert that was begun, so that the crew's tree holds a part whole or not at all."""
        for name, intent in list(self._run.state.intents.items()):
            if _step_of(name) is not None and self._run.ledger.outcome(name) is None:
                task = await self._journal.task(str(intent.args.get("task")))
                what = REVERT if intent.tool == f"{REVERT}_part" else MERGE
                await self._change(name, what, task, intent.files)

    # -- where parts work --------------------------------------------------------------------------------------------

    async def begin(self) -> Beginning:
        """Where a new part works: it has all that is merged so far."""
        if self._unpublished:
            await self._recovered.wait()
            async with self._lock:
                if problem := await self._publish():
                    raise _not_pushed(problem)
        try:
            return await self.places.begin()
        except ToolError as error:
            raise _not_pushed(error.message) from error

    async def publish(self, key: StepKey, title: str, part: str) -> None:
        """Call it in the turn in which the part was merged, or before the first turn.

        A failure matters only to parts that begin later, so those report it.
        """
        self._unpublished.append((key, title, part))
        if not self._open - {key}:
            # Else the tree has a merge that is not verified yet.
            await self._publish()

    async def _publish(self) -> str:
        """Returns why it failed; empty if nothing is left to publish."""
        while self._unpublished:
            try:
                await self.places.publish(*self._unpublished[0])
            except ToolError as error:
                return error.message
            self._unpublished.pop(0)
        return ""

    async def close(self, attempt: Attempt) -> None:
        await self.places.close(attempt.task_id, attempt.files)

    async def discard(self, attempt: Attempt) -> None:
        await self.places.discard(attempt.task_id)

    # -- changes of the tree -----------------------------------------------------------------------------------------

    def _call(self, key: StepKey, name: str) -> str:
        return str(CallKey(self._run.task_id, key.of_turn(0), name, self._run.state.branch))

    async def _change(self, call: str, what: What, task: Task, files: Sequence[FileState]) -> str | None:
        """Change the files as one recorded call; returns what was in the way."""
        run = self._run
        if (done := run.ledger.outcome(call)) is not None:
            return None if done.status == "success" else done.summary
        args = IntentRecord(tool=f"{what}_part", args={"task": task.id}, backend="local", files=list(files))
        await run.ledger.intend(call, args, _event(call, args, "running", f"{what} {plural(len(files), 'file')}"))
        parent = await self._journal.task(run.task_id)
        left = await self._tasks.review.apply(parent, files, run.request.workspace)
        if left:
            summary = f"Nothing was changed: {left[0].path}: {left[0].why}"
            outcome = Outcome(status="error", content=summary, summary=summary, duration_ms=0)
        else:
            counts = await self._count_lines(what, task, files)
            summary = (
                f"{'Merged' if what == MERGE else 'Reverted'} {len(files)} {'file' if len(files) == 1 else 'files'}"
            )
            outcome = Outcome(
                status="success", content=summary, summary=summary, details={"files": counts}, duration_ms=0
            )
        await run.ledger.settle(call, outcome, _event(call, args, outcome.status, summary))
        return summary if left else None

    async def _count_lines(self, what: What, task: Task, files: Sequence[FileState]) -> list[JsonValue]:
        """The files as the details of an outcome list them; the part knows how many lines it changed."""
        known = {file.path: (file.added, file.removed) for file in (await self._tasks.review.diff(task.id)).files}
        listed: list[JsonValue] = []
        for file in files:
            added, removed = known.get(file.path, (0, 0))
            if what == REVERT:
                added, removed = removed, added
            listed.append({"path": file.path, "change": change_of(file), "added": added, "removed": removed})
        return listed

    async def _verify(self, key: StepKey, place: int) -> Verification | None:
        if self._checks is None:
            return None
        step = StepKey(key.round, VERIFICATION, number=place * 100 + key.attempt)
        if (recorded := self._run.state.steps.get(step)) is not None:
            return Verification.model_validate_json(recorded)
        verification = await self._checks.check(step, 1, {})
        events = [] if verification.passed is None else [verification.event()]
        await self._run.record_step(step, verification.to_json(), *events)
        return verification


def _not_pushed(problem: str) -> StepFailed:
    message = f"The next part needs what is merged so far, and that is not on the remote: {problem}"
    return StepFailed("not_pushed", f"{message} What is merged is kept; resume to go on.", recoverable=True)


def _step_of(call: str) -> StepKey | None:
    """The attempt that a call merges or reverts; `None` for other calls."""
    found = CallKey.parse(call)
    return found.step.step if found is not None and found.name in (MERGE, REVERT) else None


def _event(
    call: str,
    intent: IntentRecord,
    status: ToolStatus,
    summary: str,
) -> ToolEvent:
    return ToolEvent(
        call_id=call,
        tool=intent.tool,
        status=status,
        args=intent.args,
        summary=summary,
        duration_ms=0,
        cached=False,
        executor="local",
    )


def _conflict_error(conflicts: Sequence[MergeConflict]) -> str:
    names = ", ".join(each.path for each in conflicts[:5])
    return f"Its changes conflict with what is merged already: {names}."


def _conflict_hint(conflict: MergeConflict) -> str:
    text = f"\n{conflict.text[:_SHOWN]}" if conflict.text else ""
    return f"{conflict.path}: {conflict.why}{text}"
