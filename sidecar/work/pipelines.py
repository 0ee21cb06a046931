"""The steps of each kind of task. A step's key is its name for good: a resumed task goes on after the last one done."""

from collections.abc import Callable, Sequence

from sidecar.engine.errors import AgentError
from sidecar.engine.pipeline import Pipeline, Results, Stage, Step, Unfold
from sidecar.engine.steps import StepKey
from sidecar.wire.events import Event
from sidecar.wire.intents import Intent
from sidecar.wire.tasks import RouteAnswer
from sidecar.work.context import PLAN, ROOM
from sidecar.work.handover import Part, handoff, of_plan, so_far, to_mend
from sidecar.work.loop import Job, run_agent
from sidecar.work.plan import NoPlan, Plan, one_step, read_plan
from sidecar.work.planned import PlannedSteps
from sidecar.work.results import AgentResult, Answered, GaveUp, agent_step, parse_result, render_result
from sidecar.work.setup import CANNOT, ENDLESS, AgentSetup
from sidecar.work.turn_log import TaskTurnLog
from sidecar.work.verdict import Verdict, read_verdict, was_meant

#: How often a reviewer may send the work back.
MAX_SENT_BACK = 2
_INSTALL = "Your part: install what the project needs, in the workspace only. If it needs nothing, say so."
_CONFIGURE = "Your part: look at what was created and installed, and put right what keeps it from running."
_TEST = "Your part: run the project's tests, or start it if it has none, and say what works and what does not."
#: Who does the work itself; the others help, and a model that cannot help is done without.
_WORKERS = ("coder", "docs")

#: What a step of one of ours is called; one of the person's own is called what its description says.
_TASKS = {
    "planner": "Plan the steps",
    "coder": "Change the code",
    "terminal": "Run it",
    "reviewer": "Review what was done",
    "docs": "Write the documentation",
}
_ANSWERS = {"coder": "Look at the code and answer", "reviewer": "Review the code"}


def stages(setup: AgentSetup, chosen: RouteAnswer) -> Pipeline:
    names = tuple(chosen.pipeline)
    make = _BY_INTENT.get(chosen.intent)
    if make is not None and names == make[0]:
        return make[1](PipelineBuilder(setup, names))
    return PipelineBuilder(setup, names).one_after_the_other()


