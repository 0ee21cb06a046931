"""A planner's steps as parts that may be worked on at the same time."""

from sidecar.fleet.crew.plan import CrewPlan, Part
from sidecar.work.plan import Plan

_TITLE = 120
_TEXT = 8_000


def as_parts(plan: Plan) -> CrewPlan:
    """Each for a coder; a step that may touch the files of an earlier one comes after it."""
    names = {step.id: f"s{number}" for number, step in enumerate(plan.steps, start=1)}
    waits = plan.waits()
    return CrewPlan(
        parts=[
            Part(
                id=names[step.id],
                title=step.title[:_TITLE],
                owner="coder",
                instructions=f"Do this step of a plan: {step.render()}"[:_TEXT],
                files=step.files[:50] or ["."],
                after=sorted(names[each] for each in waits[step.id]),
            )
            for step in plan.order()
        ]
    )
