"""Plans before anything changes: the planner reads, you see the plan, and the other agents wait for your answer."""

from collections.abc import Sequence

from sidecar.engine.steps import GO_AHEAD, StepKey
from sidecar.wire.tasks import RouteAnswer
from sidecar.work.pipeline import Pipeline, Stage, Step, Unfold
from sidecar.work.plan import NoPlan, parse_plan
from sidecar.work.results import Results, parse_result, render_result
from sidecar.work.setup import AgentSetup
from sidecar.work.stages import PLANNER, build_planned
from tools.ledger import Question

YES, NO = "Go ahead", "Stop here"


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
