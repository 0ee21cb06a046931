"""A crew's plan, as data: the strategist proposes it with a tool, and code checks it."""

from collections.abc import Collection
from posixpath import isabs, normpath
from typing import Annotated, TypeVar

from pydantic import Field, ValidationError

from sidecar.wire.base import JsonObject
from sidecar.wire.tasks import AgentName
from sidecar.work.plan import Plan, overlap
from tools.spec import Arguments, ToolSpec
from tools.text import first_words

T = TypeVar("T", bound=Arguments)
MAX_PARTS = 12
Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,31}$")]

_TITLE = 120
_TEXT = 8_000


class BadAnswer(Exception):
    """An agent's answer can't be used; the message tells it why."""


class Part(Arguments):
    """One part of the goal, for one specialist."""

    id: Annotated[Name, Field(description="Short and unique: letters, digits, - and _.")]
    title: Annotated[str, Field(min_length=1, max_length=120)]
    owner: Annotated[AgentName, Field(description="The specialist who does it.")]
    instructions: Annotated[str, Field(min_length=1, max_length=8_000, description="All the owner needs to know.")]
    files: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=400)]],
        Field(min_length=1, max_length=50, description="Files or folders it changes; no other part at the same time."),
    ]
    after: Annotated[list[Name], Field(max_length=MAX_PARTS, description="Parts that must be merged before.")] = []
    checks: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=500)]],
        Field(max_length=10, description="Commands that exit with 0 once the part is done."),
    ] = []

    def paths(self) -> tuple[str, ...]:
        return ()


class CrewPlan(Arguments):
    parts: Annotated[list[Part], Field(min_length=1, max_length=MAX_PARTS)]

    def paths(self) -> tuple[str, ...]:
        return ()

    def before(self, part: Part) -> set[str]:
        """The parts that are merged before this one begins, also those that its own predecessors wait for."""
        by_id = {each.id: each for each in self.parts}
        found: set[str] = set()
        waiting = list(part.after)
        while waiting:
            name = waiting.pop()
            if name not in found:
                found.add(name)
                waiting += by_id[name].after
        return found

    def render(self) -> str:
        lines = []
        for part in self.parts:
            after = f"; after {', '.join(part.after)}" if part.after else ""
            checks = f"\n  checks: {'; '.join(part.checks)}" if part.checks else ""
            lines.append(f"- {part.id} ({part.owner}{after}): {part.title}\n  files: {', '.join(part.files)}{checks}")
            lines.append(f"  {first_words(' '.join(part.instructions.split()), 600)}")
        return "\n".join(lines)


PROPOSE = ToolSpec(
    name="propose_plan",
    description="Propose the plan: parts of the goal, each for one specialist. Call it alone; that ends your work.",
    arguments=CrewPlan,
)


class PlanReview(Arguments):
    approved: bool
    issues: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=1_000)]],
        Field(max_length=20, description="What must change before the plan can be carried out."),
    ] = []

    def paths(self) -> tuple[str, ...]:
        return ()


REVIEW = ToolSpec(
    name="review_plan",
    description="Approve the plan, or say what must change. Call it alone; that ends your work.",
    arguments=PlanReview,
)


def parse_plan(args: JsonObject, owners: Collection[str]) -> CrewPlan:
    """Raises `BadAnswer` for a plan that can't be carried out."""
    plan = _parse(CrewPlan, args)
    ids = [part.id for part in plan.parts]
    if len(set(ids)) < len(ids):
        raise BadAnswer("two parts have the same id")
    for part in plan.parts:
        if part.owner not in owners:
            raise BadAnswer(f"there is no specialist {part.owner}, only {', '.join(sorted(owners))}")
        if unknown := [each for each in part.after if each not in ids]:
            raise BadAnswer(f"part {part.id} waits for {unknown[0]}, which is not a part")
        if outside := [file for file in part.files if isabs(file) or normpath(file).split("/")[0] == ".."]:
            raise BadAnswer(f"{outside[0]} of part {part.id} is not a path in the workspace")
    before = {part.id: plan.before(part) for part in plan.parts}
    if circle := [name for name in ids if name in before[name]]:
        raise BadAnswer(f"parts wait for each other in a circle: {', '.join(circle)}")
    for place, part in enumerate(plan.parts):
        for other in plan.parts[place + 1 :]:
            together = part.id not in before[other.id] and other.id not in before[part.id]
            if together and overlap(part.files, other.files):
                raise BadAnswer(
                    f"parts {part.id} and {other.id} may change the same files at the same time: give each its own "
                    "files, or let one come after the other"
                )
    return plan


def parse_review(args: JsonObject) -> PlanReview:
    review = _parse(PlanReview, args)
    if not review.approved and not review.issues:
        raise BadAnswer("a plan that isn't approved needs at least one issue")
    return review


def _parse(kind: type[T], args: JsonObject) -> T:
    try:
        return kind.model_validate(args)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise BadAnswer(f"{where}: {first['msg']}") from error


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
