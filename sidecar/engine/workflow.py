"""What is done for a task: route it, then let the agents of its pipeline work one after the other."""

import json
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import asdict

from sidecar.agents.errors import AgentError
from sidecar.agents.loop import Heard, Job, work
from sidecar.agents.roster import ROSTER, Agent
from sidecar.agents.router import READ_ONLY, route
from sidecar.engine.pipeline import Pipeline, Step, run_pipeline
from sidecar.engine.run import TaskRun
from sidecar.journal.port import Journal
from sidecar.models.catalog import UNPRICED, Catalog
from sidecar.models.errors import NoSuchModel
from sidecar.models.port import Delta, Model, ModelTurn, Reply, Switch, ToolReturn, ToolUse, Turn, UserTurn
from sidecar.wire.events import Event, HandoffContext, HandoffEvent, ModelEvent, RouteEvent
from sidecar.wire.tasks import RouteAnswer, Status, TaskResult
from sidecar.wire.tools import ToolInfo
from tools.executor import BatchContext, Executor, ToolCall
from tools.registry import Registry


class Workflow:
    def __init__(self, journal: Journal, catalog: Catalog, registry: Registry, executor: Executor) -> None:
        self._journal = journal
        self._catalog = catalog
        self._registry = registry
        self._executor = executor

    async def carry_out(self, run: TaskRun) -> TaskResult:
        prefix = f"r{run.memory.current_round}"
        chosen = await self._route(f"{prefix}.route", run)
        past = await self._past(run)
        results = await run_pipeline(self._pipeline(prefix, chosen, past, run), run)
        return TaskResult(
            summary=list(results.values())[-1],
            files_modified=run.memory.files_modified(),
            verification=None,
            usage=run.usage,
        )

    async def abandon(self, run: TaskRun) -> None:
        """End what an earlier life of the task left open; it is not gone on with."""
        left_open = {
            call_id: intent for call_id, intent in run.memory.intents.items() if call_id not in run.memory.outcomes
        }
        await self._executor.abandon(left_open, run.request.workspace, run)

    async def tidy(self, run: TaskRun) -> None:
        """What the task still has running in the background ends with it."""
        for killed in await self._executor.end(run):
            run.killed("", killed.pid, killed.command)

    def asked(self, run: TaskRun) -> str:
        return asked(run)

    async def _route(self, key: str, run: TaskRun) -> RouteAnswer:
        async def decide() -> str:
            return route(asked(run), run.request.options).to_json()

        def event(value: str) -> Sequence[Event]:
            return [RouteEvent(**json.loads(value))]

        return RouteAnswer.model_validate_json(await run.step(key, decide, done=event))

    def _pipeline(self, prefix: str, chosen: RouteAnswer, past: Sequence[Turn], run: TaskRun) -> Pipeline:
        steps = []
        for place, name in enumerate(chosen.pipeline):
            agent = ROSTER[name].read_only() if chosen.intent in READ_ONLY else ROSTER[name]
            following = chosen.pipeline[place + 1 :]
            steps.append(self._step(f"{prefix}.{place + 1}-{name}", agent, past, following, run))
        return steps

    def _step(self, key: str, agent: Agent, past: Sequence[Turn], following: Sequence[str], run: TaskRun) -> Step:
        async def act(results: dict[str, str]) -> str:
            model = self._model(agent, run)
            request = [UserTurn(text=_with_handoff(asked(run), results))]
            job = Job(key, agent, model, [*past, *request], self._tools(agent), run.request.options.max_iterations)
            return await work(job, _Books(run, self._executor))

        def hand_over(said: str) -> Sequence[Event]:
            return [_handoff(agent.name, following[0], said, following[1:], run)] if following else []

        return Step(key, agent.name, agent.description, act, hand_over)

    def _model(self, agent: Agent, run: TaskRun) -> Model:
        def tell(switch: Switch) -> None:
            run.note(ModelEvent(role=agent.role, **asdict(switch)))

        try:
            model = self._catalog.model_for(agent.role, run.request.options.models, tell)
        except NoSuchModel as error:
            raise AgentError(
                "no_model", f"{error} Nothing was done; choose another model and resume.", retry=False
            ) from error
        options = run.request.options
        if options.max_cost_usd is not None and not self._catalog.priced(agent.role, options.models):
            raise AgentError("price_unknown", UNPRICED, retry=False)
        run.note(ModelEvent(role=agent.role, provider=model.provider, model=model.name))
        return model

    def _tools(self, agent: Agent) -> Sequence[ToolInfo]:
        return self._registry.infos(frozenset(agent.tools))

    async def _past(self, run: TaskRun) -> list[Turn]:
        """What was said before: earlier tasks of the conversation, and earlier rounds of this one."""
        turns: list[Turn] = []
        if run.request.options.conversation_id is not None:
            for task in await self._journal.conversation(run.request.conversation_id):
                if task.id != run.task_id and task.status is Status.COMPLETED and task.result is not None:
                    turns += [UserTurn(text=task.task), ModelTurn(text=task.result.summary)]
        for done in run.memory.rounds:
            turns += [UserTurn(text=done.asked), ModelTurn(text=done.answered)]
        return turns


def asked(run: TaskRun) -> str:
    """What the person asked for in the present round."""
    opening = [message.text for message in run.memory.messages if message.opens]
    return opening[-1] if opening else run.request.task


def _with_handoff(text: str, results: dict[str, str]) -> str:
    if not results:
        return text
    earlier = "\n\n".join(f"{key.rpartition('-')[2]} said:\n{said}" for key, said in results.items())
    return f"{text}\n\nWhat was done so far:\n\n{earlier}"


def _handoff(giver: str, taker: str, said: str, later: Sequence[str], run: TaskRun) -> HandoffEvent:
    context = HandoffContext(
        files_modified=run.memory.files_modified(), current_state=said, remaining_tasks=[taker, *later]
    )
    return HandoffEvent(from_=giver, to=taker, context=context, reason=f"The {giver} is done; the {taker} goes on.")


class _Books:
    """An agent's books: its turns are the task's steps, its calls go through the executor."""

    def __init__(self, run: TaskRun, executor: Executor) -> None:
        self._run = run
        self._executor = executor

    async def turn(self, key: str, agent: str, ask: Callable[[Sequence[str]], AsyncIterator[Delta | Reply]]) -> Heard:
        return await self._run.turn(key, agent, ask)

    async def call(self, key: str, agent: Agent, calls: Sequence[ToolUse]) -> Sequence[ToolReturn]:
        run = self._run
        context = BatchContext(
            workspace=run.request.workspace,
            approvals=run.request.options.approvals,
            ledger=run,
            task_text=asked(run),
            tools=frozenset(agent.tools),
        )
        # A call's id is its idempotency key, also for a shell that serves many tasks: no two tasks may share one.
        asked_for = [
            ToolCall(run.call_id(key, number), call.tool, call.args, call.problem) for number, call in enumerate(calls)
        ]
        outcomes = await self._executor.batch(asked_for, context)
        return [
            ToolReturn(id=call.id, tool=call.tool, status=outcome.status, content=outcome.content)
            for call, outcome in zip(calls, outcomes, strict=True)
        ]
