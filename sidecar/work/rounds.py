"""One round of a task, from your message to its result: route it, run its pipeline, verify the work."""

import asyncio
import json
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

from sidecar.engine.errors import StepFailed
from sidecar.engine.run import TaskRun
from sidecar.engine.state import TaskState, UserMessage
from sidecar.engine.steps import GO_AHEAD, PROMPT, ROUTE, VERIFICATION, StepKey
from sidecar.journal.port import Journal, TaskFilter
from sidecar.models.catalog import Catalog
from sidecar.wire.events import RouteEvent
from sidecar.wire.intents import Intent
from sidecar.wire.tasks import RouteAnswer, Status, TaskResult
from sidecar.work.changes import changed_files, has_edits, needs_verification, test_calls, verification_result
from sidecar.work.customizations import Customizations, Definitions
from sidecar.work.handover import HELPERS, summarize, worker_texts
from sidecar.work.knowledge import Knowledge
from sidecar.work.past import PastRound, past_rounds
from sidecar.work.pipeline import Pipeline, Stage, Step, Unfold, run_pipeline
from sidecar.work.plan import NoPlan, parse_plan
from sidecar.work.references import PromptCall, ReferenceSource, expand_prompt, parse_prompt
from sidecar.work.results import Results, next_verification, parse_result, render_result, researched
from sidecar.work.router import READ_ONLY, request_of, route, route_prompt, unsure
from sidecar.work.routing.cues import forbids_changes
from sidecar.work.setup import AgentSetup, ForeignWork, ParallelPlan
from sidecar.work.stages import PLANNER, build_pipeline, build_planned
from sidecar.work.undo import undo_last_change
from tools.executor.executor import Executor
from tools.executor.registry import Registry
from tools.ledger import Question

if TYPE_CHECKING:
    from sidecar.verify.verifier import Verifier
    from sidecar.work.verification import VerificationStages

#: The newest tasks of a conversation whose tool results a follow-up carries; of older ones, only what was said.
_WHOLE_TASKS = 3
_VERIFICATION = "sidecar.work.verification"

YES, NO = "Go ahead", "Stop here"


