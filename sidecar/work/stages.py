"""Builds the pipeline of each intent. Steps keep their keys, so a resumed task goes on after the last finished one."""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from typing import Literal

from sidecar.engine.errors import AgentError
from sidecar.engine.steps import FIX, PLANNED, StepKey
from sidecar.verify.result import Verification
from sidecar.wire.events import Event, PlanEvent, PlanItem
from sidecar.wire.intents import Intent
from sidecar.wire.tasks import RouteAnswer
from sidecar.work.handover import WORKERS, Assignment, Part, final_answers, handoff, worker_texts
from sidecar.work.loop import Job, run_agent
from sidecar.work.pipeline import Parallel, Pipeline, Stage, Step, Unfold, agent_step
from sidecar.work.plan import NoPlan, Plan, PlannedStep, one_step, parse_plan
from sidecar.work.research import MAX_ROUNDS, check_findings, parse_findings
from sidecar.work.results import (
    AgentResult,
    Answered,
    GaveUp,
    Results,
    agent_texts,
    last_verification,
    parse_result,
    render_result,
)
from sidecar.work.review import LOOKUP, file_versions, is_small, render_review
from sidecar.work.roster import read_prompt
from sidecar.work.routing.cues import is_large
from sidecar.work.setup import CANNOT, ENDLESS, AgentSetup, ParallelPlan
from sidecar.work.turn_log import TaskTurnLog, last_todo
from sidecar.work.verdict import Verdict, looks_like_verdict, parse_verdict

#: How often a reviewer may send the work back.
MAX_SENT_BACK = 2
_INSTALL = "Your part: install what the project needs, in the workspace only. If it needs nothing, say so."
_CONFIGURE = "Your part: look at what was created and installed, and fix what keeps it from running."
_TEST = "Your part: run the project's tests, or start it if it has none, and say what works and what doesn't."
_REVIEW = "Your part: review what was done."
PLANNER = "planner"

#: Step titles of the built-in agents; your own agents' steps show their description.
_TITLES = {
    "planner": "Plan the steps",
    "coder": "Change the code",
    "terminal": "Run it",
    "reviewer": "Review the changes",
    "docs": "Write the documentation",
    "researcher": "Research the question",
}
_READ_ONLY_TITLES = {"coder": "Look at the code and answer", "reviewer": "Review the code"}


def build_pipeline(setup: AgentSetup, route: RouteAnswer, verification: Unfold) -> Pipeline:
    """`verification` unfolds into checks of the work so far, if there is anything to check."""
    names = tuple(route.pipeline)
    builder = PipelineBuilder(setup, names, verification, chosen=route.confidence >= 1)
    build = _BY_INTENT.get(route.intent)
    return build[1](builder) if build is not None and names == build[0] else builder.sequence()


def build_planned(setup: AgentSetup, route: RouteAnswer, verification: Unfold) -> Pipeline:
    """The same pipeline, with a planner as its first agent."""
    names = (PLANNER, *(name for name in route.pipeline if name != PLANNER))
    build = _BY_INTENT.get(route.intent)
    builder = PipelineBuilder(setup, names, verification, chosen=True)
    return build[1](builder) if build is not None and names == build[0] else builder.planned()


