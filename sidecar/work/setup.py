"""Sets an agent up: its model, its tools, and the context that it starts with."""

import asyncio
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Protocol

from sidecar.engine.errors import AgentError
from sidecar.engine.run import TaskRun
from sidecar.engine.steps import CONTEXT, StepKey
from sidecar.models.catalog import UNPRICED, Catalog
from sidecar.models.errors import NoSuchModel
from sidecar.models.port import Brief, EarlierCall, Model, Switch, ToolTurn, Turn, UserTurn
from sidecar.wire.base import JsonObject
from sidecar.wire.events import ModelEvent
from sidecar.wire.tasks import Models
from sidecar.wire.text import plural
from sidecar.wire.tools import ToolInfo
from sidecar.work.attachments import parse_attachments
from sidecar.work.changes import changed_lines, changed_nothing, tried_to_edit
from sidecar.work.compaction import history_limit
from sidecar.work.context import RANKED_MAP, describe_workspace, render_selection
from sidecar.work.customizations import Definitions
from sidecar.work.delegation import Delegation
from sidecar.work.handover import HELPERS, WORKERS, Assignment
from sidecar.work.knowledge import Knowledge
from sidecar.work.loop import Job, run_agent
from sidecar.work.past import PastRound, Replay, replay, select_past
from sidecar.work.references import ReferenceSource, parse_mentions, quote_resources, split_mentions
from sidecar.work.roster import RUN, SET_MODE, WRITE, Agent
from sidecar.work.routing.guess import guess
from sidecar.work.turn_log import TaskTurnLog, details_of, error_of
from tools.builtin.find_symbols import FindSymbols, FindSymbolsArguments
from tools.builtin.git_status import GitStatus, GitStatusArguments
from tools.errors import ToolError
from tools.executor.registry import Registry
from tools.host import Host
from tools.skipped import is_skipped
from tools.spec import Call, ToolResult

if TYPE_CHECKING:
    from sidecar.work.plan import Plan
    from tools.executor.executor import Executor

#: The model can't do this kind of work at all, so a retry is useless.
CANNOT = frozenset({"not_understood"})
#: The agent was stopped because it didn't finish by itself.
ENDLESS = frozenset({"iteration_limit", "repetition", "empty_reply", "reply_too_long"})
_LOOKUP_SECONDS = 2.0
_MAX_DEFINITIONS = 5
_NO_DOUBT = 0.95
NOTHING = Assignment()


class ForeignWork(Protocol):
    async def work(self, run: TaskRun, key: StepKey, agent: Agent, text: str) -> str:
        """What the agent answers once it is done. Raises `AgentError`."""


class ParallelPlan(Protocol):
    async def __call__(self, setup: "AgentSetup", plan: "Plan") -> str:
        """Returns what was done once all steps are merged into the workspace."""


