"""The strategist proposes a plan, and the architect reviews it. Both answer with data, and each answer is a step."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeVar

from sidecar.engine.errors import AgentError, Escalated, StepFailed
from sidecar.engine.steps import ESCALATION, StepKey
from sidecar.fleet.crew.plan import PROPOSE, REVIEW, BadAnswer, CrewPlan, PlanReview, parse_plan, parse_review
from sidecar.models.port import ToolReturn, ToolUse
from sidecar.wire.base import JsonObject
from sidecar.wire.events import Event, PlanEvent, PlanItem, VerdictEvent, VerdictIssue
from sidecar.wire.text import plural
from sidecar.work.handover import Assignment
from sidecar.work.loop import Job, run_agent
from sidecar.work.pipeline import Stage, Step, Unfold, run_pipeline
from sidecar.work.results import Results
from sidecar.work.roster import READ, Agent
from sidecar.work.setup import AgentSetup
from sidecar.work.turn_log import TaskTurnLog
from tools.spec import ToolSpec

STRATEGIST, ARCHITECT = "strategist", "architect"
#: How often the architect may send a plan back before the crew needs you.
MAX_SENT_BACK = 2

T = TypeVar("T")


async def make_plan(setup: AgentSetup, owners: Mapping[str, Agent]) -> CrewPlan:
    if setup.is_deterministic(STRATEGIST):
        message = (
            "A crew needs a language model for its strategist, and none is configured. Nothing was changed; configure "
            "one (see `brain models`) and resume, or give the task to `brain run`."
        )
        raise StepFailed("no_model", message, recoverable=True)
    planning = _Planning(setup, owners)
    results = await run_pipeline(planning.stages(0, ()), setup.run)
    proposed = [body for key, body in results.items() if key.agent == STRATEGIST]
    return CrewPlan.model_validate_json(proposed[-1])


class _Planning:
    def __init__(self, setup: AgentSetup, owners: Mapping[str, Agent]) -> None:
        self._setup = setup
        self._owners = owners

    def stages(self, number: int, issues: Sequence[str]) -> list[Stage]:
        """The proposal and the review after so many that weren't approved, for these reasons."""
        proposal, review = self._key(STRATEGIST, 1, number), self._key(ARCHITECT, 2, number)

        async def propose(results: Results) -> str:
            job, log = await self._setup.job(proposal, Assignment(instruction=self._instruction(issues), again=True))
            return (await ask(job, log, PROPOSE, partial(parse_plan, owners=self._owners))).to_json()

        async def judge(results: Results) -> str:
            plan = CrewPlan.model_validate_json(results[proposal])
            text = f"The goal:\n{self._setup.request}\n\nThe plan:\n{plan.render()}"
            job, log = self._setup.job_apart(review, "", text, READ)
            return (await ask(job, log, REVIEW, parse_review)).to_json()

        def following(results: Results) -> Sequence[Stage]:
            found = PlanReview.model_validate_json(results[review])
            if found.approved:
                return []
            if (number + 1) % (MAX_SENT_BACK + 1) == 0:
                self._escalate(number + 1, found.issues)
            return self.stages(number + 1, found.issues)

        return [
            Step(proposal, STRATEGIST, "Plan the parts", propose, _show_plan),
            Step(review, ARCHITECT, "Review the plan", judge, _show_review),
            Unfold(following),
        ]

    def _key(self, agent: str, place: int, number: int) -> StepKey:
        key = StepKey(self._setup.round, agent, place)
        return key.of_part("again", number) if number else key

    def _instruction(self, issues: Sequence[str]) -> str:
        if issues:
            listed = "\n".join(f"- {issue}" for issue in issues)
            return f"The architect did not approve the plan:\n{listed}\nPropose a plan that resolves this."
        specialists = "\n".join(f"- {agent.name}: {agent.description}" for agent in self._owners.values())
        return f"The specialists:\n{specialists}"

    def _escalate(self, proposals: int, issues: Sequence[str]) -> None:
        """Unless you resumed the task since: then both try again."""
        key = StepKey(self._setup.round, ESCALATION, number=proposals)
        if key not in self._setup.run.state.escalations:
            reason = f"The architect approved none of {plural(proposals, 'plan')}. {issues[0]}"
            suggestions = [
                "Say in a message how to resolve it, and resume.",
                "Split the goal, and start with one part.",
            ]
            raise Escalated(key, reason, attempts=proposals, suggestions=suggestions)


def _show_plan(body: str) -> list[Event]:
    parts = CrewPlan.model_validate_json(body).parts
    items = [PlanItem(id=part.id, title=part.title, state="pending", agent=part.owner) for part in parts]
    return [PlanEvent(items=items)]


def _show_review(body: str) -> list[Event]:
    review = PlanReview.model_validate_json(body)
    issues = [VerdictIssue(severity="hint" if review.approved else "error", text=each) for each in review.issues]
    return [VerdictEvent(approved=review.approved, issues=issues)]


class _Answered(Exception):
    """Ends the agent's work; its answer is kept."""


async def ask(job: Job, log: TaskTurnLog, tool: ToolSpec, parse: Callable[[JsonObject], T]) -> T:
    """The arguments of the first call of `tool` that `parse` takes. What `parse` refuses, the agent reads."""
    job = replace(job, tools=[*job.tools, tool.offer()])
    job.selection.offer(tool.offer())
    given: list[T] = []

    async def answer(turn: StepKey, number: int, call: ToolUse) -> ToolReturn:
        try:
            given.append(parse(call.args))
        except BadAnswer as problem:
            said = f"That can't be used: {call.problem or problem}. Call {tool.name} again."
            return ToolReturn(id=call.id, tool=call.tool, status="error", content=said, code="invalid_arguments")
        raise _Answered

    log.answers[tool.name] = answer
    try:
        await run_agent(job, log)
        job.instruct(f"Answer by calling {tool.name}, and only by that.")
        await run_agent(job, log, job.key.of_repair())
    except _Answered:
        return given[0]
    message = f"The {job.agent.name} answered in prose, twice, instead of calling {tool.name}. Choose another model."
    raise AgentError("no_answer", message, retry=False)