class RoundRunner:
    def __init__(
        self,
        journal: Journal,
        catalog: Catalog,
        registry: Registry,
        executor: Executor,
        customizations: Customizations,
        verify_seconds: float,
        contained: Callable[[], bool],
        references: ReferenceSource | None = None,
        knowledge: Knowledge | None = None,
        foreign: Callable[[], ForeignWork] | None = None,
    ) -> None:
        self._foreign = foreign
        self._journal = journal
        self._catalog = catalog
        self._registry = registry
        self._executor = executor
        self._customizations = customizations
        self._verify_seconds = verify_seconds
        self._contained = contained
        self._references = references
        self._knowledge = knowledge or Knowledge()
        self._verifier: Verifier | None = None
        self._loading: asyncio.Task[ModuleType] | None = None
        #: Set by a caller that can carry out steps at the same time.
        self.parallel: Callable[[TaskRun], ParallelPlan | None] = lambda run: None

    async def carry_out(self, run: TaskRun) -> TaskResult:
        current = run.state.current_round
        definitions = self._customizations.load(run.request.workspace)
        # Before routing is recorded, so that fixing the command's file and resuming works.
        _check_command(definitions, run.instruction)
        prompt = parse_prompt(run.instruction, self._references_of(run), run.request.workspace)
        prompted = await self._expand(StepKey(current, PROMPT), prompt, run) if prompt is not None else ""
        chosen = await self._route(StepKey(current, ROUTE), run, prompt, definitions)
        if not chosen.pipeline:
            return await undo_last_change(run, self._journal)
        await self._catalog.prepare(run.request.options.models)
        setup = await self.set_up(run, chosen, definitions, prompted)
        if _VERIFICATION not in sys.modules and not setup.read_only:
            # Imported while the agents work; when it is needed, it would block the loop.
            self._loading = asyncio.create_task(asyncio.to_thread(import_module, _VERIFICATION))
        results = await run_pipeline(self._pipeline(setup, chosen), run)
        # What they changed belongs to the result.
        for killed in await self._executor.stop_commands(run.ledger):
            run.ledger.killed("", killed.pid, killed.command)
        found = researched(results)
        changed, verification = changed_files(run.state), verification_result(run.state)
        project = run.request.workspace if run.request.creates_project else None
        failed = isinstance(verification, dict) and verification.get("passed") is False
        return TaskResult(
            summary=describe_unused_plan(results) or summarize(results),
            files_modified=changed,
            verification=verification,
            usage=run.budget.usage,
            answer=found.answer if found else None,
            sources=found.sources if found else None,
            project_path=project,
            success=None if project is None else bool(changed) and not failed,
        )

    async def set_up(
        self, run: TaskRun, chosen: RouteAnswer, definitions: Definitions, prompted: str = ""
    ) -> AgentSetup:
        """What the agents of the present round share; `prompted` is the text of a prompt that you named."""
        _check_agents(definitions, chosen.pipeline)
        return AgentSetup(
            run=run,
            catalog=self._catalog,
            registry=self._registry,
            executor=self._executor,
            definitions=definitions,
            round=run.state.current_round,
            request=prompted or request_of(run.instruction, definitions.commands, definitions.agents),
            past=await self._past(run),
            pipeline=chosen.pipeline,
            read_only=chosen.intent in READ_ONLY,
            trusted=self._customizations.trusts(run.request.workspace),
            rules_bytes=self._customizations.rules_bytes,
            standards=self._customizations.standards(),
            references=self._references_of(run),
            prompted=bool(prompted),
            may_ask_to_edit=_may_ask_to_edit(run, chosen),
            careful=unsure(chosen),
            knowledge=self._knowledge,
            parallel=self.parallel(run),
            foreign=self._foreign,
        )

    def definitions(self, workspace: str) -> Definitions:
        return self._customizations.load(workspace)

    def _pipeline(self, setup: AgentSetup, chosen: RouteAnswer) -> Pipeline:
        verification = Unfold(lambda results: self._verification(setup, results))
        if setup.run.request.options.plan and not setup.read_only:
            return plan_first(setup, chosen, verification)
        return [*build_pipeline(setup, chosen, verification), verification]

    def missed(self, run: TaskRun) -> Sequence[UserMessage]:
        """Messages that no agent who could act on them has read: they came during a review, a check or a last turn."""
        messages = [message for message in run.inbox.messages() if not message.is_news]
        if not messages:
            return ()
        turns = [(key.agent, turn) for key, turn in run.state.turns.items() if key.round == run.state.current_round]
        # In a pipeline without workers, such as a review, the helpers do the work.
        workers = {agent for agent, _ in turns} - HELPERS or HELPERS
        read: set[str] = set()
        known: set[str] = set()
        for agent, turn in turns:
            # Later tasks of the conversation read it too.
            known.update(() if turn.apart else turn.heard)
            if agent in workers:
                read |= known.union(turn.heard)
        return [message for message in messages if message.id not in read]

    def _verification(self, setup: AgentSetup, results: Results) -> Sequence[Stage]:
        """The stages that verify the work, if there is any."""
        run, verify = setup.run, setup.run.request.options.verify
        if verify == "off":
            return []
        unchanged = setup.changed_nothing()
        # A read-only round has edits only if you allowed them meanwhile. An agent that tried may say that it did them.
        if setup.read_only and not unchanged and not has_edits(run.state):
            return []
        number = next_verification(results)
        named = isinstance(verify, list) and bool(verify) and number == 1
        begun = StepKey(setup.round, VERIFICATION, number=number) in run.state.steps
        asked = unchanged and setup.asks_for_change()
        texts = worker_texts(results)
        needed = needs_verification(run.state, run.instruction, texts, unchanged=unchanged, asked=asked)
        if not (begun or named or needed or test_calls(run.state)):
            return []
        return self.checks(setup).stages(results)

    def checks(self, setup: AgentSetup) -> "VerificationStages":
        """The checks of a round's work; imported on first use."""
        from sidecar.verify.commands import load_commands
        from sidecar.verify.verifier import Verifier
        from sidecar.work.verification import VerificationStages

        if self._verifier is None:
            self._verifier = Verifier(self._verify_seconds)
        commands = load_commands(setup.run.request.workspace) if setup.trusted else None
        return VerificationStages(setup, self._verifier, commands, preapproved=lambda: self._preapproved(setup))

    def _preapproved(self, setup: AgentSetup) -> bool:
        """Like policy: a project's own commands run without asking only in a sandbox, and as you trusted them."""
        workspace = setup.run.request.workspace
        trusted = setup.trusted and not self._customizations.has_changed(workspace)
        return (trusted or setup.run.request.options.approvals == "auto") and self._contained()

    def _references_of(self, run: TaskRun) -> ReferenceSource | None:
        return None if self._references is None else self._references.within(run.request.conversation_id)

    async def _expand(self, key: StepKey, prompt: PromptCall, run: TaskRun) -> str:
        """Asked for once a round and recorded, so that a resumed task reads the same."""
        references = self._references_of(run)
        assert references is not None
        if key not in run.state.steps:
            text = await expand_prompt(prompt, references, run.request.workspace)
            await run.record_step(key, self._executor.redact(text), read_only=True)
        return run.state.steps[key]

    async def _route(
        self, key: StepKey, run: TaskRun, prompt: PromptCall | None, definitions: Definitions
    ) -> RouteAnswer:
        if (recorded := run.state.steps.get(key)) is not None:
            return RouteAnswer.model_validate_json(recorded)
        options = run.request.options
        if prompt is not None and options.intent is None:
            answer = route_prompt(str(prompt), options)
        else:
            answer = route(
                run.instruction,
                options,
                definitions.commands,
                definitions.agents,
                run.request.context,
                follows=bool(run.state.rounds) or options.conversation_id is not None,
                before=await self._intent_before(run),
            )
        value = answer.to_json()
        await run.record_step(key, value, RouteEvent(**json.loads(value)), read_only=True)
        return answer

    async def _intent_before(self, run: TaskRun) -> Intent | None:
        """Of the round before this one, or of the task before in the conversation."""
        if run.state.rounds:
            recorded = run.state.steps.get(StepKey(run.state.current_round - 1, ROUTE))
            return None if recorded is None else RouteAnswer.model_validate_json(recorded).intent
        if run.request.options.conversation_id is None:
            return None
        talk = TaskFilter(conversation=run.request.conversation_id)
        tasks = await self._journal.tasks(talk, before=run.task_id, limit=1)
        return tasks[0].intent if tasks else None

    async def _past(self, run: TaskRun) -> list[PastRound]:
        """Earlier tasks of the conversation, and earlier rounds of this one."""
        rounds: list[PastRound] = []
        if run.request.options.conversation_id is not None:
            listed = await self._journal.tasks(TaskFilter(conversation=run.request.conversation_id))
            tasks = [
                task
                for task in reversed(listed)
                if task.id != run.task_id and task.status is Status.COMPLETED and task.result is not None
            ]
            for place, task in enumerate(tasks):
                assert task.result is not None
                if place < len(tasks) - _WHOLE_TASKS or task.workspace != (run.origin or run.request.workspace):
                    rounds.append(PastRound(task.task, task.result.summary))
                    continue
                state = TaskState.of(await self._journal.records(task.id))
                rounds += past_rounds(state, task.id, state.current_round)
        return [*rounds, *past_rounds(run.state, run.task_id, run.state.current_round - 1)]


