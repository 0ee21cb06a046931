"""The steps of each kind of task. A step's key is its name for good: a resumed task goes on after the last one done."""

from collections.abc import Callable, Sequence

from sidecar.agents.errors import AgentError
from sidecar.agents.loop import Job, work
from sidecar.agents.plan import NoPlan, Plan, PlannedStep, one_step, read_plan
from sidecar.agents.verdict import Verdict, read_verdict
from sidecar.engine.pipeline import Parallel, Pipeline, Stage, Step, Unfold
from sidecar.engine.workflow.books import AgentBooks
from sidecar.engine.workflow.desk import CANNOT, ENDLESS, Desk
from sidecar.engine.workflow.handover import handoff, so_far, step_of, to_mend, unfinished
from sidecar.wire.events import Event
from sidecar.wire.tasks import Intent, RouteAnswer

#: How often a reviewer may send the work back.
SENT_BACK = 2
#: Who does the work itself; the others help, and a model that cannot help is done without.
_WORKERS = ("coder", "docs")

Told = Callable[[dict[str, str]], Sequence[str]]


def stages(desk: Desk, chosen: RouteAnswer) -> Pipeline:
    names = tuple(chosen.pipeline)
    make = _BY_INTENT.get(chosen.intent)
    if make is not None and names == make[0]:
        return make[1](Stages(desk, names))
    return Stages(desk, names).one_after_the_other()


