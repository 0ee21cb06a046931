"""Where an agent works: with which model and tools, and what it is told before it begins."""

import asyncio
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial

from sidecar.engine.errors import AgentError
from sidecar.engine.run import TaskRun
from sidecar.engine.steps import CONTEXT, StepKey
from sidecar.models.catalog import UNPRICED, Catalog
from sidecar.models.errors import NoSuchModel
from sidecar.models.port import Brief, EarlierCall, Model, Switch, Turn, UserTurn
from sidecar.wire.events import ModelEvent
from sidecar.wire.tasks import Models
from sidecar.work.attachments import parse_attachments
from sidecar.work.changed_lines import changed_lines
from sidecar.work.compaction import fitting_past
from sidecar.work.context import ROOM, describe_workspace, render_selection
from sidecar.work.customizations import Definitions
from sidecar.work.handover import HELPERS
from sidecar.work.loop import Job, run_agent
from sidecar.work.roster import RUN, Agent
from sidecar.work.tokens import room
from sidecar.work.turn_log import TaskTurnLog, details_of, error_of
from tools.builtin.find_symbols import FindSymbols, FindSymbolsArguments
from tools.builtin.git_status import GitStatus, GitStatusArguments
from tools.errors import ToolError
from tools.executor.executor import Executor
from tools.executor.registry import Registry
from tools.host import Host
from tools.spec import Call

#: A model that answers so cannot do this kind of work at all; trying again is of no use.
CANNOT = frozenset({"not_understood"})
#: An agent that ends so has come to no end by itself.
ENDLESS = frozenset({"iteration_limit", "repetition", "empty_reply", "reply_too_long"})
_LOOK_SECONDS = 2.0
_SYMBOLS = 5