class PipelineBuilder:
    def __init__(self, setup: AgentSetup, names: tuple[str, ...]) -> None:
        self._setup = setup
        self._names = names
        workers = [name for name in names if name in _WORKERS]
        self._worker = workers[0] if workers else names[0]

    # -- the kinds of task -------------------------------------------------------------------------------------------

    def one_after_the_other(self) -> Pipeline:
        steps: list[Stage] = []
        parts = [self._part(name) for name in self._names]
        for place, part in enumerate(parts):
            following = parts[place + 1 :]
            if part.agent == "reviewer" and place and self._names[place - 1] in _WORKERS:
                steps += self._review(following)
            else:
                steps.append(self._step(self._key(part.agent), part, following))
        return steps

    def refactor_code(self) -> Pipeline:
        return [self._plan(), self._planned([self._part("reviewer")]), *self._review(())]

    def create_project(self) -> Pipeline:
        """Plan the structure, create the files, install, configure, test, review, document."""
        terminal, coder = self._key("terminal"), self._key("coder")
        install, configure, test = Part("terminal", "Install"), Part("coder", "Configure"), Part("terminal", "Test")
        review, document = self._part("reviewer"), Part("docs", "Document")
        return [
            self._plan(),
            self._planned([install, configure, test, review, document]),
            self._step(terminal, install, (configure, test, review, document), [_INSTALL]),
            self._step(coder.of_part("configure"), configure, (test, review, document), [_CONFIGURE]),
            self._step(terminal.of_part("test"), test, (review, document), [_TEST]),
            *self._review((document,)),
            self._step(self._key("docs"), document, ()),
        ]

    # -- the steps ---------------------------------------------------------------------------------------------------

    def _key(self, name: str) -> StepKey:
        return StepKey(self._setup.round, name, self._names.index(name) + 1)

    def _part(self, name: str) -> Part:
        tasks = {**_TASKS, **_ANSWERS} if self._setup.read_only else _TASKS
        return Part(name, tasks.get(name) or self._setup.agent(name).description)

    def _step(self, key: StepKey, part: Part, following: Sequence[Part], told: Sequence[str] = ()) -> Step:
        setup = self._setup
        needed = key == self._key(self._worker)

        async def act(results: Results) -> AgentResult:
            try:
                return Answered(text=await setup.work(key, part.agent, [*so_far(results, setup.run), *told]))
            except AgentError as error:
                if needed or error.code not in CANNOT:
                    raise
                return GaveUp(reason=error.message, began=False)

        def then(said: str) -> Sequence[Event]:
            return [handoff(setup.run, part.agent, following, said)] if following and said else []

        return agent_step(key, part.task, act, then)

    def _plan(self) -> Step:
        setup, key = self._setup, self._key("planner")

        async def act(results: Results) -> AgentResult:
            try:
                job, log = await setup.job(key, "planner")
                said = await run_agent(job, log)
            except AgentError as error:
                if error.code not in CANNOT:
                    raise
                return GaveUp(reason=error.message, began=False)
            try:
                read_plan(said)
            except NoPlan as problem:
                said = await self._repaired(said, problem, job, log)
            return Answered(text=said)

        def then(said: str) -> Sequence[Event]:
            if not said:
                return []
            return [handoff(setup.run, "planner", [Part("coder", step.title) for step in self._read(said).steps], said)]

        return agent_step(key, _TASKS["planner"], act, then)

    async def _repaired(self, said: str, problem: NoPlan, job: Job, log: TaskTurnLog) -> str:
        """One more try at a plan. If that is none either, the planner's words are kept, and the work is one step."""
        wish = f"That is not a plan that can be carried out: {problem}. Answer with the JSON of the plan, nothing else."
        try:
            repaired = await self._setup.again(job, log, job.key.of_repair(), wish)
            read_plan(repaired)
        except (AgentError, NoPlan):
            return said
        return repaired

    def _read(self, said: str) -> Plan:
        try:
            return read_plan(said)
        except NoPlan:
            return one_step(self._setup.request)

    def _planned(self, following: Sequence[Part]) -> Unfold:
        key = self._key("planner")

        def make(results: Results) -> Sequence[Stage]:
            planned = render_result(parse_result(results[key]))
            plan = self._read(planned)
            if len(plan.steps) == 1:
                return [self._in_one(plan, planned, following)]
            return [PlannedSteps(self._setup, self._key("coder"), plan, following).stage()]

        return Unfold(make, expected=1)

    def _in_one(self, plan: Plan, planned: str, following: Sequence[Part]) -> Step:
        """A plan of one step, or none: the request itself, with what the planner found out."""
        setup, key = self._setup, self._key("coder")

        async def act(results: Results) -> AgentResult:
            about = ROOM - PLAN if planned else ROOM
            return Answered(text=await setup.work(key, "coder", of_plan(plan, planned), about))

        def then(said: str) -> Sequence[Event]:
            return [handoff(setup.run, "coder", following, said)]

        return agent_step(key, plan.steps[0].title, act, then)

    def _review(self, following: Sequence[Part], sent_back: int = 0) -> list[Stage]:
        """A verdict that finds fault sends the worker back; what it mends is reviewed again."""
        setup, worker, review = self._setup, self._worker, self._part("reviewer")
        key = self._key("reviewer")
        key = key.of_part("again", sent_back) if sent_back else key

        def found(said: str) -> Verdict | None:
            verdict = read_verdict(said)
            return verdict if verdict and not verdict.passed and sent_back < MAX_SENT_BACK else None

        async def act(results: Results) -> AgentResult:
            try:
                told = [*so_far(results, setup.run), "Your part: review what was done."]
                return Answered(text=await self._verdict(key, told))
            except AgentError as error:
                if error.code not in CANNOT | ENDLESS:
                    raise
                return GaveUp(reason=error.message, began=error.code in ENDLESS)

        def then(said: str) -> Sequence[Event]:
            if verdict := found(said):
                count = len(verdict.issues) or "some"
                times = f"sent back {sent_back + 1} of {MAX_SENT_BACK}"
                reason = f"The review found {count} problem{'s' * (count != 1)} ({times})."
                remaining = [issue.render() for issue in verdict.issues] or [verdict.render()]
                return [handoff(setup.run, "reviewer", [Part(worker, each) for each in remaining], said, reason)]
            return [handoff(setup.run, "reviewer", following, said)] if following and said else []

        def make(results: Results) -> Sequence[Stage]:
            verdict = found(render_result(parse_result(results[key])))
            if verdict is None:
                return []
            mend = Part(worker, f"Mend what the review found ({sent_back + 1} of {MAX_SENT_BACK})")
            fix = self._key(worker).of_part("fix", sent_back + 1)
            step = self._step(fix, mend, (review, *following), to_mend(verdict))
            return [step, *self._review(following, sent_back + 1)]

        return [agent_step(key, review.task, act, then), Unfold(make)]

    async def _verdict(self, key: StepKey, told: Sequence[str]) -> str:
        """The reviewer's words. A verdict that cannot be read is asked for once more; prose stands for itself."""
        job, log = await self._setup.job(key, "reviewer", told)
        said = await run_agent(job, log)
        if read_verdict(said) is not None or not was_meant(said):
            return said
        wish = "That verdict cannot be read. Answer with its JSON, `passed` and `issues`, and nothing else."
        try:
            repaired = await self._setup.again(job, log, job.key.of_repair(), wish)
        except AgentError:
            return said
        return repaired if read_verdict(repaired) is not None else said


_BY_INTENT: dict[Intent, tuple[tuple[str, ...], Callable[[PipelineBuilder], Pipeline]]] = {
    "refactor_code": (("planner", "coder", "reviewer"), PipelineBuilder.refactor_code),
    "create_project": (("planner", "coder", "terminal", "reviewer", "docs"), PipelineBuilder.create_project),
}
