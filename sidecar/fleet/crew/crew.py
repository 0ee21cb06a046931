"""The engine's port to crews: carries out a task with `options.crew`, and leaves every other to the workflow."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from sidecar.engine.errors import AgentError, OperationRefused, StepFailed
from sidecar.engine.run import TaskRun
from sidecar.engine.state import UserMessage
from sidecar.engine.steps import ROUTE, StepKey
from sidecar.journal.errors import JournalError
from sidecar.journal.port import Journal
from sidecar.wire.events import MessageEvent, RouteEvent
from sidecar.wire.tasks import RouteAnswer, SubtaskResult, TaskResult
from sidecar.work.roster import ROSTER, Agent
from sidecar.work.workflow import Workflow

if TYPE_CHECKING:
    from sidecar.fleet.crew.children import Children, Tasks
    from sidecar.work.plan import Plan
    from sidecar.work.setup import AgentSetup, ParallelPlan

#: The folder with the agents that come with crews, in `agents/`.
AGENTS = Path(__file__).parent
#: Parts that a crew works on at once.
WORKERS = 4
#: Place of the first of a plan's steps that are tasks, after all agents of a pipeline.
FIRST_STEP = 100
_LEADERS = ("strategist", "architect")


class CrewWork:
    def __init__(self, workflow: Workflow, journal: Journal) -> None:
        self._workflow = workflow
        self._journal = journal
        self._tasks: Tasks | None = None
        self._of_run: WeakKeyDictionary[TaskRun, Children] = WeakKeyDictionary()

    def connect(self, tasks: "Tasks") -> None:
        """The engine, which needs this object to be made."""
        self._tasks = tasks

    async def carry_out(self, run: TaskRun) -> TaskResult:
        await self._workflow.load()
        children = self._children(run)
        try:
            if run.request.options.crew:
                return await self._carry_out(run, children)
            if _wants_parallel(run):
                self._workflow.rounds.parallel = self._parallel
            return await self._workflow.carry_out(run)
        except BaseException as error:
            cause = _first(error)
            # The worker that took the task over goes on with its parts; so does the next start.
            if children.any and run.stopped_by != "shutdown" and not isinstance(cause, JournalError):
                await asyncio.shield(children.cancel())
            if isinstance(cause, AgentError):
                raise StepFailed(cause.code, cause.message, recoverable=cause.recoverable) from cause
            raise cause from None if cause is error else error

    async def _carry_out(self, run: TaskRun, children: "Children") -> TaskResult:
        from sidecar.fleet.crew.dispatch import Dispatch
        from sidecar.fleet.crew.merging import MergeQueue
        from sidecar.fleet.crew.planning import make_plan
        from sidecar.work.changes import changed_files, verification_result

        assert self._tasks is not None
        rounds = self._workflow.rounds
        definitions = rounds.definitions(run.request.workspace)
        why = "you asked for a crew"
        route = RouteAnswer(intent="edit_code", confidence=1.0, pipeline=list(_LEADERS), why=why)
        setup = await rounds.set_up(run, route, definitions)
        key = StepKey(setup.round, ROUTE)
        if key not in run.state.steps:
            await run.record_step(key, route.to_json(), RouteEvent(**route.model_dump()), read_only=True)
        plan = await make_plan(setup, specialists(definitions.agents))
        checks = None if run.request.options.verify == "off" else rounds.checks(setup)
        merges = MergeQueue(run, self._tasks, self._journal, checks)
        dispatch = Dispatch(
            run,
            setup.request,
            plan,
            self._tasks,
            children,
            merges,
            workers=run.request.options.workers or WORKERS,
            first=len(_LEADERS) + 1,
        )
        parts = await dispatch.run()
        verification = verification_result(run.state)
        summary = render_report(parts, _passed(verification), bool(run.origin), run.task_id)
        name = f"r{setup.round}.report"
        run.log.enqueue(MessageEvent(message_id=name, role="assistant", agent=_LEADERS[0], text=summary))
        return TaskResult(
            summary=summary,
            files_modified=changed_files(run.state),
            verification=verification,
            usage=run.budget.usage,
            subtasks=parts,
        )

    async def abandon(self, run: TaskRun) -> None:
        if run.state.children:
            from sidecar.fleet.crew.merging import MergeQueue

            assert self._tasks is not None
            await self._children(run).cancel()
            if run.request.workspace.startswith("/"):  # else its clone is gone, and the next run makes another
                await MergeQueue(run, self._tasks, self._journal, None).finish()
        await self._workflow.abandon(run)

    async def tidy(self, run: TaskRun) -> None:
        await self._workflow.tidy(run)

    def missed(self, run: TaskRun) -> Sequence[UserMessage]:
        """Parts read your messages too."""
        passed_on = {name for child in run.state.children.values() for name in child.message_ids or ()}
        return [message for message in self._workflow.missed(run) if message.id not in passed_on]

    async def suggest_command(self, asked: str, workspace: str) -> str | None:
        return await self._workflow.suggest_command(asked, workspace)

    def _children(self, run: TaskRun) -> "Children":
        from sidecar.fleet.crew.children import Children

        assert self._tasks is not None
        if run not in self._of_run:
            self._of_run[run] = Children(run, self._tasks, self._journal)
        return self._of_run[run]

    # -- plans of ordinary tasks -------------------------------------------------------------------------------------

    def _parallel(self, run: TaskRun) -> "ParallelPlan | None":
        """Steps need worktrees to run at the same time; without a repository one worker does them in order."""
        if not _wants_parallel(run) or self._tasks is None:
            return None
        if not run.state.children and run.request.context.repository is None:
            if self._tasks.worktrees is None:
                return None
            try:
                self._tasks.worktrees.check(run.request.workspace)
            except OperationRefused:
                return None
        return self._carry_out_plan

    async def _carry_out_plan(self, setup: "AgentSetup", plan: "Plan") -> str:
        """The steps are verified together afterwards, by the checks of the task."""
        from sidecar.fleet.crew.dispatch import Dispatch
        from sidecar.fleet.crew.merging import MergeQueue
        from sidecar.fleet.crew.plan import as_parts

        assert self._tasks is not None
        run = setup.run
        merges = MergeQueue(run, self._tasks, self._journal, None)
        dispatch = Dispatch(
            run,
            setup.request,
            as_parts(plan),
            self._tasks,
            self._children(run),
            merges,
            workers=run.request.options.workers or 1,
            first=FIRST_STEP,
            verify=False,
        )
        return render_parts(await dispatch.run())


def _wants_parallel(run: TaskRun) -> bool:
    options = run.request.options
    return (options.workers or 1) > 1 and not options.crew


def specialists(agents: Mapping[str, Agent]) -> dict[str, Agent]:
    """Who may own a part of a plan: the shipped specialists, your own agents, and the coder."""
    leaders = {*_LEADERS, *(name for name in ROSTER if name not in ("coder", "docs"))}
    return {name: agent for name, agent in agents.items() if name not in leaders}


def _passed(verification: Any) -> list[str]:
    if not isinstance(verification, dict) or verification.get("passed") is not True:
        return []
    return [check["command"] or check["name"] for check in verification["checks"] if check["passed"]]


def _first(error: BaseException) -> BaseException:
    """The failure that ended the other parts."""
    return _first(error.exceptions[0]) if isinstance(error, BaseExceptionGroup) else error


def render_report(parts: Sequence[SubtaskResult], checks: Sequence[str], worktree: bool, task_id: str) -> str:
    lines = [render_parts(parts)]
    if checks:
        lines.append(f"The merged tree passed: {'; '.join(checks)}.")
    else:
        lines.append("No check has proven the merged tree.")
    if worktree:
        lines.append(f"It is in a worktree; to take it over: brain merge {task_id}")
    return "\n".join(lines)


def render_parts(parts: Sequence[SubtaskResult]) -> str:
    head = f"{len(parts)} {'part is' if len(parts) == 1 else 'parts are'} done and merged."
    return "\n".join([head, *(_part(part) for part in parts)])


def _part(part: SubtaskResult) -> str:
    proof = {True: "its checks passed", False: "its checks failed", None: "no check of its own"}[part.verified]
    tries = f", attempt {part.attempts}" if part.attempts > 1 else ""
    files = ", ".join(part.files) or "no files"
    return f"- {part.title} ({part.agent}, task {part.task_id}{tries}): {proof}; {files}"