@dataclass(slots=True)
class AgentSetup:
    """Everything that the agents of one round share. `past` is the conversation before this round."""

    run: TaskRun
    catalog: Catalog
    registry: Registry
    executor: "Executor"
    definitions: Definitions
    round: int
    request: str
    past: Sequence[PastRound]
    pipeline: Sequence[str]
    read_only: bool
    trusted: bool = False
    #: Bytes of the repository's rules, if you trust it.
    rules_bytes: int = 0
    #: Your own standards, as you wrote them.
    standards: str = ""
    #: Where mentioned resources come from.
    references: ReferenceSource | None = None
    #: The request is a prompt that a server wrote.
    prompted: bool = False
    #: Whether its agent may ask you for the right to edit, if it has none.
    may_ask_to_edit: bool = False
    #: Whether it asks before its first edit.
    careful: bool = False
    knowledge: Knowledge = field(default_factory=Knowledge)
    #: Carries out the steps of a plan at the same time; `None` if one worker does them in order.
    parallel: "ParallelPlan | None" = None
    #: Runs external agents.
    foreign: "Callable[[], ForeignWork] | None" = None
    _describing: asyncio.Lock = field(default_factory=asyncio.Lock)

    def agent(self, name: str) -> Agent:
        agent = self.definitions.agents[name]
        if self.read_only:
            agent, asks = agent.read_only(), name == "coder"
        else:
            # It sees what fails, but it may only run. A user who let it run alone expects no edits.
            asks = self.pipeline == [name] == ["terminal"] and self.run.request.options.can_ask
        return replace(agent, tools=(*agent.tools, SET_MODE)) if asks and self.may_ask_to_edit else agent

    def changed_nothing(self) -> bool:
        """Whether this round's worker, a language model, may change files or tried to, but changed nothing."""
        workers = [name for name in self.pipeline if name in WORKERS]
        state = self.run.state
        if not workers or (self.read_only and not tried_to_edit(state)) or not changed_nothing(state):
            return False
        return not self.is_deterministic(workers[0])

    def asks_for_change(self) -> bool:
        """Whether the words of the request, wherever they are in a conversation, leave no doubt about it."""
        return guess(self.request).writes_alone >= _NO_DOUBT

    def _wider(self, agent: Agent) -> Agent:
        """The agent once you let it edit."""
        whole = self.definitions.agents[agent.name]
        return whole if self.read_only else replace(whole, tools=(*whole.tools, *WRITE))

    async def work(self, key: StepKey, assignment: Assignment) -> str:
        """The answer of the agent whose step this is."""
        agent = self.agent(key.agent)
        if agent.command:
            if self.foreign is None:
                raise AgentError("no_agent", f"The agent {agent.name} can't run here.", retry=False)
            part = assignment.render(agent, False)
            return await self.foreign().work(self.run, key, agent, f"{self.request}\n\n{part}".strip())
        job, log = await self.job(key, assignment)
        return await run_agent(job, log)

    async def job(self, key: StepKey, assignment: Assignment = NOTHING) -> tuple[Job, TaskTurnLog]:
        """The agent goes on with the conversation of the round, unless its model reads no prose."""
        agent = self.agent(key.agent)
        model = self._model(agent)
        shared = model.capabilities.language
        past, dropped = select_past(self.past, history_limit(model) // 4)
        done = self._replay(key) if shared else Replay()
        history = [*past, *await self._opening(model, past), *done.turns]
        brief = await self._brief(key, assignment, model)
        limit = self.run.request.options.max_iterations
        steered = agent.name not in HELPERS
        names = self._tools(agent) if shared else frozenset(agent.tools)
        await self.registry.describe(names)
        tools = self.registry.offers(names)
        replies = len(self.past) - dropped + self._replies_before(key)
        external = self._external(agent)
        job = Job(key, agent, model, history, tools, limit, brief, steered=steered, replies=replies, external=external)
        if shared and SET_MODE in agent.tools:
            wider = self._wider(agent)
            await self.registry.describe(wider.tools)
            job.wider = (wider, self.registry.offers(frozenset(wider.tools)))
        log = TaskTurnLog(
            self.run,
            self.executor,
            agent,
            model,
            read=done.heard,
            apart=not shared,
            careful=self.careful,
            delegate=Delegation(self.run, self.executor, self.registry, agent, model).answer,
        )
        if shared and (text := assignment.render(agent, bool(done.turns))):
            job.instruct(text)
        if shared and agent.name == "planner" and key.of_turn(0) not in self.run.state.turns:
            workspace = self.run.origin or self.run.request.workspace
            if similar := await self.knowledge.similar_tasks(workspace, self.request, self.run.task_id):
                job.instruct(similar)
        if dropped and key.of_turn(0) not in self.run.state.turns:
            log.note_left_out(
                f"{plural(dropped, 'earlier round')} of the conversation left out: the context window is full."
            )
        return job, log

    def _external(self, agent: Agent) -> list[ToolInfo]:
        """Tools that aren't ours. A server that isn't ready yet is no reason to wait: it can be called all the same."""
        workspace = self.run.request.workspace
        self.registry.start(workspace)
        all_of_them = "run_command" in agent.tools
        specs = [tool.spec for tool in self.registry.external(workspace, self.run.request.conversation_id)]
        return [spec.offer() for spec in specs if all_of_them or spec.effects == "none"]

    def job_apart(self, key: StepKey, system: str, text: str, tools: Collection[str]) -> tuple[Job, TaskTurnLog]:
        """An agent in a conversation of its own, which begins with `text`."""
        agent = self.agent(key.agent)
        agent = replace(agent, text=agent.text or system, tools=tuple(tool for tool in agent.tools if tool in tools))
        model = self._model(agent)
        limit = self.run.request.options.max_iterations
        offers = self.registry.offers(frozenset(agent.tools))
        job = Job(key, agent, model, [UserTurn(text=text)], offers, limit, steered=False)
        return job, TaskTurnLog(self.run, self.executor, agent, model, apart=True)

    async def again(self, job: Job, log: TaskTurnLog, key: StepKey, message: str) -> str:
        """Continues a finished job with a message about its answer."""
        job.instruct(message)
        return await run_agent(job, log, key)

    def _replay(self, key: StepKey) -> Replay:
        """The conversation of this round before the step."""
        steps = self.run.state.steps

        def is_before(turn: StepKey) -> bool:
            step = replace(turn, repair=False, turn=None)
            return turn.round == self.round and step != key and step in steps

        return replay(self.run.state, self.run.task_id, is_before)

    def _replies_before(self, key: StepKey) -> int:
        """Replies of the step that this attempt goes on with."""
        if not key.attempt:
            return 0
        turns = self.run.state.turns
        return sum(turn.of_attempt(0).step == key.of_attempt(0) and turn.attempt < key.attempt for turn in turns)

    def _tools(self, agent: Agent) -> frozenset[str]:
        """The same tools for all built-in agents of the pipeline: they are part of the prefix that providers cache.

        The executor refuses those that the agent itself may not use.
        """
        if agent.text:
            return frozenset(agent.tools)
        agents = [self.agent(name) for name in self.pipeline]
        return frozenset(tool for each in agents if not each.text for tool in each.tools)

    async def _brief(self, key: StepKey, assignment: Assignment, model: Model) -> Brief:
        context = self.run.request.context
        brief = Brief(
            asked=self.request,
            workspace=self.run.request.workspace,
            part=key.part,
            planned_step=key.number if key.is_planned else 0,
            fixes=key.is_fix,
            follows=assignment.follows or bool(assignment.instruction or assignment.plan or assignment.verdict),
            plan=[step.files for step in assignment.plan.steps] if assignment.plan and assignment.step else (),
            current_file=context.current_file,
            selected_code=context.selected_code,
            open_files=context.open_files,
            changed=self.run.state.files_modified(),
        )
        if model.capabilities.language:
            return brief
        lines = await changed_lines(self.run) if key.agent == "reviewer" else ()
        return brief._replace(changed_lines=lines, earlier_calls=self._earlier_calls())

    def _earlier_calls(self) -> list[EarlierCall]:
        """The commands and test runs of earlier turns, with their results."""
        run = self.run
        turns = run.state.turns.items()
        return [
            EarlierCall(call.tool, call.args, outcome.status, *error_of(outcome), details_of(outcome))
            for key, turn in turns
            for number, call in enumerate(turn.reply.calls)
            if call.tool in RUN and (outcome := run.state.outcomes.get(run.turns.call_id(key, number))) is not None
        ]

    async def _opening(self, model: Model, past: Sequence[Turn]) -> list[Turn]:
        if not model.capabilities.language:
            return [UserTurn(text=self.request)]
        workspace = await self._workspace(again=any(isinstance(turn, ToolTurn) for turn in past))
        attached, images = parse_attachments(self.run.attachments)
        opening = [text for text in (workspace, render_selection(self.run.request.context), *attached) if text]
        turns: list[Turn] = [UserTurn(text="\n\n".join(opening))] if opening else []
        return [*turns, UserTurn(text=self.request, images=images)]

    async def _workspace(self, again: bool) -> str:
        """Described once a round and recorded, so a resumed task reads the same; `again` if an earlier round did."""
        key = StepKey(self.round, CONTEXT)
        async with self._describing:
            if key not in self.run.state.steps:
                await self.run.record_step(key, await self._describe_workspace(again), read_only=True)
            return self.run.state.steps[key]

    async def _describe_workspace(self, again: bool) -> str:
        try:
            host = self.executor.host(self.run.request.workspace)
            if host is None:
                return ""
            # Run nothing in an untrusted workspace, not even Git, before an agent asks for it.
            changes = await self._changes(host) if self.trusted else []
            find = partial(self._find_definitions, host) if self.trusted else None
            context, redact = self.run.request.context, self.executor.redact
            rules = self.rules_bytes if self.trusted else 0
            workspace, own = self.run.request.workspace, parse_mentions(self.run.instruction)
            mentioned = own if self.prompted else parse_mentions(self.request)
            files, _ = split_mentions(mentioned, self.references, workspace)
            ranked, skills = ("", []) if again else await self._remembered(context.open_files, context.current_file)
            described = await describe_workspace(
                host,
                context,
                files,
                changes,
                redact,
                find,
                again=again,
                rules=rules,
                ranked_map=ranked,
                skills=skills,
            )
            _, resources = split_mentions(own, self.references, workspace)
            if resources and self.references is not None:
                quoted = await quote_resources(resources, self.references, workspace, redact)
                described = f"{described}\n\n{quoted}" if described else quoted
        except (ToolError, OSError):
            return ""
        standards = "" if again else self.standards
        return f"{standards}\n\n{described}" if standards and described else described or standards

    async def _remembered(self, opened: Sequence[str], current: str | None) -> tuple[str, list[str]]:
        """The memory's map, of the workspace that a worktree was made of, and the names of skills."""
        workspace = self.run.request.workspace
        near = [*([current] if current else ()), *opened]
        drawn = await self.knowledge.draw_map(self.run.origin or workspace, self.request, near, RANKED_MAP)
        return drawn, await self.knowledge.list_skills(workspace)

    async def _changes(self, host: Host) -> list[str]:
        try:
            await host.stat(".git")
            call = Call(f"{self.run.task_id}.context", host.workspace, _LOOKUP_SECONDS)
            result = await GitStatus().run(GitStatusArguments(), host, call, lambda stream, text: None)
        except ToolError:
            return []
        changes = [each for each in _records(result, "changes") if not is_skipped(str(each["path"]))]
        return [f"{each['state']} {each['path']}" for each in changes]

    async def _find_definitions(self, host: Host, name: str) -> Sequence[str]:
        """Where exactly this name is defined."""
        call = Call(f"{self.run.task_id}.context", host.workspace, _LOOKUP_SECONDS)
        try:
            result = await FindSymbols().run(FindSymbolsArguments(query=name), host, call, lambda stream, text: None)
        except (ToolError, ValueError):
            return ()
        found = [each for each in _records(result, "symbols") if each["name"] == name][:_MAX_DEFINITIONS]
        return [f"{each['path']}:{each['line']} {each['kind']} {_qualified(each)}" for each in found]

    def is_deterministic(self, name: str) -> bool:
        """Whether the agent's model gives the same answer however often it is asked."""
        try:
            agent = self.agent(name)
            if agent.command:
                return False
            model = self.catalog.model_for(agent.role, self._wanted(agent))
        except NoSuchModel:
            return False
        return not model.capabilities.language

    def _model(self, agent: Agent) -> Model:
        def report(switch: Switch) -> None:
            self.run.log.enqueue(ModelEvent(role=agent.role, **switch._asdict()))

        options, wanted = self.run.request.options, self._wanted(agent)
        try:
            model = self.catalog.model_for(agent.role, wanted, report, options.effort or "")
        except NoSuchModel as error:
            advice = "choose another model and resume."
            if getattr(options.models, agent.role):
                # The task keeps the model it was sent with.
                advice = "add what is missing and resume, or take another model: `brain fork --model PROVIDER/NAME`."
            raise AgentError("no_model", f"{error} Nothing was changed; {advice}", retry=False) from error
        if options.max_cost_usd is not None and not self.catalog.priced(agent.role, wanted):
            raise AgentError("price_unknown", UNPRICED, retry=False)
        self.run.log.enqueue(ModelEvent(role=agent.role, provider=model.provider, model=model.name))
        return model

    def _wanted(self, agent: Agent) -> Models:
        """The task's choice comes before the agent's."""
        wanted = self.run.request.options.models
        if not agent.model or getattr(wanted, agent.role):
            return wanted
        return wanted.model_copy(update={agent.role: agent.model})


def _records(result: ToolResult, name: str) -> list[JsonObject]:
    """The list of objects in the result's details under this name."""
    found = result.details.get(name) if isinstance(result.details, dict) else None
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def _qualified(symbol: JsonObject) -> str:
    return f"{symbol['parent']}.{symbol['name']}" if symbol["parent"] else str(symbol["name"])