class Stages:
    def __init__(self, desk: Desk, names: tuple[str, ...]) -> None:
        self._desk = desk
        self._names = names
        workers = [name for name in names if name in _WORKERS]
        self._worker = workers[0] if workers else names[0]

    # -- the kinds of task -------------------------------------------------------------------------------------------

    def one_after_the_other(self) -> Pipeline:
        steps: list[Stage] = []
        for place, name in enumerate(self._names):
            following = self._names[place + 1 :]
            if name == "reviewer" and place and self._names[place - 1] in _WORKERS:
                steps += self._review(following)
            else:
                steps.append(self._step(self._key(name), name, following))
        return steps

    def refactor_code(self) -> Pipeline:
        return [self._plan(), self._planned(), *self._review(())]

    def create_project(self) -> Pipeline:
        """Plan the structure, create the files, install, configure, test, review, document."""
        terminal, coder = self._key("terminal"), self._key("coder")
        install = ["Your part: install what the project needs, in the workspace only. If it needs nothing, say so."]
        configure = ["Your part: look at what was created and installed, and put right what keeps it from running."]
        test = ["Your part: run the project's tests, or start it if it has none, and say what works and what does not."]
        return [
            self._plan(),
            self._planned(),
            self._step(terminal, "terminal", ("coder", "terminal", "reviewer", "docs"), "Install", install),
            self._step(f"{coder}.configure", "coder", ("terminal", "reviewer", "docs"), "Configure", configure),
            self._step(f"{terminal}.test", "terminal", ("reviewer", "docs"), "Test", test),
            *self._review(("docs",)),
            self._step(self._key("docs"), "docs", (), "Document"),
        ]

    # -- the steps ---------------------------------------------------------------------------------------------------

    def _key(self, name: str) -> str:
        return f"{self._desk.prefix}.{self._names.index(name) + 1}-{name}"

    def _step(self, key: str, name: str, following: Sequence[str], message: str = "", told: Sequence[str] = ()) -> Step:
        desk = self._desk
        needed = key == self._key(self._worker)

        async def act(results: dict[str, str]) -> str:
            try:
                return await desk.work(key, name, [*so_far(results, desk.run), *told])
            except AgentError as error:
                if needed or error.code not in CANNOT:
                    raise
                return ""

        def then(said: str) -> Sequence[Event]:
            return [handoff(desk.run, name, following[0], said, following)] if following and said else []

        return Step(key, name, message or desk.agent(name).description, act, then)

    def _plan(self) -> Step:
        desk, key = self._desk, self._key("planner")

        async def act(results: dict[str, str]) -> str:
            try:
                job, books = await desk.job(key, "planner")
                said = await work(job, books)
            except AgentError as error:
                if error.code not in CANNOT:
                    raise
                return ""
            try:
                read_plan(said)
            except NoPlan as problem:
                return await self._repaired(said, problem, job, books)
            return said

        def then(said: str) -> Sequence[Event]:
            if not said:
                return []
            plan = self._read(said)
            return [handoff(desk.run, "planner", "coder", said, [step.title for step in plan.steps])]

        return Step(key, "planner", "Plan the steps", act, then)

    async def _repaired(self, said: str, problem: NoPlan, job: Job, books: AgentBooks) -> str:
        """One more try at a plan. If that is none either, the planner's words are kept, and the work is one step."""
        wish = f"That is not a plan that can be carried out: {problem}. Answer with the JSON of the plan, nothing else."
        try:
            repaired = await self._desk.again(job, books, "repair", wish)
            read_plan(repaired)
        except (AgentError, NoPlan):
            return said
        return repaired

    def _read(self, said: str) -> Plan:
        try:
            return read_plan(said)
        except NoPlan:
            return one_step(self._desk.request)

    def _planned(self) -> Unfold:
        """The plan's steps, those that do not depend on each other at the same time."""
        key = self._key("planner")
        following = self._names[self._names.index("coder") + 1 :]

        def make(results: dict[str, str]) -> Sequence[Stage]:
            plan = self._read(results[key])
            if len(plan.steps) == 1:
                return [self._step(self._key("coder"), "coder", following, plan.steps[0].title)]
            waves = plan.waves()
            last = waves[-1][-1]
            return [
                _together([self._planned_step(plan, step, following if step is last else ()) for step in wave])
                for wave in waves
            ]

        return Unfold(make, expected=1)

    def _planned_step(self, plan: Plan, step: PlannedStep, following: Sequence[str]) -> Step:
        desk = self._desk
        keys = {each.id: f"{self._key('coder')}.s{number}" for number, each in enumerate(plan.steps, start=1)}
        key = keys[step.id]

        async def act(results: dict[str, str]) -> str:
            earlier = {keys[other]: results[keys[other]] for other in step.after}
            return await desk.work(key, "coder", [*step_of(plan, step), *so_far(earlier, desk.run)])

        def then(said: str) -> Sequence[Event]:
            return [handoff(desk.run, "coder", following[0], said, following)] if following else []

        return Step(key, "coder", step.title, act, then)

    def _review(self, following: Sequence[str], sent_back: int = 0) -> list[Stage]:
        """A verdict that finds fault sends the worker back; what it mends is reviewed again."""
        desk, worker, part = self._desk, self._worker, "Your part: review what was done."
        key = f"{self._key('reviewer')}.again{sent_back}" if sent_back else self._key("reviewer")

        def found(said: str) -> Verdict | None:
            verdict = read_verdict(said)
            return verdict if verdict and not verdict.passed and sent_back < SENT_BACK else None

        async def act(results: dict[str, str]) -> str:
            try:
                return await desk.work(key, "reviewer", [*so_far(results, desk.run), part])
            except AgentError as error:
                if error.code in ENDLESS:
                    return unfinished(error.message)
                if error.code not in CANNOT:
                    raise
                return ""

        def then(said: str) -> Sequence[Event]:
            if verdict := found(said):
                count = len(verdict.issues) or "some"
                reason = f"The review found {count} problems (sent back {sent_back + 1} of {SENT_BACK})."
                remaining = [issue.told() for issue in verdict.issues] or [verdict.told()]
                return [handoff(desk.run, "reviewer", worker, said, remaining, reason)]
            return [handoff(desk.run, "reviewer", following[0], said, following)] if following and said else []

        def make(results: dict[str, str]) -> Sequence[Stage]:
            verdict = found(results[key])
            if verdict is None:
                return []
            mend = f"Mend what the review found ({sent_back + 1} of {SENT_BACK})"
            fix = f"{self._key(worker)}.fix{sent_back + 1}"
            step = self._step(fix, worker, ("reviewer", *following), mend, to_mend(verdict))
            return [step, *self._review(following, sent_back + 1)]

        return [Step(key, "reviewer", desk.agent("reviewer").description, act, then), Unfold(make)]


def _together(steps: Sequence[Step]) -> Stage:
    return steps[0] if len(steps) == 1 else Parallel(tuple(steps))


_BY_INTENT: dict[Intent, tuple[tuple[str, ...], Callable[[Stages], Pipeline]]] = {
    "refactor_code": (("planner", "coder", "reviewer"), Stages.refactor_code),
    "create_project": (("planner", "coder", "terminal", "reviewer", "docs"), Stages.create_project),
}