class PipelineBuilder:
    def __init__(self, setup: AgentSetup, names: tuple[str, ...], verification: Unfold, *, chosen: bool) -> None:
        self._setup = setup
        self._names = names
        self._verification = verification
        #: You chose the intent yourself.
        self._chosen = chosen
        workers = [name for name in names if name in WORKERS]
        self._worker = workers[0] if workers else names[0]

    # -- pipelines ---------------------------------------------------------------------------------------------------

    def sequence(self) -> Pipeline:
        """One agent after the other."""
        steps: list[Stage] = []
        parts = [self._part(name) for name in self._names]
        for place, part in enumerate(parts):
            following = parts[place + 1 :]
            if part.agent == "reviewer" and place and self._names[place - 1] in WORKERS:
                steps += self._review(following)
            else:
                steps.append(self._step(self._key(part.agent), part, following))
        return steps

    def planned(self) -> Pipeline:
        """A plan, then one agent after the other; a coder carries the plan out."""
        work = list(self.sequence()[1:])
        if self._names[1:2] == ("coder",):
            work[0] = self._planned_work([self._part(name) for name in self._names[2:]])
        return [self._plan(), *work]

    def refactor_code(self) -> Pipeline:
        return [*self._begin([self._part("reviewer")]), *self._review(())]

    def create_project(self) -> Pipeline:
        """Plan, create the files, install, configure, test, review, document. A small project needs no plan, and its
        coder does the rest as well."""
        if not self._is_planned():
            return [*self._begin([self._part("reviewer")]), *self._review(())]
        terminal, coder = self._key("terminal"), self._key("coder")
        install, configure, test = Part("terminal", "Install"), Part("coder", "Configure"), Part("terminal", "Test")
        review, document = self._part("reviewer"), Part("docs", "Document")
        return [
            *self._begin([install, configure, test, review, document]),
            self._step(terminal, install, (configure, test, review, document), _INSTALL),
            self._step(coder.of_part("configure"), configure, (test, review, document), _CONFIGURE),
            self._step(terminal.of_part("test"), test, (review, document), _TEST),
            *self._review((document,)),
            self._step(self._key("docs"), document, ()),
        ]

    def research(self) -> Pipeline:
        """One agent answers with sources; a check removes those that don't exist."""
        setup, key = self._setup, self._key("researcher")

        async def act(results: Results) -> AgentResult:
            job, log = await setup.job(key)
            # A round more would be the answer's.
            job.max_iterations = min(job.max_iterations or MAX_ROUNDS + 1, MAX_ROUNDS + 1)
            text = await run_agent(job, log)
            if parse_findings(text) is None and job.model.capabilities.language:
                request = "Answer with the JSON of your answer, `answer` and `sources`, and nothing else."
                with suppress(AgentError):
                    text = await setup.again(job, log, key.of_repair(), request)
            return await check_findings(text, setup.executor.host(setup.run.request.workspace))

        return [agent_step(key, _TITLES["researcher"], act)]

    def _begin(self, following: Sequence[Part]) -> list[Stage]:
        """Plan and do the work; without a plan if it is small."""
        if self._is_planned():
            return [self._plan(), self._planned_work(following)]
        return [self._step(self._key("coder"), self._part("coder"), following)]

    def _is_planned(self) -> bool:
        """A plan that was begun stays; so does one that you chose, or that a model without prose needs."""
        key = self._key("planner")
        state = self._setup.run.state
        begun = key in state.steps or key.of_turn(0) in state.turns
        return begun or self._chosen or self._setup.is_deterministic("coder") or is_large(self._setup.request)

    # -- steps -------------------------------------------------------------------------------------------------------

    def _key(self, name: str) -> StepKey:
        return StepKey(self._setup.round, name, self._names.index(name) + 1)

    def _part(self, name: str) -> Part:
        titles = {**_TITLES, **_READ_ONLY_TITLES} if self._setup.read_only else _TITLES
        return Part(name, titles.get(name) or self._setup.agent(name).description)

    def _assign(self, results: Results, instruction: str = "", verdict: Verdict | None = None) -> Assignment:
        return Assignment(instruction, verdict=verdict, follows=bool(agent_texts(results)))

    def _step(
        self,
        key: StepKey,
        part: Part,
        following: Sequence[Part],
        instruction: str = "",
        verdict: Verdict | None = None,
    ) -> Step:
        setup = self._setup
        needed = key == self._key(self._worker)

        async def act(results: Results) -> AgentResult:
            try:
                return Answered(text=await setup.work(key, self._assign(results, instruction, verdict)))
            except AgentError as error:
                if needed or error.code not in CANNOT:
                    raise
                return GaveUp(reason=error.message, began=False)

        def then(text: str) -> Sequence[Event]:
            given = parse_verdict(text) if part.agent == "reviewer" else None
            events: list[Event] = [given.event()] if given else []
            return [*events, *self._hand_over(part.agent, following, text)]

        return agent_step(key, part.task, act, then)

    def _hand_over(self, giver: str, following: Sequence[Part], text: str) -> list[Event]:
        """To the agent that follows for certain; a reviewer gets the work when its review begins."""
        if not following or not text or following[0].agent == "reviewer":
            return []
        return [handoff(self._setup.run, giver, following, text)]

    # -- the plan ----------------------------------------------------------------------------------------------------

    def _plan(self) -> Step:
        setup, key = self._setup, self._key("planner")

        async def act(results: Results) -> AgentResult:
            try:
                job, log = await setup.job(key)
                text = await run_agent(job, log)
            except AgentError as error:
                if error.code not in CANNOT:
                    raise
                return GaveUp(reason=error.message, began=False)
            try:
                parse_plan(text)
            except NoPlan as problem:
                text = await self._repair_plan(text, problem, job, log)
            return Answered(text=text)

        def then(text: str) -> Sequence[Event]:
            if not text:
                return []
            plan = self._read_plan(text)
            parts = [Part("coder", step.title) for step in plan.steps]
            return [PlanProgress(plan).event(), handoff(setup.run, "planner", parts, text)]

        return agent_step(key, _TITLES["planner"], act, then)

    async def _repair_plan(self, text: str, problem: NoPlan, job: Job, log: TaskTurnLog) -> str:
        """Asks once more. If that is no plan either, the planner's text stays and the work is one step."""
        request = f"That plan can't be carried out: {problem}. Answer with the JSON of the plan and nothing else."
        try:
            repaired = await self._setup.again(job, log, job.key.of_repair(), request)
            parse_plan(repaired)
        except (AgentError, NoPlan):
            return text
        return repaired

    def _read_plan(self, text: str) -> Plan:
        try:
            return parse_plan(text)
        except NoPlan:
            return one_step(self._setup.request)

    def _planned_work(self, following: Sequence[Part]) -> Unfold:
        """Unfolds into one coder step, or one for each step of the plan."""
        planner, coder = self._key("planner"), self._key("coder")

        def make(results: Results) -> Sequence[Stage]:
            text = render_result(parse_result(results[planner]))
            plan = self._read_plan(text)
            if len(plan.steps) > 1 and self._setup.parallel is not None and plan.is_parallel():
                return [self._parallel_steps(coder, plan, self._setup.parallel, following)]
            if len(plan.steps) > 1:
                return [PlannedSteps(self._setup, coder, plan, text, following).stage()]
            progress = PlanProgress(plan, {plan.steps[0].id: coder}, self._setup.run.state.steps) if text else None
            return [self._whole_plan(coder, plan, text, progress, following)]

        return Unfold(make, expected=1)

    def _parallel_steps(self, key: StepKey, plan: Plan, parallel: ParallelPlan, following: Sequence[Part]) -> Step:
        async def act(results: Results) -> AgentResult:
            return Answered(text=await parallel(self._setup, plan))

        def then(text: str) -> Sequence[Event]:
            return self._hand_over("coder", following, text)

        return agent_step(key, f"Carry out {len(plan.steps)} steps, some at the same time", act, then)

    def _whole_plan(
        self, key: StepKey, plan: Plan, text: str, progress: "PlanProgress | None", following: Sequence[Part]
    ) -> Step:
        """One coder does the whole plan; without a plan, the request itself."""
        setup, step = self._setup, plan.steps[0]
        assignment = Assignment(plan=plan, planner_text=text) if text else Assignment()

        async def act(results: Results) -> AgentResult:
            if progress:
                setup.run.log.enqueue(progress.event(step, "running"))
            return Answered(text=await setup.work(key, assignment))

        def then(text: str) -> Sequence[Event]:
            done = [progress.event(step, "done")] if progress else []
            return [*done, *self._hand_over("coder", following, text)]

        failed = (lambda: [progress.event(step, "failed")]) if progress else tuple
        return agent_step(key, step.title, act, then, failed)

    # -- the review --------------------------------------------------------------------------------------------------

    def _review(self, following: Sequence[Part], sent_back: int = 0) -> list[Stage]:
        """Checks come before opinions: the work is verified first, then reviewed if that has something to add.

        A verdict that doesn't approve sends the worker back; its fix is verified and reviewed again.
        """
        key = self._key("reviewer")
        key = key.of_part("again", sent_back) if sent_back else key

        def make(results: Results) -> Sequence[Stage]:
            return self._review_step(key, following, sent_back) if self._needs_review(key, results) else []

        # A review that may turn out to be needless isn't announced.
        certain = self._setup.run.request.options.review == "always" or self._setup.is_deterministic("reviewer")
        return [self._verification, Unfold(make, expected=int(certain))]

    def _needs_review(self, key: StepKey, results: Results) -> bool:
        """A small change that the checks prove needs none unless you ask for it; nor does an answer without a change,
        unless you chose to have something changed."""
        state, wanted = self._setup.run.state, self._setup.run.request.options.review
        if key in state.steps or key.of_turn(0) in state.turns:
            return True
        if wanted != "auto":
            return wanted == "always"
        if self._setup.is_deterministic("reviewer") or self._setup.agent("reviewer").text:
            return True
        proven = (body := last_verification(results)) is not None and json.loads(body).get("passed") is True
        changed = bool(state.files_modified())
        return (changed or self._chosen) and not (proven and is_small(state))

    def _review_step(self, key: StepKey, following: Sequence[Part], sent_back: int) -> list[Stage]:
        setup, worker, review = self._setup, self._worker, self._part("reviewer")
        count = f"{sent_back + 1} of {MAX_SENT_BACK}"

        def rejection(verdict: Verdict | None) -> Verdict | None:
            return verdict if verdict and not verdict.passed and sent_back < MAX_SENT_BACK else None

        async def act(results: Results) -> AgentResult:
            if key.of_turn(0) not in setup.run.state.turns:
                state = "\n\n".join(final_answers(results))
                setup.run.log.enqueue(handoff(setup.run, worker, (review, *following), state))
            try:
                return Answered(text=await self._ask_reviewer(key, results))
            except AgentError as error:
                if error.code not in CANNOT | ENDLESS:
                    raise
                return GaveUp(reason=error.message, began=error.code in ENDLESS)

        def then(text: str) -> Sequence[Event]:
            verdict = parse_verdict(text)
            events: list[Event] = [verdict.event()] if verdict else []
            if rejected := rejection(verdict):
                problems = len(rejected.issues) or "some"
                reason = f"The review found {problems} problem{'s' * (problems != 1)} (sent back {count})."
                remaining = [issue.render() for issue in rejected.issues] or [rejected.render()]
                parts = [Part(worker, each) for each in remaining]
                return [*events, handoff(setup.run, "reviewer", parts, text, reason)]
            return [*events, handoff(setup.run, "reviewer", following, text)] if following and text else events

        def make(results: Results) -> Sequence[Stage]:
            verdict = rejection(parse_verdict(render_result(parse_result(results[key]))))
            if verdict is None:
                return []
            fix = Part(worker, f"Fix what the review found ({count})")
            fix_key = self._key(worker).of_part(FIX, sent_back + 1)
            step = self._step(fix_key, fix, (review, *following), verdict=verdict)
            return [step, *self._review(following, sent_back + 1)]

        return [agent_step(key, review.task, act, then), Unfold(make)]

    async def _ask_reviewer(self, key: StepKey, results: Results) -> str:
        """Asks once more for a verdict that can't be parsed. Prose is returned as it is."""
        setup = self._setup
        if setup.is_deterministic("reviewer"):
            job, log = await setup.job(key, self._assign(results, _REVIEW))
        else:
            job, log = setup.job_apart(key, read_prompt("review"), await self._review_text(results), LOOKUP)
        text = await run_agent(job, log)
        if parse_verdict(text) is not None or not looks_like_verdict(text):
            return text
        request = "That verdict can't be parsed. Answer with its JSON, `passed` and `issues`, and nothing else."
        try:
            repaired = await setup.again(job, log, job.key.of_repair(), request)
        except AgentError:
            return text
        return repaired if parse_verdict(repaired) is not None else text

    async def _review_text(self, results: Results) -> str:
        setup = self._setup
        host = setup.executor.host(setup.run.request.workspace)
        versions = await file_versions(setup.run, host) if host is not None else []
        body = last_verification(results)
        answers = worker_texts(results)
        return render_review(
            setup.request,
            answers[-1] if answers else "",
            Verification.model_validate_json(body) if body is not None else None,
            versions,
            setup.executor.redact,
        )


