"""The planner's plan: steps with their files, what each one waits for, and how it is checked."""

import re
from collections.abc import Sequence
from typing import Any

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError, field_validator

from sidecar.agents.extraction import objects

_MOST = 30
_NUMBERED = re.compile(r"^\s*(?:step\s+)?(\d{1,2})[.):]\s+(.+)$", re.MULTILINE | re.IGNORECASE)


class NoPlan(Exception):
    """What was said is no plan; the message says why, for whoever said it."""


def _strings(value: Any) -> Any:
    if value is None:
        return []
    return [str(each) for each in value] if isinstance(value, list) else [str(value)] if value else []


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

    def told(self) -> str:
        parts = [f"{self.id}. {self.title}"]
        parts += [f"files: {', '.join(self.files)}"] if self.files else []
        parts += [f"done when: {'; '.join(self.checks)}"] if self.checks else []
        return " — ".join(parts)


class Plan(BaseModel):
    model_config = ConfigDict(frozen=True, defer_build=True)

    steps: list[PlannedStep]

    def told(self) -> str:
        return "\n".join(step.told() for step in self.steps)

    def waves(self, at_once: int = 4) -> list[list[PlannedStep]]:
        """What can be done at the same time, in order. Only steps that name their files, and other files, are."""
        waiting, done = list(self.steps), set[str]()
        waves: list[list[PlannedStep]] = []
        while waiting:
            wave: list[PlannedStep] = []
            touched: set[str] = set()
            for step in waiting:
                if not done.issuperset(step.after) or len(wave) == at_once:
                    continue
                if wave and (not step.files or not wave[0].files or touched & set(step.files)):
                    continue
                wave.append(step)
                touched.update(step.files)
            waves.append(wave)
            done.update(step.id for step in wave)
            waiting = [step for step in waiting if step not in wave]
        return waves


def read_plan(text: str) -> Plan:
    problem = "there is no JSON object with steps in it"
    for found in objects(text):
        steps = found.get("steps", found.get("plan"))
        if not isinstance(steps, list):
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
    _check_order(steps)
    return Plan(steps=steps)


def _check_order(steps: Sequence[PlannedStep]) -> None:
    waiting, done = list(steps), set[str]()
    while waiting:
        ready = [step for step in waiting if done.issuperset(step.after)]
        if not ready:
            raise NoPlan(f"steps wait for each other in a circle: {', '.join(step.id for step in waiting)}")
        done.update(step.id for step in ready)
        waiting = [step for step in waiting if step.id not in done]
