"""What one agent passes to the next, and the summary that you get in the end."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from sidecar.engine.steps import StepKey
from sidecar.wire.events import HandoffContext, HandoffEvent
from sidecar.work.context import PLAN_BYTES, cut
from sidecar.work.plan import Plan, PlannedStep
from sidecar.work.results import Results, agent_texts
from sidecar.work.roster import Agent
from sidecar.work.verdict import Verdict, parse_verdict
from tools.text import first_words

if TYPE_CHECKING:
    from sidecar.engine.run import TaskRun

#: Agents that plan and judge the work, but don't do it.
HELPERS = frozenset({"planner", "reviewer"})
#: Agents that do the work itself. The others help, and the task goes on without them if their model can't.
WORKERS = ("coder", "docs")
_MAX_REPORT = 4_000
_MARK_DONE = " If you do further steps along the way, mark them as done with `todo`; they aren't asked for again."
_DO_PLAN = "Now carry out the plan yourself. Change it where the code shows that it is wrong, and say so."


class Part(NamedTuple):
    """An agent's part in a task."""

    agent: str
    task: str


@dataclass(frozen=True, slots=True)
class Assignment:
    """An agent's part of the work, beside the request itself. A language model gets it as text."""

    instruction: str = ""
    plan: Plan | None = None
    #: The agent's step of the plan, if it has only one.
    step: PlannedStep | None = None
    planner_text: str = ""
    verdict: Verdict | None = None
    #: The agent goes on with work that it has begun, so it knows its part.
    again: bool = False
    #: Other agents worked on the task before.
    follows: bool = False

    def render(self, agent: Agent, shared: bool) -> str:
        """The agent's instructions for its part. If it is `shared`, it has read what was said before."""
        parts = [agent.part] if agent.part and not self.again else []
        if self.plan is not None and not shared:
            parts.append(self._render_plan(self.plan))
        if self.plan is not None and shared and self.step is None:
            parts.append(_DO_PLAN)
        if self.step is not None and self.plan is not None:
            several = len(self.plan.steps) > 1 and self.step is self.plan.order()[0]
            parts.append(_render_step(self.step) + (_MARK_DONE if several else ""))
        if self.verdict is not None:
            parts.append(f"A review of the change found problems. Fix them:\n{self.verdict.render()}")
        return "\n\n".join([*parts, self.instruction] if self.instruction else parts)

    def _render_plan(self, plan: Plan) -> str:
        is_detailed = plan.steps[0].checks or plan.steps[0].files
        return cut(f"The plan:\n{plan.render()}" if is_detailed else f"planner said:\n{self.planner_text}", PLAN_BYTES)


def _render_step(step: PlannedStep) -> str:
    done_when = f" It is done when: {'; '.join(step.checks)}." if step.checks else ""
    files = f" Files: {', '.join(step.files)}." if step.files else ""
    return cut(f"Now do step {step.id}: {step.title}.{files}{done_when}", PLAN_BYTES)


def worker_texts(results: Results) -> list[str]:
    """The answers of the agents that did the work, newest last."""
    return [text for key, text in agent_texts(results) if key.agent not in HELPERS]


def final_answers(results: Results) -> list[str]:
    """The same, without the answers that a later attempt of the same agent replaced."""
    last: dict[StepKey, str] = {}
    for key, text in agent_texts(results):
        if key.agent not in HELPERS:
            last.pop(worker := key.of_attempt(0), None)
            last[worker] = text
    return list(last.values())


def handoff(
    run: "TaskRun", giver: str, following: Sequence[Part], text: str, reason: str | None = None
) -> HandoffEvent:
    """To the next agent; the remaining tasks are those of all that follow."""
    taker = following[0].agent
    context = HandoffContext(
        files_modified=run.state.files_modified(),
        current_state=first_words(text, _MAX_REPORT),
        remaining_tasks=[part.task for part in following],
    )
    because = reason or f"The {giver} is done; the {taker} goes on."
    return HandoffEvent(from_=giver, to=taker, context=context, reason=because)


def summarize(results: Results) -> str:
    """The last answer; if that is a review, after the answers of the agents that did the work."""
    texts = agent_texts(results)
    if not texts:
        return ""
    key, last = texts[-1]
    if key.agent == "reviewer":
        verdict = parse_verdict(last)
        return "\n\n".join([*_work_reports(results), verdict.render() if verdict else last])
    verdicts = [verdict for each, text in texts if each.agent == "reviewer" and (verdict := parse_verdict(text))]
    if verdicts and not verdicts[-1].passed:
        return f"{last}\n\nThe review still finds problems:\n{verdicts[-1].render()}"
    return last


def _work_reports(results: Results) -> list[str]:
    """The last worker's answer, or those of all planned steps."""
    texts = [(key, text) for key, text in agent_texts(results) if key.agent in ("coder", "docs", "terminal")]
    if not texts or not texts[-1][0].is_planned:
        return [text for _, text in texts[-1:]]
    return [text for key, text in texts if key.is_planned]