class PlanProgress:
    """The state of each planned step, for `plan` events."""

    def __init__(
        self, plan: Plan, keys: Mapping[str, StepKey] | None = None, done: Collection[StepKey] = frozenset()
    ) -> None:
        self._plan = plan
        self._states: dict[str, Literal["pending", "running", "done", "failed"]] = {
            step.id: "done" if keys and keys[step.id] in done else "pending" for step in plan.steps
        }

    def event(
        self, step: PlannedStep | None = None, state: Literal["running", "done", "failed"] = "running"
    ) -> PlanEvent:
        if step is not None:
            self._states[step.id] = state
        items = [PlanItem(id=each.id, title=each.title, state=self._states[each.id]) for each in self._plan.steps]
        return PlanEvent(items=items)


class PlannedSteps:
    """The steps of one plan, a coder each. The last one to finish hands over for all of them."""

    def __init__(self, setup: AgentSetup, key: StepKey, plan: Plan, text: str, following: Sequence[Part]) -> None:
        self._setup = setup
        self._text = text
        self._plan = plan
        self._following = following
        self._keys = {step.id: key.of_part(PLANNED, number) for number, step in enumerate(plan.steps, start=1)}
        steps = setup.run.state.steps
        self._progress = PlanProgress(plan, self._keys, steps)
        self._texts = {
            step: render_result(parse_result(steps[key])) for step, key in self._keys.items() if key in steps
        }

    def stage(self) -> Parallel:
        """One after the other: a worker that goes on knows what it did before."""
        return Parallel(tuple(self._step(step) for step in self._plan.order()), at_once=1)

    def _step(self, step: PlannedStep) -> Step:
        setup, key = self._setup, self._keys[step.id]

        async def act(results: Results) -> AgentResult:
            if key.of_turn(0) not in setup.run.state.turns and self._is_marked_done(step):
                return Answered(text="")
            setup.run.log.enqueue(self._progress.event(step, "running"))
            assignment = Assignment(plan=self._plan, step=step, planner_text=self._text)
            return Answered(text=await setup.work(key, assignment))

        def then(text: str) -> Sequence[Event]:
            self._texts[step.id] = text
            done = self._progress.event(step, "done")
            if not self._following or len(self._texts) < len(self._keys) or self._following[0].agent == "reviewer":
                return [done]
            state = "\n".join(f"{each.title}: {self._texts[each.id]}" for each in self._plan.steps)
            return [done, handoff(setup.run, "coder", self._following, state)]

        return agent_step(key, step.title, act, then, lambda: [self._progress.event(step, "failed")])

    def _is_marked_done(self, step: PlannedStep) -> bool:
        """Whether the coder says in its newest todo list that it did the step along the way."""
        done = last_todo(self._setup.run.state, self._setup.round)
        if done is None:
            return False
        titles = [title.strip().lower() for title, _ in done]
        place = self._plan.steps.index(step)
        if step.title.strip().lower() in titles:
            place = titles.index(step.title.strip().lower())
        elif len(done) != len(self._plan.steps):
            return False
        return done[place][1] == "done"


_BY_INTENT: dict[Intent, tuple[tuple[str, ...], Callable[[PipelineBuilder], Pipeline]]] = {
    "research": (("researcher",), PipelineBuilder.research),
    "refactor_code": (("planner", "coder", "reviewer"), PipelineBuilder.refactor_code),
    "create_project": (("planner", "coder", "terminal", "reviewer", "docs"), PipelineBuilder.create_project),
}