@dataclass(slots=True)
class AgentSetup:
    """One round of one task. `request` is what the agents are asked, `past` what was said before."""

    run: TaskRun
    catalog: Catalog
    registry: Registry
    executor: Executor
    custom: Definitions
    round: int
    request: str
    past: Sequence[Turn]
    read_only: bool
    trusted: bool = False
    #: What was done in this life of the task, by its key: whoever mends something goes on with the same conversation.
    jobs: dict[StepKey, tuple[Job, TaskTurnLog]] = field(default_factory=dict)
    _looking: asyncio.Lock = field(default_factory=asyncio.Lock)

    def agent(self, name: str) -> Agent:
        agent = self.custom.agents[name]
        return agent.read_only() if self.read_only else agent

    async def work(
        self, key: StepKey, name: str, told: Sequence[str] = (), about: int = ROOM, plan: Sequence[Sequence[str]] = ()
    ) -> str:
        """The agent's last word on the request, and on what it is told beside it and `about` the workspace."""
        job, log = self.jobs[key] = await self.job(key, name, told, about, plan)
        return await run_agent(job, log)

    async def job(
        self, key: StepKey, name: str, told: Sequence[str] = (), about: int = ROOM, plan: Sequence[Sequence[str]] = ()
    ) -> tuple[Job, TaskTurnLog]:
        agent = self.agent(name)
        model = self._model(agent)
        past, dropped = fitting_past(self.past, room(model))
        history = [*past, *await self._opening(model, told, about)]
        tools = self.registry.offers(frozenset(agent.tools))
        brief = self._brief(key, follows=bool(told), plan=plan)
        if not model.capabilities.language:
            lines = await changed_lines(self.run) if name == "reviewer" else ()
            brief = replace(brief, changed_lines=lines, earlier_calls=self._earlier_calls())
        limit = self.run.request.options.max_iterations
        job = Job(key, agent, model, history, tools, limit, brief, steered=name not in HELPERS)
        log = TaskTurnLog(self.run, self.executor, agent, model)
        if dropped and key.of_turn(0) not in self.run.state.turns:
            log.left_out(f"{dropped} earlier turns of the conversation do not fit into the model's window.")
        return job, log

    async def again(self, job: Job, log: TaskTurnLog, key: StepKey, said: str) -> str:
        """Go on with a job that is done: something was wrong with its last word."""
        job.fitting.add(UserTurn(text=said))
        return await run_agent(job, log, key)

    def _brief(self, key: StepKey, *, follows: bool, plan: Sequence[Sequence[str]]) -> Brief:
        context = self.run.request.context
        return Brief(
            asked=self.request,
            workspace=self.run.request.workspace,
            part=f"{key.part}{key.number or ''}",
            follows=follows,
            plan=plan,
            current_file=context.current_file,
            selected_code=context.selected_code,
            open_files=context.open_files,
            changed=self.run.state.files_modified(),
        )

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

    async def _opening(self, model: Model, told: Sequence[str], room: int) -> list[Turn]:
        if not model.capabilities.language:
            return [UserTurn(text=self.request)]
        about = await self._surroundings(room)
        beside, images = parse_attachments(self.run.request.context.attachments)
        opening = [text for text in (about, render_selection(self.run.request.context), *beside) if text]
        turns: list[Turn] = [UserTurn(text="\n\n".join(opening))] if opening else []
        return [*turns, UserTurn(text="\n\n".join((self.request, *told)), images=images)]

    async def _surroundings(self, room: int) -> str:
        """Looked at once a round and recorded: a resumed task is told the same, whatever has changed since."""

        async def look() -> str:
            try:
                host = self.executor.host(self.run.request.workspace)
                if host is None:
                    return ""
                # Nothing is started in a workspace that nobody trusts, not even Git, before an agent asks for it.
                changes = await self._changes(host) if self.trusted else []
                find = partial(self._defined, host) if self.trusted else None
                context, redact = self.run.request.context, self.executor.redact
                return await describe_workspace(host, context, self.request, changes, redact, find, room)
            except (ToolError, OSError):
                return ""

        async with self._looking:
            key = StepKey(self.round, CONTEXT, number=0 if room == ROOM else room)
            return await self.run.step(key, look, done=lambda value: [], read_only=True)

    async def _changes(self, host: Host) -> list[str]:
        try:
            await host.stat(".git")
            call = Call(f"{self.run.task_id}.context", host.workspace, _LOOK_SECONDS)
            result = await GitStatus().run(GitStatusArguments(), host, call, lambda stream, text: None)
        except ToolError:
            return []
        return result.content.splitlines()[1:] if isinstance(result.content, str) else []

    async def _defined(self, host: Host, name: str) -> Sequence[str]:
        """Where something of exactly that name is defined."""
        call = Call(f"{self.run.task_id}.context", host.workspace, _LOOK_SECONDS)
        try:
            result = await FindSymbols().run(FindSymbolsArguments(query=name), host, call, lambda stream, text: None)
        except (ToolError, ValueError):
            return ()
        lines = result.content.splitlines() if isinstance(result.content, str) else []
        return [line for line in lines if line.endswith((f" {name}", f".{name}"))][:_SYMBOLS]

    def knows_no_language(self, name: str) -> bool:
        """Whether an agent is played by what answers the same however often it is asked."""
        try:
            agent = self.agent(name)
            model = self.catalog.model_for(agent.role, self._wanted(agent))
        except NoSuchModel:
            return False
        return not model.capabilities.language

    def _model(self, agent: Agent) -> Model:
        def tell(switch: Switch) -> None:
            self.run.log.enqueue(ModelEvent(role=agent.role, **asdict(switch)))

        options, wanted = self.run.request.options, self._wanted(agent)
        try:
            model = self.catalog.model_for(agent.role, wanted, tell)
        except NoSuchModel as error:
            raise AgentError(
                "no_model", f"{error} Nothing was done; choose another model and resume.", retry=False
            ) from error
        if options.max_cost_usd is not None and not self.catalog.priced(agent.role, wanted):
            raise AgentError("price_unknown", UNPRICED, retry=False)
        self.run.log.enqueue(ModelEvent(role=agent.role, provider=model.provider, model=model.name))
        return model

    def _wanted(self, agent: Agent) -> Models:
        """The task's own wish comes before the agent's."""
        wanted = self.run.request.options.models
        if not agent.model or getattr(wanted, agent.role):
            return wanted
        return wanted.model_copy(update={agent.role: agent.model})
