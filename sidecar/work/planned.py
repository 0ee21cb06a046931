"""The work that a planner has laid out: one coder for each step, and one handing over for all of them."""

from collections.abc import Sequence

from sidecar.engine.pipeline import Parallel, Results, Step
from sidecar.engine.steps import PLANNED, StepKey
from sidecar.wire.events import Event
from sidecar.work.context import PLAN, ROOM
from sidecar.work.handover import Part, handoff, so_far, step_of
from sidecar.work.plan import Plan, PlannedStep
from sidecar.work.results import AgentResult, Answered, agent_step, parse_result, render_result
from sidecar.work.setup import AgentSetup


class PlannedSteps:
    """The steps of one plan. Whoever is the last of them to be done hands over, for all of them."""

    def __init__(self, setup: AgentSetup, key: StepKey, plan: Plan, following: Sequence[Part]) -> None:
        self._setup = setup
        self._plan = plan
        self._following = following
        self._keys = {step.id: key.of_part(PLANNED, number) for number, step in enumerate(plan.steps, start=1)}
        steps = setup.run.state.steps
        self._said = {step: render_result(parse_result(steps[key])) for step, key in self._keys.items() if key in steps}

    def stage(self) -> Parallel:
        """Those that do not depend on each other at the same time."""
        after = {self._keys[step]: [self._keys[each] for each in others] for step, others in self._plan.waits().items()}
        return Parallel(tuple(self._step(step) for step in self._plan.order()), after)

    def _step(self, step: PlannedStep) -> Step:
        setup, key = self._setup, self._keys[step.id]

        async def act(results: Results) -> AgentResult:
            earlier = {self._keys[other]: results[self._keys[other]] for other in step.after}
            told = [*step_of(self._plan, step), *so_far(earlier, setup.run)]
            files = [each.files for each in self._plan.steps]
            return Answered(text=await setup.work(key, "coder", told, ROOM - PLAN, files))

        def then(said: str) -> Sequence[Event]:
            self._said[step.id] = said
            if not self._following or len(self._said) < len(self._keys):
                return []
            state = "\n".join(f"{each.title}: {self._said[each.id]}" for each in self._plan.steps)
            return [handoff(setup.run, "coder", self._following, state)]

        return agent_step(key, step.title, act, then)
