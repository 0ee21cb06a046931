"""What one agent tells the next, and what the person is told in the end."""

from collections.abc import Sequence
from typing import NamedTuple

from sidecar.engine.pipeline import Results
from sidecar.engine.run import TaskRun
from sidecar.wire.events import HandoffContext, HandoffEvent
from sidecar.work.context import PLAN, cut, size
from sidecar.work.plan import Plan, PlannedStep
from sidecar.work.results import agent_texts
from sidecar.work.verdict import Verdict, read_verdict

#: They plan and judge the work; they do not do it.
HELPERS = frozenset({"planner", "reviewer"})
_STATE = 4_000


class Part(NamedTuple):
    """Somebody's part in a task."""

    agent: str
    task: str


def handoff(run: TaskRun, giver: str, following: Sequence[Part], said: str, reason: str | None = None) -> HandoffEvent:
    """To whoever is the next; what remains are the parts of all who follow."""
    taker = following[0].agent
    context = HandoffContext(
        files_modified=run.state.files_modified(),
        current_state=said[:_STATE],
        remaining_tasks=[part.task for part in following],
    )
    because = reason or f"The {giver} is done; the {taker} goes on."
    return HandoffEvent(from_=giver, to=taker, context=context, reason=because)


def so_far(results: Results, run: TaskRun) -> list[str]:
    """What the earlier steps said, the newest ones whole, and which files they changed."""
    said = [f"{key.agent} said:\n{text[:_STATE]}" for key, text in agent_texts(results)]
    if not said:
        return []
    files = run.state.files_modified()
    changed = [f"Files changed so far: {', '.join(files)}"] if files else []
    return ["What was done so far:", *said[-6:], *changed]


def of_plan(plan: Plan, said: str) -> list[str]:
    """What the worker is told whose part is the whole plan, or who has none, but the planner's words."""
    told = f"The plan:\n{plan.render()}" if plan.steps[0].checks or plan.steps[0].files else f"planner said:\n{said}"
    return [cut(told, PLAN)] if said else []


def step_of(plan: Plan, step: PlannedStep) -> list[str]:
    """What a worker is told of the plan: its own part first of all, and of the others what there is room for."""
    done_when = f" It is done when: {'; '.join(step.checks)}." if step.checks else ""
    files = f" Files: {', '.join(step.files)}." if step.files else ""
    part = cut(f"Your part is step {step.id}: {step.title}.{files}{done_when}", PLAN // 2)
    rules = "Do only that; the other steps are done by others, perhaps at this moment, who hear the person as you do."
    left = PLAN - size(part) - size(rules) - size("The plan:\n\n")
    whole = plan.render()
    if size(whole) > left:
        whole = cut("\n".join(f"{each.id}. {each.title}" for each in plan.steps), left)
    return [f"The plan:\n{whole}", f"{part} {rules}"]


def to_mend(verdict: Verdict) -> list[str]:
    return [f"A review of your work found problems. Mend them, and nothing else:\n{verdict.render()}"]


def words_of(results: Results) -> list[str]:
    """What those who did the work said last, the newest at the end."""
    return [text for key, text in agent_texts(results) if key.agent not in HELPERS]


def summary(results: Results) -> str:
    """The last word; a review, whose verdict is put into words, beside those of the agent that it is about."""
    said = agent_texts(results)
    if not said:
        return ""
    key, last = said[-1]
    verdicts = [verdict for each, text in said if each.agent == "reviewer" and (verdict := read_verdict(text))]
    if key.agent == "reviewer":
        verdict = read_verdict(last)
        return "\n\n".join([*_worked(results), verdict.render() if verdict else last])
    if verdicts and not verdicts[-1].passed:
        return f"{last}\n\nThe review still finds fault:\n{verdicts[-1].render()}"
    return last


def _worked(results: Results) -> list[str]:
    """What was said of the work: by whoever worked last, or by all who did a part of the plan."""
    said = [(key, text) for key, text in agent_texts(results) if key.agent in ("coder", "docs", "terminal")]
    if not said or not said[-1][0].is_planned:
        return [text for _, text in said[-1:]]
    return [text for key, text in said if key.is_planned]
