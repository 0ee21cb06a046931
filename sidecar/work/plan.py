"""The planner's plan: steps with their files, what each one waits for, and how it is checked."""

import re
from collections.abc import Sequence
from pathlib import PurePosixPath
from posixpath import normpath
from typing import Any

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError, field_validator

from sidecar.work.extraction import values

_MOST = 30
_PATTERN = re.compile(r"[*?]")
_NUMBERED = re.compile(r"^\s*(?:step\s+)?(\d{1,2})[.):]\s+(.+)$", re.MULTILINE | re.IGNORECASE)


class NoPlan(Exception):
    """What was said is no plan; the message says why, for whoever said it."""


def _strings(value: Any) -> Any:
    if value is None:
        return []
    return [str(each) for each in value] if isinstance(value, list) else [str(value)] if value else []


def _place(file: str) -> tuple[str, ...]:
    """The parts of a path; a pattern stands for the folder that it is in."""
    parts = PurePosixPath(normpath(file.strip())).parts
    pattern = next((number for number, part in enumerate(parts) if _PATTERN.search(part)), len(parts))
    return parts[:pattern]


class PlannedStep(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, defer_build=True)

    id: str = ""
    title: str = Field(validation_alias=AliasChoices("title", "description", "task", "name", "step"), min_length=1)
    files: list[str] = []
    after: list[str] = Field([], validation_alias=AliasChoices("after", "dependencies", "dependsOn", "depends_on"))
    checks: list[str] = Field([], validation_alias=AliasChoices("checks", "check", "acceptance", "acceptanceChecks"))

    _lists = field_validator("files", "after", "checks", mode="before")(_strings)

    @field_validator("id", mode="before")
    @classmethod
    def _id(cls, value: Any) -> str:
        return str(value)

    def is_apart_from(self, other: "PlannedStep") -> bool:
        """Whether both name their files, and none of the one lies in one of the other."""
        ours, theirs = (tuple(map(_place, step.files)) for step in (self, other))
        return bool(ours and theirs) and not any(
            one[: len(another)] == another[: len(one)] for one in ours for another in theirs
        )

    def render(self) -> str:
        parts = [f"{self.id}. {self.title}"]
        parts += [f"files: {', '.join(self.files)}"] if self.files else []
        parts += [f"done when: {'; '.join(self.checks)}"] if self.checks else []
        return " — ".join(parts)


class Plan(BaseModel):
    model_config = ConfigDict(frozen=True, defer_build=True)

    steps: list[PlannedStep]

    def render(self) -> str:
        return "\n".join(step.render() for step in self.steps)

    def order(self) -> list[PlannedStep]:
        """As it is written, but none before those that it waits for."""
        ordered: list[PlannedStep] = []
        waiting, done = list(self.steps), set[str]()
        while waiting:
            step = next((step for step in waiting if done.issuperset(step.after)), None)
            if step is None:
                raise NoPlan(f"steps wait for each other in a circle: {', '.join(step.id for step in waiting)}")
            ordered.append(step)
            done.add(step.id)
            waiting.remove(step)
        return ordered

    def waits(self) -> dict[str, frozenset[str]]:
        """For each step those that are done before it begins: what it builds on, and whatever is before it in the order
        and may touch the same files. All others may be done at the same time."""
        order = self.order()
        return {
            step.id: frozenset(step.after) | {other.id for other in order[:place] if not step.is_apart_from(other)}
            for place, step in enumerate(order)
        }


def read_plan(text: str) -> Plan:
    problem = "there is no JSON object with steps in it"
    for found in values(text):
        steps = _steps_in(found)
        if steps is None:
            continue
        try:
            return _checked(steps)
        except NoPlan as error:
            problem = str(error)
    listed = [(number, title.strip()) for number, title in _NUMBERED.findall(text)]
    if len(listed) > 1 and [int(number) for number, _ in listed] == list(range(1, len(listed) + 1)):
        # Prose with numbers says an order, and nothing about what may be done at the same time.
        earlier = ["", *(number for number, _ in listed)]
        return _checked(
            [
                {"id": number, "title": title, "after": before}
                for (number, title), before in zip(listed, earlier, strict=False)
            ]
        )
    raise NoPlan(problem)


def _steps_in(found: Any) -> list[Any] | None:
    """The list of steps, with or without something around it. A list by itself may be of anything."""
    if isinstance(found, list):
        return found if found and all(isinstance(each, dict) and "title" in each for each in found) else None
    inner = found.get("plan", found)
    steps = inner.get("steps") if isinstance(inner, dict) else inner
    return steps if isinstance(steps, list) else None


def one_step(request: str) -> Plan:
    """What is done where there is no plan."""
    return Plan(steps=[PlannedStep(id="1", title=" ".join(request.split())[:120] or "Do what was asked")])


def _checked(given: Sequence[Any]) -> Plan:
    if not given:
        raise NoPlan("it has no steps")
    if len(given) > _MOST:
        raise NoPlan(f"it has {len(given)} steps; at most {_MOST} are carried out")
    steps: list[PlannedStep] = []
    for number, each in enumerate(given, start=1):
        entry = {"title": each} if isinstance(each, str) else each
        try:
            step = PlannedStep.model_validate(entry)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"]))
            raise NoPlan(f"step {number} is not usable: {where}: {first['msg']}") from error
        steps.append(step if step.id else step.model_copy(update={"id": str(number)}))
    ids = [step.id for step in steps]
    if len(set(ids)) < len(ids):
        raise NoPlan("two steps have the same id")
    for step in steps:
        if unknown := [other for other in step.after if other not in ids]:
            raise NoPlan(f"step {step.id} waits for {unknown[0]}, which is no step")
    plan = Plan(steps=steps)
    plan.order()
    return plan