def _may_ask_to_edit(run: TaskRun, chosen: RouteAnswer) -> bool:
    """Without a person to ask, only if you neither chose to have nothing changed nor said so."""
    if run.request.options.approvals == "readonly":
        return False
    return run.request.options.can_ask or (chosen.confidence < 1 and not forbids_changes(run.instruction))


def _check_command(definitions: Definitions, asked: str) -> None:
    """A command whose file can't be used must not be taken for a sentence."""
    first = asked.split(maxsplit=1)[0]
    if first.startswith("/") and (problem := definitions.problems.get(f"commands{first}")):
        raise StepFailed("bad_command", f"{problem}. Nothing was changed; fix the file and resume.", recoverable=True)


def _check_agents(definitions: Definitions, pipeline: Sequence[str]) -> None:
    missing = next((name for name in pipeline if name not in definitions.agents), None)
    if missing is None:
        return
    if problem := definitions.problems.get(f"agents/{missing}"):
        raise StepFailed("no_agent", f"{problem}. Nothing was changed; fix the file and resume.", recoverable=True)
    message = (
        f"There is no agent {missing}, only {', '.join(definitions.agents)}. Your own agents are Markdown files in "
        "`agents/` of your configuration directory, or of `.brain/` in a trusted workspace. Add the file and resume, "
        "or choose another agent."
    )
    raise StepFailed("no_agent", message, recoverable=True)


def plan_first(setup: AgentSetup, route: RouteAnswer, verification: Unfold) -> Pipeline:
    """The planner, the question, and the rest of the pipeline if the answer is yes."""
    planning, *work = build_planned(setup, route, verification)
    asking = _ask(setup)

    def make(results: Results) -> Sequence[Stage]:
        return [*work, verification] if results[asking.key] == YES else []

    return [planning, asking, Unfold(make, expected=len(work))]


def describe_unused_plan(results: Results) -> str | None:
    """The result of a task that you stopped after its plan; `None` for any other."""
    if not any(key.name == GO_AHEAD and answer != YES for key, answer in results.items()):
        return None
    return f"Nothing was changed. The plan:\n\n{_plan(results)}"


def _ask(setup: AgentSetup) -> Step:
    key = StepKey(setup.round, GO_AHEAD)

    async def act(results: Results) -> str:
        text = f"{_plan(results)}\n\nGo ahead with this plan?"
        run = setup.run
        name = f"{run.task_id}.{key.on_branch(run.state.branch)}"
        return await run.questions.ask(Question(name, text, safe=NO, choices=(YES, NO)))

    return Step(key, PLANNER, "Ask whether to go ahead", act)


def _plan(results: Results) -> str:
    for key, body in results.items():
        if key.agent == PLANNER:
            text = render_result(parse_result(body))
            try:
                return parse_plan(text).render()
            except NoPlan:
                return text or "No model could plan this."
    return "There is no plan."
