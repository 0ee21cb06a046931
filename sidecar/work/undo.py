"""Undoes the last change because you asked for it in words, as `brain undo --last-change` does.

The change is that of this task if an earlier round made one; else of the newest task in this workspace that has one.
What will be undone is recorded first, so a resumed task undoes the same change and not the one before it too.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence

from sidecar.engine.errors import AgentError, OperationRefused
from sidecar.engine.review import Review
from sidecar.engine.run import TaskRun
from sidecar.engine.steps import LAST_CHANGE, UNDO, StepKey
from sidecar.engine.undo import STILL
from sidecar.journal.port import Journal
from sidecar.wire.base import Wire
from sidecar.wire.events import Event, MessageEvent
from sidecar.wire.tasks import LeftFile, RewindAnswer, Task, TaskResult
from sidecar.wire.text import listed
from sidecar.work.pipeline import Step, run_pipeline
from sidecar.work.results import Results
from tools.ledger import Question

YES, NO = "Undo it", "Leave it"
#: How many of the newest tasks are searched for a change to undo.
_MAX_TASKS = 200
_PAGE = 50
_NAMED = 20
_ASKED_CHARACTERS = 80
_UNDONE: dict[str, str] = {"created": "brought back", "deleted": "deleted", "modified": "restored"}


class LastChange(Wire):
    """The change to undo: its task, the event before it, and the files as a preview shows them."""

    task: str
    asked: str
    plan: RewindAnswer


class Undone(Wire):
    summary: str
    files: list[str]


async def undo_last_change(run: TaskRun, journal: Journal) -> TaskResult:
    assert run.review is not None, "only a run without an engine has none"
    undo = _UndoLastChange(run, journal, run.review)
    results = await run_pipeline([undo.find, undo.carry_out], run)
    done = Undone.model_validate_json(results[undo.carry_out.key])
    return TaskResult(summary=done.summary, files_modified=done.files, verification=None, usage=run.budget.usage)


class _UndoLastChange:
    def __init__(self, run: TaskRun, journal: Journal, review: Review) -> None:
        self._run = run
        self._journal = journal
        self._review = review
        current = run.state.current_round
        self.find = Step(StepKey(current, LAST_CHANGE), "", "Find the last change", self._find)
        self.carry_out = Step(StepKey(current, UNDO), "", "Undo it", self._undo, self._said)

    async def _find(self, results: Results) -> str:
        async for task in self._tasks():
            own = task.id == self._run.task_id
            try:
                plan = await self._review.rewind(task.id, None, preview=True, conversation=not own, own=own)
            except OperationRefused:
                continue  # it has no change left to undo
            if not own and task.status not in STILL:
                message = (
                    f"The last change here is of {_name(task.id, task.task)}, which is {task.status}. Nothing was "
                    "undone. Cancel that task or wait until it ends, then ask again."
                )
                raise AgentError("task_active", message, recoverable=True, retry=False)
            return LastChange(task=task.id, asked=task.task, plan=plan).to_json()
        message = "No task has a change left to undo in this workspace. Nothing was changed. `brain tasks` lists tasks."
        raise AgentError("nothing_to_undo", message, recoverable=False, retry=False)

    async def _tasks(self) -> AsyncIterator[Task]:
        """This task, then the others in the same workspace, newest first."""
        yield await self._journal.task(self._run.task_id)
        before: str | None = None
        for _ in range(_MAX_TASKS // _PAGE):
            page = await self._journal.tasks(limit=_PAGE, before=before)
            for task in page:
                if task.workspace == self._run.request.workspace and task.id != self._run.task_id:
                    yield task
            if len(page) < _PAGE:
                return
            before = page[-1].id

    async def _undo(self, results: Results) -> str:
        found = LastChange.model_validate_json(results[self.find.key])
        options = self._run.request.options
        if options.approvals == "readonly":
            message = f"This task may only read, so nothing was undone. It would undo {_describe(found)}."
            raise AgentError("read_only", message, recoverable=False, retry=False)
        if (options.approvals == "edits" or options.plan) and await self._ask(found) != YES:
            return Undone(summary=f"You declined. Nothing was undone of {_describe(found)}.", files=[]).to_json()
        own = found.task == self._run.task_id
        # To the recorded event: what an earlier run of this task undid already stays undone. Once it has begun it is
        # finished, so that a cancelled task doesn't leave half of it.
        rewinding = self._review.rewind(found.task, found.plan.seq, conversation=not own, own=own)
        try:
            answer = await asyncio.shield(asyncio.ensure_future(rewinding))
        except OperationRefused as error:
            raise AgentError(
                error.code, f"Nothing was undone. {error.message}", recoverable=True, retry=False
            ) from error
        return _report(found, answer).to_json()

    async def _ask(self, found: LastChange) -> str:
        name = f"{self._run.task_id}.{self.carry_out.key.on_branch(self._run.state.branch)}"
        return await self._run.questions.ask(
            Question(name, f"Undo {_describe(found)}?", safe=NO, choices=(YES, NO)),
        )

    def _said(self, body: str) -> Sequence[Event]:
        text = Undone.model_validate_json(body).summary
        name = str(self.carry_out.key.on_branch(self._run.state.branch))
        return [MessageEvent(message_id=name, role="assistant", agent="", text=text)]


def _report(found: LastChange, answer: RewindAnswer) -> Undone:
    """What was undone, and what was not. What the preview shows and nothing held back was undone, now or before."""
    left = [*answer.conflicts, *answer.not_restored]
    kept = {each.path for each in left}
    changes = {file.path: file.change for file in (*found.plan.files, *answer.files) if file.path not in kept}
    name = _name(found.task, found.asked)
    lines = [f"Undid the last change of {name}:" if changes else f"Nothing of the last change of {name} was undone."]
    lines += _listed([f"{_UNDONE[change]} `{path}`" for path, change in changes.items()])
    if left:
        lines += ["", "Not undone:" if changes else "Left as they are:", *_listed([_why(each) for each in left])]
    if any(each.uncertain for each in left):
        lines += ["", f"To undo such a file anyway: `brain undo {found.task} --last-change --include FILE`."]
    return Undone(summary="\n".join(lines), files=sorted(changes))


def _describe(found: LastChange) -> str:
    files = [f"`{file.path}`" for file in found.plan.files]
    return f"the last change of {_name(found.task, found.asked)} ({listed(files, _NAMED)})"


def _name(task_id: str, asked: str) -> str:
    words = " ".join(asked.split())
    return f"task {task_id[:10]} (“{words[:_ASKED_CHARACTERS]}{'…' if len(words) > _ASKED_CHARACTERS else ''}”)"


def _why(file: LeftFile) -> str:
    return f"`{file.path}`: {file.why}"


def _listed(lines: Sequence[str]) -> list[str]:
    more = [f"- and {len(lines) - _NAMED} more"] if len(lines) > _NAMED else []
    return [*(f"- {line}" for line in lines[:_NAMED]), *more]
